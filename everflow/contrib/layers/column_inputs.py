"""Input layers and weighted sums from the columns of tf.contrib.layers, and how their features are parsed."""

from __future__ import annotations

from math import prod

from everflow.contrib.framework.variables import model_variable
from everflow.contrib.layers.embedding_columns import EmbeddingColumn, OneHotColumn, ScatteredEmbeddingColumn
from everflow.contrib.layers.embeddings import safe_embedding_lookup_sparse
from everflow.contrib.layers.feature_columns import DataFrameColumn, RealValuedColumn, real_valued_column
from everflow.contrib.layers.sparse_columns import CrossedColumn, WeightedSparseColumn
from everflow.feature_column.columns import FeatureColumn
from everflow.feature_column.state import ScopedVariables, with_model_variables
from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.ops import array, math
from everflow.ops.io.examples import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    VarLenFeature,
    parse_example,
    parse_single_sequence_example,
)
from everflow.ops.nn import activations as nn
from everflow.ops.sparse import functions as sparse
from everflow.ops.variables.initializers import zeros_initializer
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.scope import variable_scope
from everflow.platform import logging
from everflow.train.checkpoint_initialization import init_from_checkpoint


class _Transformer:
    """Features by name and, once they are asked for, columns with what they make of them."""

    def __init__(self, tensors):
        self.tensors = dict(tensors)

    def get(self, key, state_manager=None):
        if isinstance(key, FeatureColumn) and key not in self.tensors:
            self.tensors[key] = key.transform_feature(self, state_manager)
        return self.tensors[key]


def check_feature_columns(feature_columns):
    """Raise ValueError where two columns are the same."""
    seen = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError(f"Duplicate feature column key: {column.name} is there already. Leave one out.")
        seen.add(column.key)


def _sorted(feature_columns):
    return sorted(set(feature_columns), key=lambda column: column.key)


def _input_layer(
    columns_to_tensors,
    feature_columns,
    weight_collections,
    trainable,
    scope,
    output_rank,
    default_name,
    cols_to_outs=None,
):
    check_feature_columns(feature_columns)
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError(f"cols_to_outs is a dict to be filled, or None, not {cols_to_outs!r}")
    with variable_scope(scope, default_name=default_name, values=columns_to_tensors.values()):
        transformer = _Transformer(columns_to_tensors)
        state = ScopedVariables(with_model_variables(weight_collections), trainable)
        outputs = []
        for column in _sorted(feature_columns):
            with variable_scope(None, default_name=column.name, values=columns_to_tensors.values()):
                transformer.get(column)
                if output_rank == 3:
                    transformer.tensors[column] = _with_steps(transformer.tensors[column])
                try:
                    output = column.get_dense_tensor(transformer, state, output_rank)
                except ValueError as error:
                    raise ValueError(f"Error creating input layer for column: {column.name}.\n{error}") from error
                outputs.append(output)
                if cols_to_outs is not None:
                    cols_to_outs[column] = output
        return array.concat(outputs, output_rank - 1)


def input_from_feature_columns(
    columns_to_tensors, feature_columns, weight_collections=None, trainable=True, scope=None, cols_to_outs=None
):
    """What columns make of the features, side by side: [batch, numbers].

    >>> age = tf.contrib.layers.real_valued_column("age")
    >>> tf.contrib.layers.input_from_feature_columns({"age": tf.constant([[3.0]])}, [age])
    <tf.Tensor 'input_from_feature_columns/concat/concat:0' shape=(1, 1) dtype=float32>
    """
    name = "input_from_feature_columns"
    variables = weight_collections, trainable, scope
    return _input_layer(columns_to_tensors, feature_columns, *variables, 2, name, cols_to_outs)


def sequence_input_from_feature_columns(
    columns_to_tensors, feature_columns, weight_collections=None, trainable=True, scope=None
):
    """What columns make of features with steps, side by side: [batch, steps, numbers]."""
    for column in feature_columns:
        inner = column.sparse_id_column if isinstance(column, (EmbeddingColumn, OneHotColumn)) else column
        if not isinstance(column, (EmbeddingColumn, OneHotColumn, RealValuedColumn)) or isinstance(
            inner, (WeightedSparseColumn, CrossedColumn)
        ):
            raise ValueError(
                f"{type(inner).__name__} is not supported for sequence data: embed it, or take real values."
            )
    name = "sequence_input_from_feature_columns"
    return _input_layer(columns_to_tensors, feature_columns, weight_collections, trainable, scope, 3, name)


