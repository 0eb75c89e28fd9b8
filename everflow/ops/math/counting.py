"""Counting and bins: build functions and shape rules."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import known_value
from everflow.ops import array
from everflow.ops.array import constants
from everflow.ops.math import clip, elementwise, reductions, segments


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32):
    """How often each number from 0 up to the largest occurs in `arr`, or the sum of the weights of each.

    Args:
        arr: Whole numbers, not negative.
        weights: A weight for each number of `arr`.
        minlength: The least length of the result.
        maxlength: The greatest length of the result; larger numbers are not counted.
        dtype: The type of the result, where there are no weights.

    Returns:
        A vector.

    Example:
        >>> sess.run(tf.bincount([1, 1, 3]))
        array([0, 2, 0, 1], dtype=int32)
    """
    return counted(arr, weights, minlength, maxlength, dtype)


def counted(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32, name=None):
    """`bincount`, with a name for its scope."""
    with name_scope(name, "bincount"):
        arr = convert_to_tensor(arr, name="arr", dtype=dtypes.int32)
        nonempty = reductions.reduce_prod(array.shape(arr)) > 0
        size = elementwise.cast(nonempty, dtypes.int32) * (reductions.reduce_max(arr) + 1)
        if minlength is not None:
            minlength = convert_to_tensor(minlength, name="minlength", dtype=dtypes.int32)
            size = raw.Maximum(minlength, size)
        if maxlength is not None:
            maxlength = convert_to_tensor(maxlength, name="maxlength", dtype=dtypes.int32)
            size = raw.Minimum(maxlength, size)
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            return segments.unsorted_segment_sum(weights, arr, size)
        weights = constants.constant([], dtype)
        return raw.Bincount(arr, size, weights)


def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """How many values fall into each of `nbins` bins of equal width; those beyond the range count in the outer bins.

    Args:
        values: The numbers.
        value_range: The lowest and the highest number: [2].
        nbins: How many bins there are.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        A tensor of whole numbers: one for each bin, or for each value.

    Example:
        >>> sess.run(tf.histogram_fixed_width([0.0, 1.0, 4.5, 9.0], [0.0, 5.0], nbins=5))
        array([1, 1, 0, 0, 2], dtype=int32)
    """
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        return raw.HistogramFixedWidth(values, value_range, nbins, dtype=dtype, name=scope)


def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """The number of the bin that each value falls into.

    Args:
        values: The numbers.
        value_range: The lowest and the highest number: [2].
        nbins: How many bins there are.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        A tensor of whole numbers: one for each bin, or for each value.

    Example:
        >>> sess.run(tf.histogram_fixed_width_bins([0.0, 1.0, 4.5, 9.0], [0.0, 5.0], nbins=5))
        array([0, 1, 4, 4], dtype=int32)
    """
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        shape = array.shape(values)
        values = array.reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, dtype=dtypes.int32, name="nbins")
        nbins_float = elementwise.cast(nbins, values.dtype)
        from_low = values - value_range[0]
        scaled = raw.RealDiv(from_low, value_range[1] - value_range[0], name="scaled_values")
        indices = raw.Floor(nbins_float * scaled, name="indices")
        indices = elementwise.cast(clip.clip_by_value(indices, 0, nbins_float - 1), dtypes.int32)
        return array.reshape(indices, shape)


@shape_rule("Bincount")
def _bincount_shape(op):
    op.inputs[1].shape.with_rank(0)
    size = known_value(op.inputs[1])
    if size is not None and size < 0:
        raise ValueError(f"size ({size}) must be non-negative")
    return TensorShape([None if size is None else int(size)])


@shape_rule("HistogramFixedWidth")
def _histogram_shape(op):
    op.inputs[1].shape.merge_with([2])
    op.inputs[2].shape.with_rank(0)
    count = known_value(op.inputs[2])
    if count is not None and count <= 0:
        raise ValueError(f"Requires nbins > 0: {count}")
    return TensorShape([None if count is None else int(count)])


@shape_rule("CompareAndBitpack")
def _bitpack_shape(op):
    shape = op.inputs[0].shape.with_rank_at_least(1)
    if shape.rank is None:
        return shape
    last = shape.size(-1)
    if last is not None and last % 8:
        raise ValueError(f"Dimension size must be evenly divisible by 8 but is {last}")
    return TensorShape([*shape.dims[:-1], None if last is None else last // 8])
