"""Columns of sequences: each example has steps, and each step numbers or categories."""

from __future__ import annotations

import collections
import functools

from everflow.feature_column import categorical
from everflow.feature_column.cache import FeatureTransformationCache
from everflow.feature_column.columns import (
    CategoricalColumn,
    IdWeightPair,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    sorted_columns,
)
from everflow.feature_column.numeric import checked_numbers
from everflow.feature_column.sequence_lengths import sequence_length_from_sparse_tensor
from everflow.feature_column.state import ScopedVariables
from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.checks import shapes as shape_checks
from everflow.ops.checks import values as check
from everflow.ops.io.examples import VarLenFeature
from everflow.ops.sparse import functions as sparse
from everflow.ops.variables.scope import variable_scope


class SequenceCategoricalColumn(
    CategoricalColumn, collections.namedtuple("SequenceCategoricalColumn", ("categorical_column",))
):
    """Categories in steps: [batch, steps, categories of a step]."""

    has_steps = True
    name = property(lambda self: self.categorical_column.name)
    parents = property(lambda self: [self.categorical_column])
    parse_example_spec = property(lambda self: self.categorical_column.parse_example_spec)
    num_buckets = property(lambda self: self.categorical_column.num_buckets)

    def transform_feature(self, transformation_cache, state_manager):
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(self, transformation_cache, state_manager):
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        # A matrix has one category for each step.
        shape = array.shape(ids)
        steps = [shape[0], shape[1], math.reduce_prod(shape[2:])]
        ids = sparse.sparse_reshape(ids, steps)
        return IdWeightPair(ids, None if weights is None else sparse.sparse_reshape(weights, steps))


def _in_steps(kind):
    """A function that makes such columns as `categorical_column_with_…` makes, for features with steps."""
    make = getattr(categorical, f"categorical_column_with_{kind}")

    @functools.wraps(make)
    def made(*args, **kwargs):
        return SequenceCategoricalColumn(make(*args, **kwargs))

    made.__name__ = made.__qualname__ = f"sequence_{make.__name__}"
    _, *parts = make.__doc__.partition("\n\n")
    made.__doc__ = f"As `{make.__name__}`, for features with a category for each step." + "".join(parts).replace(
        "tf.feature_column.", "tf.feature_column.sequence_"
    )
    made.__module__ = __name__
    return made


sequence_categorical_column_with_identity = _in_steps("identity")
sequence_categorical_column_with_hash_bucket = _in_steps("hash_bucket")
sequence_categorical_column_with_vocabulary_file = _in_steps("vocabulary_file")
sequence_categorical_column_with_vocabulary_list = _in_steps("vocabulary_list")


class SequenceNumericColumn(
    SequenceDenseColumn,
    collections.namedtuple("SequenceNumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn")),
):
    """See `sequence_numeric_column`."""

    name = property(lambda self: self.key)
    parents = property(lambda self: [self.key])
    parse_example_spec = property(lambda self: {self.key: VarLenFeature(self.dtype)})
    variable_shape = property(lambda self: TensorShape(self.shape))

    def transform_feature(self, transformation_cache, state_manager):
        tensor = transformation_cache.get(self.key, state_manager)
        return tensor if self.normalizer_fn is None else self.normalizer_fn(tensor)

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        sp_tensor = transformation_cache.get(self, state_manager)
        dense = sparse.sparse_tensor_to_dense(sp_tensor, default_value=self.default_value)
        dense = array.reshape(dense, array.concat([array.shape(dense)[:1], [-1], self.variable_shape.as_list()], 0))
        # A matrix holds the numbers of all steps in a row.
        num_elements = self.variable_shape.num_elements() if sp_tensor.shape.rank == 2 else 1
        return TensorSequenceLengthPair(dense, sequence_length_from_sparse_tensor(sp_tensor, num_elements))


def sequence_numeric_column(key, shape=(1,), default_value=0.0, dtype=dtypes.float32, normalizer_fn=None):
    """Numbers in steps, each step of the given shape; missing ones are `default_value`.

    Args:
        key: The name of the feature.
        shape: The shape of a step.
        default_value: What stands for what is missing.
        dtype: The type of the feature.
        normalizer_fn: A function applied to the feature.

    Returns:
        A column.

    Raises:
        ValueError: If the type isn't possible.

    Example:
        >>> tf.feature_column.sequence_numeric_column("price").name
        'price'
    """
    shape = checked_numbers(key, shape, dtype, normalizer_fn)
    return SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)


def sequence_input_layer(features, feature_columns, weight_collections=None, trainable=True):
    """What sequence columns make of the features, side by side: ([batch, steps, numbers], the steps of each example)."""
    columns = sorted_columns(feature_columns, SequenceDenseColumn, by_function=True)
    cache = FeatureTransformationCache(features)
    outputs, lengths = [], []
    with variable_scope(None, default_name="sequence_input_layer", values=features.values()):
        for column in columns:
            with variable_scope(None, default_name=column._var_scope_name):
                tensor, length = column.get_sequence_dense_tensor(
                    cache, ScopedVariables(weight_collections, trainable, weight_collections)
                )
                outputs.append(flat_steps(tensor, column))
                lengths.append(length)
        length = equal_lengths(lengths)
        return array.concat(outputs, -1), length


def concatenate_context_input(context_input, sequence_input):
    """A sequence, [batch, steps, numbers], with what is the same in all steps, [batch, numbers], behind the numbers of
    each.
    """
    ranks, types = [], []
    for what, tensor, rank in (("sequence_input", sequence_input, 3), ("context_input", context_input, 2)):
        sized = {"data": [array.shape(tensor)], "message": f"{what} must have rank {rank}"}
        ranks.append(shape_checks.assert_rank(tensor, rank, **sized))
        typed = f"{what} must be of float32, not {tensor.dtype.name}"
        types.append(shape_checks.assert_type(tensor, dtypes.float32, message=typed))
    with control_dependencies([*ranks, *types]):
        steps = array.shape(sequence_input)[1]
        repeated = array.tile(array.expand_dims(context_input, 1), array.concat([[1], [steps], [1]], 0))
    return array.concat([sequence_input, repeated], 2)


def flat_steps(tensor, column):
    """A column's dense tensor with one dimension of numbers after those of examples and steps."""
    shape = array.shape(tensor)
    return array.reshape(tensor, [shape[0], shape[1], column.variable_shape.num_elements()])


def equal_lengths(lengths):
    """The lengths of one column, once it is sure that those of the others are the same."""
    with name_scope("assert_all_equal", values=lengths):
        if len(lengths) == 1:
            return lengths[0]
        with control_dependencies([check.assert_equal(lengths[0], other) for other in lengths[1:]]):
            return array.identity(lengths[0])
