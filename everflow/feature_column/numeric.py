"""Columns of numbers: as they are, and cut into buckets."""

from __future__ import annotations

import collections

import numpy as np

from everflow.feature_column.columns import CategoricalColumn, DenseColumn, IdWeightPair, assert_key_is_string
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.io.examples import FixedLenFeature


class NumericColumn(
    DenseColumn, collections.namedtuple("NumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn"))
):
    """See `numeric_column`."""

    name = property(lambda self: self.key)
    parents = property(lambda self: [self.key])
    variable_shape = property(lambda self: TensorShape(self.shape))
    parse_example_spec = property(lambda self: {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)})

    def transform_feature(self, transformation_cache, state_manager):
        tensor = transformation_cache.get(self.key, state_manager)
        if isinstance(tensor, SparseTensor):
            raise ValueError(
                f"SparseTensor is not supported for numeric_column({self.key!r}): pass the feature as a dense Tensor."
            )
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        return math.cast(tensor, dtypes.float32)

    def get_dense_tensor(self, transformation_cache, state_manager):
        return transformation_cache.get(self, state_manager)


def numeric_column(key, shape=(1,), default_value=None, dtype=dtypes.float32, normalizer_fn=None):
    """Numbers of a feature as they are, or as `normalizer_fn` makes them.

    Args:
        key: The name of the feature.
        shape: The shape of the feature.
        default_value: What stands for a value that is missing; None makes that an error.
        dtype: The type of the feature.
        normalizer_fn: A function applied to the feature.

    Returns:
        A column.

    Raises:
        ValueError: If the default or type isn't possible.

    Example:
        >>> price = tf.feature_column.numeric_column("price", normalizer_fn=lambda x: x / 10.0)
        >>> sess.run(tf.feature_column.input_layer({"price": tf.constant([[1.0], [5.0]])}, [price]))
        array([[0.1],
               [0.5]], dtype=float32)
    """
    shape = checked_numbers(key, shape, dtype, normalizer_fn)
    default_value = checked_default(shape, default_value, dtype, key)
    assert_key_is_string(key)
    return NumericColumn(key, shape, default_value, dtype, normalizer_fn)


def checked_numbers(key, shape, dtype, normalizer_fn):
    """A column's shape (a number or an iterable) as a tuple of ints above 0, after checking what goes with it."""
    if shape is None:
        raise ValueError(f"The column of feature {key!r} has no shape.")
    shape = tuple(shape) if isinstance(shape, collections.abc.Iterable) else (shape,)
    for dimension in shape:
        if not isinstance(dimension, (int, np.integer)):
            raise TypeError(f"shape dimensions must be integer, and feature {key!r} has {shape}.")
        if dimension < 1:
            raise ValueError(f"shape dimensions must be greater than 0, and feature {key!r} has {shape}.")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float, and feature {key!r} is of {dtype}.")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable, and that of feature {key!r} is {normalizer_fn!r}.")
    return shape


def checked_default(shape, value, dtype, key):
    """A default of the shape, as nested tuples; a plain number fills it. Numbers of numpy's types are refused."""
    if value is None:
        return None
    wrong = TypeError(f"default_value must be compatible with dtype: feature {key!r} is of {dtype}, and has {value!r}.")
    if isinstance(value, int) or isinstance(value, float) and not isinstance(value, np.floating) and dtype.is_floating:
        return _nested(np.full(shape, value, dtype=object))
    if not isinstance(value, (list, tuple, np.ndarray)):
        raise wrong
    if np.shape(value) != tuple(shape):
        raise ValueError(
            f"The default_value of {key!r} has shape {np.shape(value)}, and the column {shape}: {value}. "
            "Give it the column's shape, or pass one number."
        )
    kind = np.asarray(value).dtype.kind
    if not (kind in "iub" or kind == "f" and dtype.is_floating):
        raise wrong
    return _nested(value.tolist() if isinstance(value, np.ndarray) else value)


def _nested(value):
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(_nested(item) for item in value) if isinstance(value, (list, tuple)) else value


class BucketizedColumn(
    DenseColumn, CategoricalColumn, collections.namedtuple("BucketizedColumn", ("source_column", "boundaries"))
):
    """See `bucketized_column`."""

    name = property(lambda self: f"{self.source_column.name}_bucketized")
    parents = property(lambda self: [self.source_column])
    parse_example_spec = property(lambda self: self.source_column.parse_example_spec)
    variable_shape = property(lambda self: TensorShape((*self.source_column.shape, len(self.boundaries) + 1)))

    @property
    def num_buckets(self):
        """One id for each bucket of each number."""
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    def transform_feature(self, transformation_cache, state_manager):
        source = transformation_cache.get(self.source_column, state_manager)
        return raw.Bucketize(input=source, boundaries=list(self.boundaries))

    def get_dense_tensor(self, transformation_cache, state_manager):
        buckets = transformation_cache.get(self, state_manager)
        return array.one_hot(
            math.cast(buckets, dtypes.int64), depth=len(self.boundaries) + 1, on_value=1.0, off_value=0.0
        )

    def get_sparse_tensors(self, transformation_cache, state_manager):
        buckets = transformation_cache.get(self, state_manager)
        batch_size = array.shape(buckets)[0]
        dimension = self.source_column.shape[0]
        rows = array.reshape(array.tile(array.expand_dims(math.range(0, batch_size), 1), [1, dimension]), (-1,))
        columns = array.tile(math.range(0, dimension), [batch_size])
        # Each number has its own ids.
        ids = array.reshape(buckets, (-1,)) + (len(self.boundaries) + 1) * columns
        indices = math.cast(array.transpose(array.stack((rows, columns))), dtypes.int64)
        shape = math.cast(array.stack([batch_size, dimension]), dtypes.int64)
        return IdWeightPair(SparseTensor(indices, ids, shape), None)


def bucketized_column(source_column, boundaries):
    """Numbers by the bucket they fall into: `boundaries=[0., 1.]` makes buckets below 0, from 0 to 1, and above.

    Args:
        source_column: The numeric column.
        boundaries: The boundaries, ascending.

    Returns:
        A column.

    Raises:
        ValueError: If the source is no numeric column of one dimension, or boundaries don't ascend.

    Example:
        >>> price = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("price"), [0.0, 1.0])
        >>> sess.run(tf.feature_column.input_layer({"price": [[0.5], [5.0]]}, [price]))
        array([[0., 1., 0.],
               [0., 0., 1.]], dtype=float32)
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column is made by numeric_column(), and this is not: {source_column}.")
    if len(source_column.shape) > 1:
        raise ValueError(
            f"source_column must be one-dimensional column, not of shape {source_column.shape}: {source_column}"
        )
    if not boundaries:
        raise ValueError("boundaries must be a sorted list, and there are none.")
    if not isinstance(boundaries, (list, tuple)) or any(a >= b for a, b in zip(boundaries, boundaries[1:])):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))
