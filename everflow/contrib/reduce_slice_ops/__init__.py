"""tf.contrib.reduce_slice_ops: sums, products, maxima and minima of slices given by their first and last rows."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape, unknown_shape
from everflow.framework.static_values import known_value

_TYPES = ("ReduceSliceSum", "ReduceSliceProd", "ReduceSliceMax", "ReduceSliceMin")


def reduce_slice_sum(data, indices, axis, name=None):
    """The sums of slices along `axis`.

    Args:
      data: A tensor.
      indices: Rows of (first, one after the last); or a vector, where each slice ends at the next one's start.
      axis: Along which dimension.
      name: The name of the operation.

    Returns:
      A tensor with one entry for each slice along `axis`; an empty slice gives 0.
    """
    return raw.ReduceSliceSum(data=data, indices=indices, axis=axis, name=name)


def reduce_slice_prod(data, indices, axis, name=None):
    """The products of slices along `axis`; an empty one gives 1. See `reduce_slice_sum`."""
    return raw.ReduceSliceProd(data=data, indices=indices, axis=axis, name=name)


def reduce_slice_max(data, indices, axis, name=None):
    """The largest values of slices along `axis`; an empty one gives the least there is. See `reduce_slice_sum`."""
    return raw.ReduceSliceMax(data=data, indices=indices, axis=axis, name=name)


def reduce_slice_min(data, indices, axis, name=None):
    """The least values of slices along `axis`; an empty one gives the largest there is. See `reduce_slice_sum`."""
    return raw.ReduceSliceMin(data=data, indices=indices, axis=axis, name=name)


@shape_rule(*_TYPES)
def _reduce_slice_shape(op):
    data, indices, _ = (t.shape for t in op.inputs)
    if indices.rank is not None and indices.rank > 2:
        raise ValueError(f"indices are a vector or rows of two, not of shape {indices}")
    if indices.rank == 2:
        indices[1:].assert_is_compatible_with([2])
    axis = known_value(op.inputs[2])
    if axis is None or data.rank is None or indices.rank is None:
        return unknown_shape()
    if not 0 <= axis < data.rank:
        raise ValueError(f"There is no axis {axis} in data of shape {data}")
    rows = indices.as_list()[0]
    count = rows if indices.rank == 2 or rows is None else max(rows - 1, 0)
    sizes = data.as_list()
    sizes[int(axis)] = count
    return TensorShape(sizes)


not_differentiable(*_TYPES)