def _with_steps(tensor):
    """Ids given as [batch, steps] are one for each step."""
    if isinstance(tensor, SparseTensor) and tensor.dense_shape.shape.size(0) == 2:
        return sparse.sparse_reshape(tensor, array.concat([tensor.dense_shape, [1]], 0))
    return tensor


def _parts(variable):
    return variable._get_variable_list() if isinstance(variable, PartitionedVariable) else [variable]


def _weights(name, shape, weight_collections, trainable):
    settings = {"initializer": zeros_initializer(), "trainable": trainable, "collections": weight_collections}
    return model_variable(name, shape=shape, dtype=dtypes.float32, **settings)


def weighted_sum_from_feature_columns(
    columns_to_tensors, feature_columns, num_outputs, weight_collections=None, trainable=True, scope=None
):
    """A linear model of the columns: (sums [batch, num_outputs], {column: its variables}, the bias variable)."""
    check_feature_columns(feature_columns)
    with variable_scope(scope, default_name="weighted_sum_from_feature_columns", values=columns_to_tensors.values()):
        transformer = _Transformer(columns_to_tensors)
        outputs, variables = [], {}
        for column in _sorted(feature_columns):
            transformed = transformer.get(column)
            try:
                ids, id_weights = column.weighted_ids(transformed)
            except NotImplementedError:
                if isinstance(column, EmbeddingColumn):
                    raise ValueError(f"Error creating weighted sum for column: {column.name} has no ids.") from None
                with variable_scope(None, default_name=column.name, values=columns_to_tensors.values()):
                    dense = column.dense_numbers(transformed)
                    weights = _weights("weight", [dense.shape.size(1), num_outputs], weight_collections, trainable)
                    total = math.matmul(dense, weights, name="matmul")
            else:
                with variable_scope(None, default_name=column.name, values=columns_to_tensors.values()):
                    shape = [column.num_buckets, num_outputs]
                    weights = _weights("weights", shape, weight_collections, trainable)
                    name = f"{column.name}_weights"
                    total = safe_embedding_lookup_sparse(weights, ids, id_weights, column.combiner, name=name)
            variables[column] = _parts(weights)
            if isinstance(column, CrossedColumn) and column.ckpt_to_load_from is not None:
                init_from_checkpoint(column.ckpt_to_load_from, {column.tensor_name_in_ckpt: weights})
            outputs.append(array.reshape(total, shape=(-1, num_outputs)))
        total = math.add_n(outputs)
        bias = _weights("bias_weight", [num_outputs], weight_collections, trainable)
        return nn.bias_add(total, bias), variables, bias


def _check_joint(column):
    """Raise where the weights of a column can't be rows of one variable for all columns."""
    if isinstance(column, EmbeddingColumn):
        raise ValueError(f"A linear model can't weigh the embedding {column.name}: give the column that it embeds.")
    without_ids = (RealValuedColumn, OneHotColumn, ScatteredEmbeddingColumn, DataFrameColumn)
    for holds, error, what in (
        (isinstance(column, without_ids), NotImplementedError, "numbers, which can be bucketized"),
        (isinstance(column, WeightedSparseColumn), AssertionError, "weights of its own"),
        (getattr(column, "combiner", "sum") != "sum", AssertionError, "a combiner other than 'sum'"),
    ):
        if holds:
            raise error(f"Column {column.name} has {what}: take weighted_sum_from_feature_columns for it.")


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors, feature_columns, num_outputs, weight_collections=None, trainable=True, scope=None
):
    """As `weighted_sum_from_feature_columns`, with one variable for the weights of all columns."""
    check_feature_columns(feature_columns)
    name = "joint_weighted_sum_from_feature_columns"
    with variable_scope(scope, default_name=name, values=columns_to_tensors.values()):
        transformer = _Transformer(columns_to_tensors)
        lookups = []
        for column in _sorted(feature_columns):
            transformed = transformer.get(column)
            _check_joint(column)
            lookups.append((column.weighted_ids(transformed)[0], column.num_buckets))
        size, shifted = 0, []
        for ids, buckets in lookups:
            shifted.append(SparseTensor(ids.indices, ids.values + size, ids.dense_shape))
            size += buckets
        joint = sparse.sparse_concat(axis=1, sp_inputs=shifted)
        with variable_scope(None, default_name="linear_weights", values=columns_to_tensors.values()):
            weights = _weights("weights", [size, num_outputs], weight_collections, trainable)
            total = safe_embedding_lookup_sparse(weights, joint, combiner="sum", name="_weights")
        bias = _weights("bias_weight", [num_outputs], weight_collections, trainable)
        return nn.bias_add(total, bias), _parts(weights), bias


