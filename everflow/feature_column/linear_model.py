"""`tf.feature_column.linear_model`: a weight for every number and category of the columns, and a bias."""

from __future__ import annotations

from everflow.feature_column.cache import FeatureTransformationCache
from everflow.feature_column.columns import CategoricalColumn, DenseColumn, assert_equal_batches, sorted_columns
from everflow.feature_column.input_layer import flat_rows
from everflow.feature_column.state import ScopedVariables, with_model_variables
from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collections, get_collection_ref, name_scope
from everflow.keras.engine.base_layer import numbers_as_tensors
from everflow.ops import array, math
from everflow.ops.nn import activations as nn
from everflow.ops.nn.embedding import safe_embedding_lookup_sparse
from everflow.ops.sparse import functions as sparse
from everflow.ops.variables.initializers import zeros_initializer
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.scope import get_variable, variable_scope
from everflow.platform.signatures import takes


@takes(
    """features, feature_columns, units=1, sparse_combiner="sum", weight_collections=None, trainable=True,
    cols_to_vars=None"""
)
def linear_model(**given):
    """Sums of weights, [batch, units]: what linear regression and classification predict before any squashing. Categorical
    columns may be given as they are: each category has a weight.

    Args:
        features: Tensors by the names of features.
        feature_columns: The feature columns.
        units: How many sums.
        sparse_combiner: How several values are joined: `sum`, `mean` or `sqrtn`.
        weight_collections: The collections variables are added to, besides `GLOBAL_VARIABLES`.
        trainable: Whether variables are trained.
        cols_to_vars: A dictionary that is filled with the variables of each column.

    Returns:
        A tensor.

    Raises:
        ValueError: If a column is of the wrong kind.

    Example:
        >>> price = tf.feature_column.numeric_column("price")
        >>> y = tf.feature_column.linear_model({"price": [[1.0], [5.0]]}, [price])
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(y).shape
        (2, 1)
    """
    return sums_of_weights(**given)


@takes(
    """features, feature_columns, units, sparse_combiner, weight_collections=None, trainable=True, cols_to_vars=None,
    names_used=True"""
)
def sums_of_weights(
    features, feature_columns, units, sparse_combiner, weight_collections, trainable, cols_to_vars, names_used
):
    """As `linear_model`, whose names of scopes are used up by asking (`linear_model_1`); estimators don't ask."""
    columns = sorted_columns(feature_columns, DenseColumn, CategoricalColumn, by_function=True)
    features = numbers_as_tensors(features)

    def weights(name, shape):
        variable = get_variable(
            name, shape, dtypes.float32, zeros_initializer(), trainable=trainable, use_resource=True
        )
        names = [*(weight_collections or []), GraphKeys.MODEL_VARIABLES]
        for part in _parts(variable):
            add_to_collections(
                [name for name in names if all(part is not held for held in get_collection_ref(name))], part
            )
        return variable

    with variable_scope(None, "linear_model", auxiliary_name_scope=names_used) as scope:
        name = _last_part(scope)
    cache = FeatureTransformationCache(features)
    state = ScopedVariables(with_model_variables(weight_collections), trainable, weight_collections)
    names, sums, made = [], [], {}
    for column in columns:
        # A column's scope is numbered among the scopes around the model, though it is opened inside of it.
        with variable_scope(None, column._var_scope_name, auxiliary_name_scope=names_used) as numbered:
            names.append(_last_part(numbered))
    with name_scope(name):
        for column, column_name in zip(columns, names):
            with variable_scope(None, f"{name}/{column_name}"):
                made[column] = weights("weights", [weights_size(column), units])
                sums.append(weighted_sum(column, made[column], cache, state, sparse_combiner))
        assert_equal_batches(sums, columns)
        with variable_scope(scope):
            total = math.add_n(sums, name="weighted_sum_no_bias")
            made["bias"] = weights("bias_weights", [units])
            total = nn.bias_add(total, made["bias"], name="weighted_sum")
    if cols_to_vars is not None:
        for key, variable in made.items():
            own = () if key == "bias" else state.made_by(key)
            cols_to_vars[key] = [part for each in (variable, *own) for part in _parts(each)]
    return total


def weights_size(column):
    """How many weights a column needs for each unit."""
    return column.num_buckets if isinstance(column, CategoricalColumn) else column.variable_shape.num_elements()


def weighted_sum(column, weights, cache, state, sparse_combiner):
    """What one column adds to the sums."""
    if isinstance(column, CategoricalColumn):
        ids, id_weights = (_rows(tensor) for tensor in column.get_sparse_tensors(cache, state))
        return safe_embedding_lookup_sparse(weights, ids, id_weights, combiner=sparse_combiner, name="weighted_sum")
    return math.matmul(flat_rows(column.get_dense_tensor(cache, state), column), weights, name="weighted_sum")


def _rows(tensor):
    """A SparseTensor as a matrix with a row for each example."""
    return None if tensor is None else sparse.sparse_reshape(tensor, [array.shape(tensor)[0], -1])


def _parts(variable):
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def _last_part(scope):
    return scope.name.rpartition("/")[2]
