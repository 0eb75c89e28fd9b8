"""Names that programs take from inside tf.contrib.layers' feature_column module, to ask what kind of column they have."""

from everflow.contrib.layers.embedding_columns import EmbeddingColumn as _EmbeddingColumn
from everflow.contrib.layers.embedding_columns import OneHotColumn as _OneHotColumn
from everflow.contrib.layers.embedding_columns import ScatteredEmbeddingColumn as _ScatteredEmbeddingColumn
from everflow.contrib.layers.feature_columns import BucketizedColumn as _BucketizedColumn
from everflow.contrib.layers.feature_columns import DataFrameColumn
from everflow.contrib.layers.feature_columns import OldColumn as _FeatureColumn
from everflow.contrib.layers.feature_columns import RealValuedColumn as _RealValuedColumn
from everflow.contrib.layers.sparse_columns import CrossedColumn as _CrossedColumn
from everflow.contrib.layers.sparse_columns import SparseColumn as _SparseColumn
from everflow.contrib.layers.sparse_columns import WeightedSparseColumn as _WeightedSparseColumn

__all__ = [
    "DataFrameColumn",
    "_BucketizedColumn",
    "_CrossedColumn",
    "_EmbeddingColumn",
    "_FeatureColumn",
    "_OneHotColumn",
    "_RealValuedColumn",
    "_ScatteredEmbeddingColumn",
    "_SparseColumn",
    "_WeightedSparseColumn",
]
