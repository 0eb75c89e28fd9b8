"""Names that programs take from inside TensorFlow's feature_column modules, mostly to ask what kind of column they
have, or to write columns of their own.
"""

from everflow.contrib.layers.feature_columns import OldColumn
from everflow.feature_column.cache import FeatureTransformationCache as _LazyBuilder
from everflow.feature_column.cache import sparse_without as _to_sparse_input_and_drop_ignore_values
from everflow.feature_column.categorical import HashedCategoricalColumn as _HashedCategoricalColumn
from everflow.feature_column.categorical import IdentityCategoricalColumn as _IdentityCategoricalColumn
from everflow.feature_column.categorical import VocabularyFileCategoricalColumn as _VocabularyFileCategoricalColumn
from everflow.feature_column.categorical import VocabularyListCategoricalColumn as _VocabularyListCategoricalColumn
from everflow.feature_column.categorical import WeightedCategoricalColumn as _WeightedCategoricalColumn
from everflow.feature_column.categorical import (
    categorical_column_with_hash_bucket as _categorical_column_with_hash_bucket,
)
from everflow.feature_column.categorical import categorical_column_with_identity as _categorical_column_with_identity
from everflow.feature_column.categorical import (
    categorical_column_with_vocabulary_file as _categorical_column_with_vocabulary_file,
)
from everflow.feature_column.categorical import (
    categorical_column_with_vocabulary_list as _categorical_column_with_vocabulary_list,
)
from everflow.feature_column.categorical import weighted_categorical_column as _weighted_categorical_column
from everflow.feature_column.columns import FeatureColumn as _FeatureColumn
from everflow.feature_column.columns import OlderCategoricalColumn as _CategoricalColumn
from everflow.feature_column.columns import OlderDenseColumn as _DenseColumn
from everflow.feature_column.columns import OlderSequenceDenseColumn as _SequenceDenseColumn
from everflow.feature_column.columns import sorted_columns
from everflow.feature_column.crossed import CrossedColumn as _CrossedColumn
from everflow.feature_column.crossed import crossed_column as _crossed_column
from everflow.feature_column.crossed import leaves as _collect_leaf_level_keys
from everflow.feature_column.embedding import EmbeddingColumn as _EmbeddingColumn
from everflow.feature_column.embedding import GraphSharedEmbeddingColumn as _SharedEmbeddingColumn
from everflow.feature_column.embedding import IndicatorColumn as _IndicatorColumn
from everflow.feature_column.embedding import embedding_column as _embedding_column
from everflow.feature_column.embedding import indicator_column as _indicator_column
from everflow.feature_column.linear_layer import LinearModelLayer as _LinearModelLayer
from everflow.feature_column.linear_model import sums_of_weights
from everflow.feature_column.numeric import BucketizedColumn as _BucketizedColumn
from everflow.feature_column.numeric import NumericColumn as _NumericColumn
from everflow.feature_column.numeric import bucketized_column as _bucketized_column
from everflow.feature_column.numeric import checked_default as check_default_value
from everflow.feature_column.numeric import numeric_column as _numeric_column
from everflow.feature_column.parsing import make_parse_example_spec
from everflow.feature_column.sequence import SequenceCategoricalColumn as _SequenceCategoricalColumn
from everflow.feature_column.shared_embeddings import shared_embeddings as shared_embedding_columns_v2  # noqa: F401
from everflow.feature_column.state import Resources as _Resources
from everflow.framework.scopes import name_scope
from everflow.ops.variables.scope import get_variable, get_variable_scope, variable_scope


def is_feature_column_v2(feature_columns):
    """Whether all of some columns are those of `tf.feature_column`, and not of tf.contrib.layers."""
    return isinstance(feature_columns, (list, tuple)) and all(
        isinstance(c, _FeatureColumn) and not isinstance(c, OldColumn) for c in feature_columns
    )


class StateManager:
    """What columns ask for their variables and other things they make; layers have ones that keep them."""

    def _missing(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} keeps nothing: derive a class that does")

    create_variable = get_variable = add_variable = add_resource = get_resource = _missing


