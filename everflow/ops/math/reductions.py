"""Reductions over axes, running sums, and where extremes stand: build functions and shape rules."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import CompositeTensor, SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, unknown_shape
from everflow.framework.static_values import known_value
from everflow.ops.array import basic as array
from everflow.ops.array import constants
from everflow.ops.array.basic import either
from everflow.ops.array.ragged_rows import looks_for_ragged, plainly
from everflow.ops.math import elementwise, sequences


def all_axes(x, axis):
    """`axis`, or every axis of x where that is None."""
    if axis is not None:
        return axis
    shape = x.dense_shape.shape if isinstance(x, SparseTensor) else None
    if isinstance(x, Tensor) and x.shape.rank is not None:
        return constants.constant(np.arange(x.shape.rank), dtype=dtypes.int32)
    if shape is not None and shape.is_fully_defined():
        return constants.constant(np.arange(shape.as_list()[0]), dtype=dtypes.int32)
    return sequences.range(0, array.rank(x))


def _reduce(op_type, input_tensor, axis, keepdims, name, reduction_indices=None, keep_dims=None):
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)

    def plain():
        keep = False if keepdims is None else keepdims
        return getattr(raw, op_type)(input_tensor, all_axes(input_tensor, axis), keep_dims=keep, name=name)

    if isinstance(input_tensor, CompositeTensor):
        plainly(plain)
        return input_tensor._reduce(op_type.lower(), axis, keepdims, name)
    result = plain()
    return _without_unknown_rank(keepdims, axis, result)


def _without_unknown_rank(keepdims, axis, result):
    """A reduction over all axes is a scalar, whatever the rank was."""
    if axis is None and not keepdims:
        result.set_shape(())
    return result


@looks_for_ragged
def reduce_sum(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """The sum over axes (all of them by default).

    Args:
        input_tensor: The tensor to work on.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        name: The name of the operation in the graph.
        reduction_indices: An older name of `axis`.
        keep_dims: An older name of `keepdims`.

    Returns:
        A tensor without these axes.

    Example:
        >>> sess.run(tf.reduce_sum([[1, 1, 1], [2, 2, 2]], axis=0))
        array([3, 3, 3], dtype=int32)
        >>> sess.run(tf.reduce_sum([[1, 1, 1], [2, 2, 2]]))
        np.int32(9)
    """
    return _reduce("Sum", input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@looks_for_ragged
def reduce_mean(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """The mean over axes. The mean of integers is an integer, rounded towards zero.

    Args:
        input_tensor: The tensor to work on.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        name: The name of the operation in the graph.
        reduction_indices: An older name of `axis`.
        keep_dims: An older name of `keepdims`.

    Returns:
        A tensor without these axes.

    Example:
        >>> sess.run(tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]]))
        np.float32(2.5)
        >>> sess.run(tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=1, keepdims=True))
        array([[1.5],
               [3.5]], dtype=float32)
    """
    return _reduce("Mean", input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@looks_for_ragged
def reduce_prod(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """The product over axes.

    Args:
        input_tensor: The tensor to work on.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        name: The name of the operation in the graph.
        reduction_indices: An older name of `axis`.
        keep_dims: An older name of `keepdims`.

    Returns:
        A tensor without these axes.

    Example:
        >>> sess.run(tf.reduce_prod([[1, 2], [3, 4]], axis=1))
        array([ 2, 12], dtype=int32)
    """
    return _reduce("Prod", input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@looks_for_ragged
def reduce_max(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """The maximum over axes.

    Args:
        input_tensor: The tensor to work on.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        name: The name of the operation in the graph.
        reduction_indices: An older name of `axis`.
        keep_dims: An older name of `keepdims`.

    Returns:
        A tensor without these axes.

    Example:
        >>> sess.run(tf.reduce_max([[1, 5], [7, 3]], axis=0))
        array([7, 5], dtype=int32)
    """
    return _reduce("Max", input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@looks_for_ragged
def reduce_min(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """The minimum over axes.

    Args:
        input_tensor: The tensor to work on.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        name: The name of the operation in the graph.
        reduction_indices: An older name of `axis`.
        keep_dims: An older name of `keepdims`.

    Returns:
        A tensor without these axes.

    Example:
        >>> sess.run(tf.reduce_min([[1, 5], [7, 3]], axis=0))
        array([1, 3], dtype=int32)
    """
    return _reduce("Min", input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@looks_for_ragged
def reduce_all(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Whether all are true over axes.

    Args:
        input_tensor: The tensor to work on.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        name: The name of the operation in the graph.
        reduction_indices: An older name of `axis`.
        keep_dims: An older name of `keepdims`.

    Returns:
        A tensor without these axes.

    Example:
        >>> sess.run(tf.reduce_all([[True, False], [True, True]], axis=1))
        array([False,  True])
    """
    return _reduce("All", input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@looks_for_ragged
def reduce_any(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Whether any is true over axes.

    Args:
        input_tensor: The tensor to work on.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        name: The name of the operation in the graph.
        reduction_indices: An older name of `axis`.
        keep_dims: An older name of `keepdims`.

    Returns:
        A tensor without these axes.

    Example:
        >>> sess.run(tf.reduce_any([[True, False], [False, False]], axis=1))
        array([ True, False])
    """
    return _reduce("Any", input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """The root of the sum of squares over axes.

    Args:
        input_tensor: The tensor to work on.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        name: The name of the operation in the graph.

    Returns:
        A tensor without these axes.

    Example:
        >>> sess.run(tf.math.reduce_euclidean_norm([[3.0, 4.0], [0.0, 2.0]], axis=1))
        array([5., 2.], dtype=float32)
    """
    return _reduce("EuclideanNorm", input_tensor, axis, keepdims, name)


def reduce_logsumexp(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """log(sum(exp(x))) over axes, without overflow.

    Args:
        input_tensor: The tensor to work on.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        name: The name of the operation in the graph.
        reduction_indices: An older name of `axis`.
        keep_dims: An older name of `keepdims`.

    Returns:
        A tensor without these axes.

    Example:
        >>> sess.run(tf.reduce_logsumexp([1000.0, 1000.0]))
        np.float32(1000.6932)
    """
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
    keepdims = False if keepdims is None else keepdims
    input_tensor = convert_to_tensor(input_tensor)
    with name_scope(name, "ReduceLogSumExp", [input_tensor]):
        highest = reduce_max(input_tensor, axis, keepdims=True)
        finite = raw.Select(raw.IsFinite(highest), highest, array.zeros_like(highest))
        shift = array.stop_gradient(finite)
        result = raw.Log(reduce_sum(raw.Exp(raw.Sub(input_tensor, shift)), axis, keepdims=keepdims))
        if not keepdims:
            shift = array.reshape(shift, array.shape(result))
        return _without_unknown_rank(keepdims, axis, raw.Add(result, shift))


def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The variance over axes: the mean square distance from the mean.

    Args:
        input_tensor: The tensor to work on.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        name: The name of the operation in the graph.

    Returns:
        A tensor without these axes.

    Example:
        >>> sess.run(tf.math.reduce_variance([[3.0, 4.0], [0.0, 2.0]], axis=1))
        array([0.25, 1.  ], dtype=float32)
    """
    name = name if name else "reduce_variance"
    with name_scope(name):
        mean = reduce_mean(input_tensor, axis=axis, keepdims=True)
        difference = input_tensor - mean
        return reduce_mean(elementwise.square(difference), axis=axis, keepdims=keepdims)


def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """The standard deviation over axes: the root of the variance.

    Args:
        input_tensor: The tensor to work on.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        name: The name of the operation in the graph.

    Returns:
        A tensor without these axes.

    Example:
        >>> sess.run(tf.math.reduce_std([[3.0, 4.0], [0.0, 2.0]], axis=1))
        array([0.5, 1. ], dtype=float32)
    """
    name = name if name else "reduce_std"
    with name_scope(name):
        variance = reduce_variance(input_tensor, axis=axis, keepdims=keepdims)
        return elementwise.sqrt(variance)


def count_nonzero(
    input_tensor=None,
    axis=None,
    keepdims=None,
    dtype=dtypes.int64,
    name=None,
    reduction_indices=None,
    keep_dims=None,
    input=None,
):
    """How many elements are not zero (for strings: not empty) over axes.

    Args:
        input_tensor: The tensor to work on.
        axis: The axis to work along; negative ones count from the last.
        keepdims: Whether axes that are reduced stay, with the length 1.
        dtype: The type of the elements.
        name: The name of the operation in the graph.
        reduction_indices: An older name of `axis`.
        keep_dims: An older name of `keepdims`.
        input: Another name of `input_tensor`.

    Returns:
        The counts.

    Example:
        >>> sess.run(tf.count_nonzero([[0, 1, 0], [1, 1, 0]], axis=1))
        array([1, 2])
    """
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
    input_tensor = either("input", input, "input_tensor", input_tensor)
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    keepdims = False if keepdims is None else keepdims
    with name_scope(name, "count_nonzero", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input")
        zero = "" if input_tensor.dtype == dtypes.string else 0
        if zero == 0:
            zeros = array.zeros([], dtype=input_tensor.dtype.base_dtype)
        else:
            zeros = constants.constant("", name="zeros")
        there = elementwise.cast(raw.NotEqual(input_tensor, zeros), dtypes.int64)
        return elementwise.cast(reduce_sum(there, axis=axis, keepdims=keepdims), dtype=dtype)


def argmax(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
    """Where the largest value stands along an axis; the first one of several.

    Args:
        input: The tensor to work on.
        axis: The axis; 0 if None.
        name: The name of the operation in the graph.
        dimension: An older name of `axis`.
        output_type: The type of the result.

    Returns:
        A tensor of whole numbers without that axis.

    Example:
        >>> sess.run(tf.argmax([[1, 9], [7, 3]], axis=1))
        array([1, 0])
    """
    axis = either("axis", axis, "dimension", dimension)
    return raw.ArgMax(input, 0 if axis is None else axis, output_type=output_type, name=name)


def argmin(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
    """Where the smallest value stands along an axis; the first one of several.

    Args:
        input: The tensor to work on.
        axis: The axis; 0 if None.
        name: The name of the operation in the graph.
        dimension: An older name of `axis`.
        output_type: The type of the result.

    Returns:
        A tensor of whole numbers without that axis.

    Example:
        >>> sess.run(tf.argmin([[1, 9], [7, 3]], axis=1))
        array([0, 1])
    """
    axis = either("axis", axis, "dimension", dimension)
    return raw.ArgMin(input, 0 if axis is None else axis, output_type=output_type, name=name)


def arg_max(input, dimension, output_type=dtypes.int64, name=None):
    """Deprecated: `tf.argmax`.

    Args:
        input: The tensor to work on.
        dimension: The axis.
        output_type: The type of the result.
        name: The name of the operation in the graph.

    Returns:
        A tensor of whole numbers without that axis.

    Example:
        >>> sess.run(tf.arg_max([[1, 9], [7, 3]], 1))
        array([1, 0])
    """
    return raw.ArgMax(input, dimension, output_type=output_type, name=name)


def arg_min(input, dimension, output_type=dtypes.int64, name=None):
    """Deprecated: `tf.argmin`.

    Args:
        input: The tensor to work on.
        dimension: The axis.
        output_type: The type of the result.
        name: The name of the operation in the graph.

    Returns:
        A tensor of whole numbers without that axis.

    Example:
        >>> sess.run(tf.arg_min([[1, 9], [7, 3]], 1))
        array([0, 1])
    """
    return raw.ArgMin(input, dimension, output_type=output_type, name=name)


def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """The running sum along an axis. `exclusive` leaves out the element itself; `reverse` goes from the end.

    Args:
        x: A tensor, or what can be made one.
        axis: The axis to work along; negative ones count from the last.
        exclusive: Whether each sum leaves out its own element.
        reverse: Whether to go from the end to the start.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape as `x`.

    Example:
        >>> sess.run(tf.cumsum([1, 2, 3]))
        array([1, 3, 6], dtype=int32)
        >>> sess.run(tf.cumsum([1, 2, 3], exclusive=True, reverse=True))
        array([5, 3, 0], dtype=int32)
    """
    with name_scope(name, "Cumsum", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return raw.Cumsum(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """The running product along an axis.

    Args:
        x: A tensor, or what can be made one.
        axis: The axis to work along; negative ones count from the last.
        exclusive: Whether each product leaves out its own element.
        reverse: Whether to go from the end to the start.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape as `x`.

    Example:
        >>> sess.run(tf.cumprod([2, 3, 4]))
        array([ 2,  6, 24], dtype=int32)
    """
    with name_scope(name, "Cumprod", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return raw.Cumprod(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """The running log(sum(exp(x))) along an axis.

    Args:
        x: A tensor, or what can be made one.
        axis: The axis to work along; negative ones count from the last.
        exclusive: Whether each sum leaves out its own element.
        reverse: Whether to go from the end to the start.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.math.cumulative_logsumexp([0.0, 0.0, 0.0]))
        array([0.       , 0.6931472, 1.0986123], dtype=float32)
    """
    with name_scope(name, "CumulativeLogsumexp", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return raw.CumulativeLogsumexp(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


def reduced_shape(shape, axes, keep_dims):
    """A shape without the given axes, or with 1 in their place; `axes` is an array, or None where it isn't known."""
    if shape.rank is None:
        return unknown_shape()
    if axes is None:
        return unknown_shape(rank=shape.rank) if keep_dims else unknown_shape()
    gone = set()
    for axis in np.ravel(axes).tolist():
        if not -shape.rank <= axis < shape.rank:
            raise ValueError(f"Invalid reduction dimension {axis} for input with {shape.rank} dimensions")
        gone.add(axis % shape.rank)
    if keep_dims:
        return TensorShape([1 if i in gone else d for i, d in enumerate(shape.dims)])
    return TensorShape([d for i, d in enumerate(shape.dims) if i not in gone])


@shape_rule("Sum", "Mean", "Prod", "Max", "Min", "All", "Any", "EuclideanNorm")
def _reduction_shape(op):
    op.inputs[1].shape.with_rank_at_most(1)
    return reduced_shape(op.inputs[0].shape, known_value(op.inputs[1]), op.attrs["keep_dims"])


@shape_rule("ArgMax", "ArgMin")
def _position_shape(op):
    shape, axis = op.inputs[0].shape, known_value(op.inputs[1])
    op.inputs[1].shape.with_rank(0)
    if shape.rank is None:
        return unknown_shape()
    if shape.rank <= 1:
        return TensorShape([])
    if axis is None:
        return unknown_shape(rank=shape.rank - 1)
    if not -shape.rank <= axis < shape.rank:
        raise ValueError(
            f"Dimension ({axis}) must be in the range [{-shape.rank}, {shape.rank}), as the input has the shape {shape}"
        )
    return reduced_shape(shape, axis, False)
