"""Names that programs take from inside tf.contrib.layers: from its feature_column module, to ask what kind of column
they have, and from that of its layers.
"""

from everflow.contrib.layers.embedding_columns import EmbeddingColumn as _EmbeddingColumn
from everflow.contrib.layers.embedding_columns import OneHotColumn as _OneHotColumn
from everflow.contrib.layers.embedding_columns import ScatteredEmbeddingColumn as _ScatteredEmbeddingColumn
from everflow.contrib.layers.feature_columns import BucketizedColumn as _BucketizedColumn
from everflow.contrib.layers.feature_columns import DataFrameColumn
from everflow.contrib.layers.feature_columns import OldColumn as _FeatureColumn
from everflow.contrib.layers.feature_columns import RealValuedColumn as _RealValuedColumn
from everflow.contrib.layers.model_variables import model_variable_getter as _build_variable_getter
from everflow.contrib.layers.sparse_columns import CrossedColumn as _CrossedColumn
from everflow.contrib.layers.sparse_columns import SparseColumn as _SparseColumn
from everflow.contrib.layers.sparse_columns import WeightedSparseColumn as _WeightedSparseColumn
from everflow.framework.scopes import add_to_collection
from everflow.ops.variables.partitioned import PartitionedVariable

__all__ = [
    "DataFrameColumn",
    "_add_variable_to_collections",
    "_build_variable_getter",
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


def _add_variable_to_collections(variable, collections_set, collections_name):
    """Put a variable into collections: their names, or a dict that has them by what kind of variable it is."""
    if isinstance(collections_set, dict):
        collections_set = collections_set.get(collections_name)
    names = [collections_set] if isinstance(collections_set, str) else collections_set or ()
    for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
        for name in dict.fromkeys(names):
            add_to_collection(name, part)