class _StateManagerImpl(StateManager):
    """Keeps what columns make for themselves: their variables, as a layer's weights, and other things by name."""

    _getter = {"getter": get_variable}  # the scopes around say how a variable is made

    def __init__(self, layer, trainable):
        self._trainable, self._layer = trainable, layer
        self._variables, self._resources = {}, {}

    def create_variable(
        self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True, initializer=None
    ):
        """A variable of a column, by a name that it hasn't used."""
        if (feature_column, name) in self._variables:
            raise ValueError(f"{feature_column} has a variable {name!r} already")
        made = self._layer.add_weight(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=self._trainable and trainable,
            use_resource=use_resource,
            **self._getter,
        )
        self._variables[feature_column, name] = made
        return made

    def get_variable(self, feature_column, name):
        """The variable that a column made by a name."""
        if (feature_column, name) not in self._variables:
            raise ValueError(f"{feature_column} has no variable {name!r}")
        return self._variables[feature_column, name]

    add_resource, get_resource = _Resources.add_resource, _Resources.get_resource


class _StateManagerImplV2(_StateManagerImpl):
    """The same for layers of version 2, whose variables are the layers' own whatever scopes are around."""

    _getter = {}


def make_parse_example_spec_v2(feature_columns):
    """`make_parse_example_spec` for columns that layers can hold."""
    for column in feature_columns:
        if not isinstance(column, _FeatureColumn) or not column.for_layers:
            raise ValueError(
                f"All feature_columns must be FeatureColumn instances, of a kind for layers, not {column!r}"
            )
    return make_parse_example_spec(feature_columns)


def _transform_features(features, feature_columns):
    """{column: what it makes of the features}, columns in the order of their names."""
    return _transform_features_v2(features, feature_columns, None)


def _transform_features_v2(features, feature_columns, state_manager):
    """{column: what it makes of the features}, columns in the order of their names."""
    columns = sorted_columns(feature_columns)
    cache, transformed = _LazyBuilder(features), {}
    with name_scope("transform_features", values=features.values()):
        for column in columns:
            with name_scope(column.name):
                transformed[column] = cache.get(column, state_manager)
    return transformed


class _LinearModel:
    """`linear_model` as an object: calls share the weights, which the first one makes."""

    def __init__(
        self,
        feature_columns,
        units=1,
        sparse_combiner="sum",
        weight_collections=None,
        trainable=True,
        name=None,
        **kwargs,
    ):
        self._columns = sorted_columns(feature_columns, _DenseColumn, _CategoricalColumn)
        self._arguments = (units, sparse_combiner, weight_collections, trainable)
        self.name = name or "linear_model"
        self._cols_to_vars, self._made = {}, []

    def __call__(self, features):
        made = iter(self._made)

        def recalled(getter, *args, **kwargs):
            return next(made) if self._cols_to_vars else self._kept(getter(*args, **kwargs))

        with variable_scope(get_variable_scope(), custom_getter=recalled):
            return sums_of_weights(features, self._columns, *self._arguments, cols_to_vars=self._cols_to_vars)

    def _kept(self, variable):
        self._made.append(variable)
        return variable

    def cols_to_vars(self):
        """{column: its weights}, and those of "bias"."""
        return self._cols_to_vars

    variables = weights = property(lambda self: [v for each in self._cols_to_vars.values() for v in each])


__all__ = [
    "_bucketized_column",
    "_BucketizedColumn",
    "_categorical_column_with_hash_bucket",
    "_categorical_column_with_identity",
    "_categorical_column_with_vocabulary_file",
    "_categorical_column_with_vocabulary_list",
    "_CategoricalColumn",
    "_crossed_column",
    "_CrossedColumn",
    "_DenseColumn",
    "_embedding_column",
    "_EmbeddingColumn",
    "_FeatureColumn",
    "_HashedCategoricalColumn",
    "_IdentityCategoricalColumn",
    "_indicator_column",
    "_IndicatorColumn",
    "_LazyBuilder",
    "_LinearModel",
    "_LinearModelLayer",
    "_numeric_column",
    "_NumericColumn",
    "_SequenceCategoricalColumn",
    "_SequenceDenseColumn",
    "_SharedEmbeddingColumn",
    "_to_sparse_input_and_drop_ignore_values",
    "_collect_leaf_level_keys",
    "_transform_features",
    "_transform_features_v2",
    "check_default_value",
    "_VocabularyFileCategoricalColumn",
    "_VocabularyListCategoricalColumn",
    "_weighted_categorical_column",
    "_WeightedCategoricalColumn",
]
