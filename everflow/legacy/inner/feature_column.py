"""Names that programs take from inside TensorFlow's feature_column modules, mostly to ask what kind of column they
have.
"""

from everflow.feature_column.cache import FeatureTransformationCache as _LazyBuilder
from everflow.feature_column.categorical import HashedCategoricalColumn as _HashedCategoricalColumn
from everflow.feature_column.categorical import IdentityCategoricalColumn as _IdentityCategoricalColumn
from everflow.feature_column.categorical import VocabularyFileCategoricalColumn as _VocabularyFileCategoricalColumn
from everflow.feature_column.categorical import VocabularyListCategoricalColumn as _VocabularyListCategoricalColumn
from everflow.feature_column.categorical import WeightedCategoricalColumn as _WeightedCategoricalColumn
from everflow.feature_column.columns import CategoricalColumn as _CategoricalColumn
from everflow.feature_column.columns import DenseColumn as _DenseColumn
from everflow.feature_column.columns import FeatureColumn as _FeatureColumn
from everflow.feature_column.columns import SequenceDenseColumn as _SequenceDenseColumn
from everflow.feature_column.crossed import CrossedColumn as _CrossedColumn
from everflow.feature_column.embedding import EmbeddingColumn as _EmbeddingColumn
from everflow.feature_column.embedding import GraphSharedEmbeddingColumn as _SharedEmbeddingColumn
from everflow.feature_column.embedding import IndicatorColumn as _IndicatorColumn
from everflow.feature_column.numeric import BucketizedColumn as _BucketizedColumn
from everflow.feature_column.numeric import NumericColumn as _NumericColumn
from everflow.feature_column.sequence import SequenceCategoricalColumn as _SequenceCategoricalColumn

__all__ = [
    "_BucketizedColumn",
    "_CategoricalColumn",
    "_CrossedColumn",
    "_DenseColumn",
    "_EmbeddingColumn",
    "_FeatureColumn",
    "_HashedCategoricalColumn",
    "_IdentityCategoricalColumn",
    "_IndicatorColumn",
    "_LazyBuilder",
    "_NumericColumn",
    "_SequenceCategoricalColumn",
    "_SequenceDenseColumn",
    "_SharedEmbeddingColumn",
    "_VocabularyFileCategoricalColumn",
    "_VocabularyListCategoricalColumn",
    "_WeightedCategoricalColumn",
]
