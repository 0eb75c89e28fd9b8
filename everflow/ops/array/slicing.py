"""Slices: `tf.slice`, `tf.strided_slice`, and `tensor[...]` on tensors and variables."""

from __future__ import annotations

import numbers
import sys

import numpy as np

from everflow.framework import dtypes, slicing
from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import Dimension, TensorShape, unknown_shape
from everflow.framework.static_values import known_shape, known_value
from everflow.ops.array.basic import cast_to, known_ints, ones_like
from everflow.ops.array.constants import constant
from everflow.ops.array.joining import stack
from everflow.ops.array.sequences import boolean_mask
from everflow.ops.shape_rules import like_first


def slice_(input_, begin, size, name=None):
    """A block of a tensor: from `begin`, of these sizes; -1 takes all that is left.

    Args:
        input_: The tensor.
        begin: Where the block begins along each axis.
        size: How long it is along each axis.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, -1]))
        array([[2, 3],
               [5, 6]], dtype=int32)
    """
    return raw.Slice(input=input_, begin=begin, size=size, name=name)


@shape_rule("Slice")
def _slice_shape(op):
    source = op.inputs[0].shape
    for t in op.inputs[1:]:
        if t.shape.rank not in (None, 1):
            raise ValueError(f"Shape must be rank 1 but is rank {t.shape.rank}")
        if t.shape.rank is not None and t.shape.size(0) is not None:
            source = source.with_rank(t.shape.size(0))
    begin, size = known_ints(op.inputs[1]), known_ints(op.inputs[2])
    if source.rank is None:
        return None
    if begin is None:  # some of its entries may be known
        starts = known_shape(op.inputs[1])
        begin = starts.as_list() if starts.rank is not None else None
    if size is None:
        found = known_shape(op.inputs[2])
        return found.with_rank(source.rank) if found.rank is not None else unknown_shape(source.rank)
    out = []
    for i, (dim, length) in enumerate(zip(source.as_list(), size, strict=True)):
        start = begin[i] if begin is not None else None
        if length == -1:
            out.append(None if start is None or dim is None else dim - start)
            if out[-1] is not None and out[-1] < 0:
                raise ValueError(f"Expected begin[{i}] in [0, {dim}], but got {start}")
            continue
        if length < -1:
            raise ValueError(f"Expected size[{i}] >= -1, but got {length}")
        # Whether it reaches past the end is found out when it is run, as in TensorFlow.
        out.append(length)
    return TensorShape(out)


def strided_slice(
    input_,
    begin,
    end,
    strides=None,
    begin_mask=0,
    end_mask=0,
    ellipsis_mask=0,
    new_axis_mask=0,
    shrink_axis_mask=0,
    var=None,
    name=None,
):
    """A slice with strides, as `tensor[begin:end:stride]` makes it; bit i of a mask is about the i-th entry. The result of
    slicing a variable has `assign(value)`, which writes into that slice.

    Args:
        input_: The tensor.
        begin: Where it begins along each axis.
        end: Where it ends along each axis, not included.
        strides: The steps; ones if None.
        begin_mask: Entries whose `begin` doesn't count: from the start.
        end_mask: Entries whose `end` doesn't count: to the end.
        ellipsis_mask: The entry that stands for all axes not mentioned.
        new_axis_mask: Entries that add an axis of size 1.
        shrink_axis_mask: Entries that take one index, and so drop the axis.
        var: The variable that `input_` was read from.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Raises:
        ValueError: If there is more than one ellipsis.

    Example:
        >>> sess.run(tf.strided_slice([1, 2, 3, 4, 5], [1], [5], [2]))
        array([2, 4], dtype=int32)
    """
    if strides is None:
        strides = ones_like(begin)
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    result = raw.StridedSlice(input=input_, begin=begin, end=end, strides=strides, name=name, **masks)
    parent_name = name

    def assign(value, name=None):
        """Write `value` into this slice of the variable."""
        if var is None:
            raise ValueError("Sliced assignment is only supported for variables")
        name = f"{parent_name}_assign" if name is None else name
        return var._strided_slice_assign(begin=begin, end=end, strides=strides, value=value, name=name, **masks)

    result.assign = assign
    return result