def transform_features(features, feature_columns):
    """{column: what it makes of the features}, before embeddings and weights."""
    columns = _sorted(feature_columns)
    check_feature_columns(columns)
    transformer = _Transformer(features)
    return {column: transformer.get(column) for column in columns}


def create_feature_spec_for_parsing(feature_columns):
    """{feature: FixedLenFeature or VarLenFeature} of all columns."""
    result = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise TypeError(f"feature_columns must be FeatureColumns, but {column!r} is a {type(column).__name__}")
        result.update(column.parse_example_spec)
    return result


def parse_feature_columns_from_examples(serialized, feature_columns, name=None, example_names=None):
    """Serialized Examples parsed for the columns: {feature: tensor} and {column: transformed tensor} in one dict."""
    check_feature_columns(feature_columns)
    spec = create_feature_spec_for_parsing(feature_columns)
    parsed = parse_example(serialized, spec, name=name, example_names=example_names)
    transformer = _Transformer(parsed)
    for column in _sorted(feature_columns):
        transformer.get(column)
    return transformer.tensors


def parse_feature_columns_from_sequence_examples(
    serialized, context_feature_columns, sequence_feature_columns, name=None, example_name=None
):
    """One serialized SequenceExample parsed for the columns: ({context feature: tensor}, {sequence feature: tensor})."""
    context, sequence = context_feature_columns or [], sequence_feature_columns or []
    check_feature_columns(context)
    check_feature_columns(sequence)
    specs = create_feature_spec_for_parsing(context), _sequence_spec(sequence)
    return parse_single_sequence_example(serialized, *specs, example_name, name)


def _sequence_spec(columns):
    spec = create_feature_spec_for_parsing(columns)
    for key, feature in spec.items():
        if isinstance(feature, FixedLenFeature):
            default_ignored = feature.default_value is not None
            if default_ignored:
                logging.warning("feature %s has default value, which is ignored in sequence examples", key)
            spec[key] = FixedLenSequenceFeature(feature.shape, feature.dtype, allow_missing=default_ignored)
    return spec


def make_place_holder_tensors_for_base_features(feature_columns):
    """{feature: placeholder} for all features of the columns."""
    placeholders = {}
    for key, feature in create_feature_spec_for_parsing(feature_columns).items():
        if isinstance(feature, VarLenFeature):
            placeholders[key] = sparse.sparse_placeholder(feature.dtype, name=f"Placeholder_{key}")
        else:
            shape = [None, *feature.shape]
            placeholders[key] = array.placeholder(feature.dtype, shape, name=f"Placeholder_{key}")
    return placeholders


def infer_real_valued_columns(features):
    """A `real_valued_column` for each tensor of numbers, of as many numbers as it has."""
    if not isinstance(features, dict):
        return [_column_for("", features)]
    return [_column_for(key, features[key]) for key in sorted(features)]


def _column_for(name, tensor):
    if isinstance(tensor, SparseTensor) or not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(f"Auto detection is for dense numbers only; define a FeatureColumn for {name!r}: {tensor}.")
    return real_valued_column(name, dimension=prod(tensor.shape.as_list()[1:]), dtype=tensor.dtype)