def resolved_axes(op, source):
    """The axes a StridedSlice-like op (inputs 1 to 3: begin, end, strides) reads of a static shape; None where not
    known.
    """
    counts = set()
    for t in op.inputs[1:4]:
        if t.shape.rank not in (None, 1):
            raise ValueError(f"Shape must be rank 1 but is rank {t.shape.rank}")
        counts.add(t.shape.size(0) if t.shape.rank is not None else None)
    if len(counts - {None}) > 1:
        raise ValueError("Expected begin, end, and strides to be 1D equal size tensors")
    begin, end, strides = (known_value(t) for t in op.inputs[1:4])
    if strides is None or source.rank is None:
        return None
    begin = None if begin is None else begin.tolist()
    end = None if end is None else end.tolist()
    return slicing.resolve(source.as_list(), begin, end, strides.tolist(), *(op.attrs[m] for m in slicing.MASKS))


@shape_rule("StridedSlice")
def _strided_slice_shape(op):
    axes = resolved_axes(op, op.inputs[0].shape)
    return None if axes is None else TensorShape(slicing.output_dims(axes))


@shape_rule("StridedSliceGrad")
def _strided_slice_grad_shape(op):
    op.inputs[0].shape.with_rank(1)
    return known_shape(op.inputs[0])


shape_rule("TensorStridedSliceUpdate")(like_first)


def _check_index(index):
    if isinstance(index, (numbers.Integral, Dimension)) and not isinstance(index, (bool, np.bool_)):
        return
    dtype = getattr(index, "dtype", None)
    if (
        dtype is None
        or dtypes.as_dtype(dtype).base_dtype not in (dtypes.int32, dtypes.int64)
        or (index.shape and len(index.shape) == 1)
    ):
        raise TypeError(
            f"Only integers, slices, ..., None (tf.newaxis) and scalar tensors of int32 or int64 index a tensor; got {index!r}"
        )


def _is_mask(spec):
    if isinstance(spec, Tensor):
        return spec.dtype.base_dtype == dtypes.bool
    return isinstance(spec, bool) or (isinstance(spec, np.ndarray) and spec.dtype == bool)


def _given(bound):
    return bound is not None and (isinstance(bound, Tensor) or bound != sys.maxsize)


def slice_helper(tensor, slice_spec, var=None):
    """`tensor[spec]`: integers, slices, `...`, `tf.newaxis`, scalar int tensors, or a boolean mask."""
    if _is_mask(slice_spec):
        return boolean_mask(tensor, slice_spec)
    if not isinstance(slice_spec, (list, tuple)):
        slice_spec = [slice_spec]
    begin, end, strides = [], [], []
    masks = dict.fromkeys(slicing.MASKS, 0)
    for i, entry in enumerate(slice_spec):
        bit = 1 << i
        first, last, stride = 0, 0, 1
        if isinstance(entry, slice):
            if _given(entry.start):
                _check_index(entry.start)
                first = entry.start
            else:
                masks["begin_mask"] |= bit
            if _given(entry.stop):
                _check_index(entry.stop)
                last = entry.stop
            else:
                masks["end_mask"] |= bit
            if entry.step is not None:
                _check_index(entry.step)
                stride = entry.step
        elif entry is Ellipsis:
            masks["ellipsis_mask"] |= bit
        elif entry is None:
            masks["new_axis_mask"] |= bit
        else:
            _check_index(entry)
            first, last = entry, entry + 1
            masks["shrink_axis_mask"] |= bit
        begin.append(first)
        end.append(last)
        strides.append(stride)
    with name_scope(None, "strided_slice", [tensor, *begin, *end, *strides]) as name:
        if begin:
            packed = [stack(begin), stack(end), stack(strides)]
            if any(p.dtype == dtypes.int64 for p in packed):
                packed = [cast_to(p, dtypes.int64) for p in packed]
        else:
            packed = [constant([], dtypes.int32)] * 3
        return strided_slice(tensor, *packed, var=var, name=name, **masks)


def slice_variable(variable, slice_spec):
    """`variable[spec]`: the slice of its value, whose `assign` writes into the variable."""
    return slice_helper(variable.value(), slice_spec, variable)


Tensor._override_operator("__getitem__", slice_helper)
