"""Joining and splitting tensors: stack, concat, split, and their like."""

from __future__ import annotations

import numbers

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import Dimension, TensorShape, unknown_shape
from everflow.ops.array.basic import expand_dims, identity, known_int, known_ints
from everflow.ops.array.ragged_rows import has_ragged_form, looks_for_ragged, ragged_form


@looks_for_ragged
def stack(values, axis=0, name="stack"):
    """Tensors of one shape joined along a new dimension.

    Args:
        values: The tensors.
        axis: Where the new axis is put.
        name: The name of the operation in the graph.

    Returns:
        A tensor with one axis more.

    Raises:
        ValueError: If the axis is out of range, or shapes differ.

    Example:
        >>> sess.run(tf.stack([[1, 2], [3, 4]], axis=1))
        array([[1, 3],
               [2, 4]], dtype=int32)
    """
    if isinstance(values, (list, tuple)) and (form := ragged_form("stack", *values)):
        return form(values, axis, None if name == "stack" else name)
    # A list with Dimensions in it is no constant of a known type in TensorFlow; each becomes one of its own.
    if axis == 0 and not (isinstance(values, (list, tuple)) and any(isinstance(v, Dimension) for v in values)):
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass  # parts that only fit when stacked by the op
    rank = convert_to_tensor(values[0], name=name).shape.rank
    if rank is not None and not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis = {axis} not in [{-rank - 1}, {rank + 1})")
    return raw.Pack(values=values, axis=axis, name=name)


def unstack(value, num=None, axis=0, name="unstack") -> list[Tensor]:
    """The list of a tensor's slices along a dimension, without that dimension.

    Args:
        value: The tensor.
        num: How many slices there are, where that can't be seen.
        axis: The axis to work along; negative ones count from the last.
        name: The name of the operation in the graph.

    Returns:
        A list of tensors with one axis less.

    Raises:
        ValueError: If the number of slices can't be seen.

    Example:
        >>> sess.run(tf.unstack([[1, 2], [3, 4]]))
        [array([1, 2], dtype=int32), array([3, 4], dtype=int32)]
    """
    if num is None:
        value = convert_to_tensor(value)
        rank = value.shape.rank
        if rank is not None:
            if not -rank <= axis < rank:
                raise ValueError(f"axis = {axis} not in [{-rank}, {rank})")
            num = value.shape.size(axis)
        if num is None:
            raise ValueError(f"Cannot infer num from shape {value.shape}")
    made = raw.Unpack(value=value, num=num, axis=axis, name=name)
    return made if num else []  # an operation without outputs stays in the graph


def parallel_stack(values, name="parallel_stack"):
    """As `stack` along the first dimension, for fully known shapes; parts are copied as they arrive.

    Args:
        values: The tensors, of one shape that is known.
        name: The name of the operation in the graph.

    Returns:
        A tensor with one axis more.

    Example:
        >>> sess.run(tf.parallel_stack([[1, 2], [3, 4]]))
        array([[1, 2],
               [3, 4]], dtype=int32)
    """
    with name_scope(name):
        first = convert_to_tensor(values[0])
        whole = TensorShape([len(values)]).concatenate(first.shape)
        return raw.ParallelConcat(values=[expand_dims(value, 0) for value in values], shape=whole)


@shape_rule("Pack")
def _pack_shape(op):
    merged = unknown_shape()
    for t in op.inputs:
        merged = merged.merge_with(t.shape)
    if merged.rank is None:
        return None
    axis = op.attrs["axis"]
    if not -merged.rank - 1 <= axis <= merged.rank:
        raise ValueError(f"Axis must be in the range [{-merged.rank - 1}, {merged.rank + 1})")
    sizes = merged.as_list()
    sizes.insert(axis if axis >= 0 else axis + merged.rank + 1, len(op.inputs))
    return TensorShape(sizes)


@shape_rule("Unpack")
def _unpack_shape(op):
    source, axis = op.inputs[0].shape, op.attrs["axis"]
    if source.rank is None:
        return [None] * len(op.outputs)
    if not -source.rank <= axis < source.rank:
        raise ValueError(f"axis = {axis} not in [{-source.rank}, {source.rank})")
    sizes = source.as_list()
    if sizes.pop(axis) not in (None, op.attrs["num"]):
        raise ValueError(f"Dimension must be {op.attrs['num']} but is {source.as_list()[axis]}")
    return [TensorShape(sizes)] * len(op.outputs)


@shape_rule("ParallelConcat")
def _parallel_concat_shape(op):
    shape = op.attrs["shape"]
    if not shape.is_fully_defined():
        raise ValueError("shape attr must be fully defined.")
    return shape


@has_ragged_form
def concat(values, axis, name="concat"):
    """Tensors joined along a dimension they have.

    Args:
        values: The tensors; they differ along this axis only.
        axis: The axis.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Raises:
        ValueError: If there are no tensors, or shapes don't fit.

    Example:
        >>> sess.run(tf.concat([[[1, 2]], [[3, 4], [5, 6]]], axis=0))
        array([[1, 2],
               [3, 4],
               [5, 6]], dtype=int32)
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            axis = convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32)
            if axis.shape.rank not in (None, 0):
                raise ValueError(
                    f"The axis must have rank 0, not shape {axis.shape}: the order is tf.concat(values, axis)."
                )
            return identity(values[0], name=name)
    return raw.ConcatV2(values=values, axis=axis, name=name)


def joined_shape(parts, axis):
    """The static shape of parts joined along an axis that may be unknown."""
    rank = next((p.rank for p in parts if p.rank is not None), None)
    if rank is None:
        return unknown_shape()
    for p in parts:
        if p.rank not in (None, rank):
            raise ValueError(f"Shape must be rank {rank} but is rank {p.rank}")
    if axis is None:
        return unknown_shape(rank)
    if not -max(rank, 1) <= axis < max(rank, 1):
        raise ValueError(f"Expected concatenating dimensions in the range [{-rank}, {rank}), but got {axis}")
    if rank == 0:
        raise ValueError("Can't concatenate scalars (use tf.stack instead)")
    axis %= rank
    total, merged = 0, None
    for p in parts:
        sizes = p.as_list() if p.rank is not None else [None] * rank
        total = None if total is None or sizes[axis] is None else total + sizes[axis]
        sizes[axis] = None
        merged = TensorShape(sizes) if merged is None else _merged(merged, TensorShape(sizes))
    sizes = merged.as_list()
    sizes[axis] = total
    return TensorShape(sizes)


def _merged(first, second):
    for i, (a, b) in enumerate(zip(first.as_list(), second.as_list(), strict=True)):
        if a is not None and b is not None and a != b:
            raise ValueError(
                f"Dimension {i} in both shapes must be equal, but are {a} and {b}. Shapes are {first} and {second}."
            )
    return first.merge_with(second)


@shape_rule("ConcatV2")
def _concat_v2_shape(op):
    return joined_shape([t.shape for t in op.inputs[:-1]], _axis(op.inputs[-1]))


@shape_rule("Concat")
def _concat_shape(op):
    return joined_shape([t.shape for t in op.inputs[1:]], _axis(op.inputs[0]))


def _axis(tensor):
    if tensor.shape.rank not in (None, 0):
        raise ValueError(f"Shape must be rank 0 but is rank {tensor.shape.rank}")
    return known_int(tensor)


@shape_rule("QuantizedConcat")
def _quantized_concat_shape(op):
    parts = [t.shape for t in op.inputs[1 : 1 + op.attrs["N"]]]
    return [joined_shape(parts, _axis(op.inputs[0])), TensorShape([]), TensorShape([])]


@shape_rule("ConcatOffset")
def _concat_offset_shape(op):
    return [t.shape for t in op.inputs[1:]]


def quantized_concat(concat_dim, values, input_mins, input_maxes, name=None):
    """Quantised tensors joined; returns the result and the range it covers.

    Args:
        concat_dim: The axis.
        values: The quantised tensors.
        input_mins: The lowest number of each.
        input_maxes: The highest number of each.
        name: The name of the operation in the graph.

    Returns:
        The quantised tensor, and the lowest and highest number of its range.

    Example:
        >>> a, low, high = tf.quantize([0.0, 1.0], 0.0, 1.0, tf.quint8)
        >>> sess.run(tf.quantized_concat(0, [a, a], [low, low], [high, high]))[0]
        array([  0, 255,   0, 255], dtype=uint8)
    """
    return raw.QuantizedConcat(
        concat_dim=concat_dim, values=values, input_mins=input_mins, input_maxes=input_maxes, name=name
    )


def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """A list of parts along a dimension: so many equal ones, or of the sizes given (one of which may be -1).

    Args:
        value: The tensor.
        num_or_size_splits: How many equal parts, or a list of sizes, one of which may be -1.
        axis: The axis to work along; negative ones count from the last.
        num: How many parts there are, where that can't be seen.
        name: The name of the operation in the graph.

    Returns:
        A list of tensors.

    Raises:
        ValueError: If the number of parts can't be seen.

    Example:
        >>> sess.run(tf.split([1, 2, 3, 4, 5, 6], 3))
        [array([1, 2], dtype=int32), array([3, 4], dtype=int32), array([5, 6], dtype=int32)]
        >>> sess.run(tf.split([1, 2, 3, 4, 5, 6], [1, -1]))
        [array([1], dtype=int32), array([2, 3, 4, 5, 6], dtype=int32)]
    """
    size_splits = convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (numbers.Integral, Dimension)):
        return raw.Split(split_dim=axis, value=value, num_split=int(num_or_size_splits), name=name)
    if size_splits.shape.rank == 0:
        raise ValueError(
            f"num_or_size_splits is a scalar tensor, {num_or_size_splits}: give a Python number of parts, or a vector of their sizes"
        )
    if num is None:
        num = size_splits.shape.size(0) if size_splits.shape.rank is not None else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return raw.SplitV(value=value, size_splits=size_splits, split_dim=axis, num_split=num, name=name)


def _split_axis(tensor, source):
    axis = _axis(tensor)
    if axis is None or source.rank is None:
        return None
    if not -source.rank <= axis < source.rank:
        raise ValueError(f"Dimension index {axis} out of range for a tensor of rank {source.rank}")
    return axis % source.rank


@shape_rule("Split")
def _split_shape(op):
    source, count = op.inputs[1].shape, op.attrs["num_split"]
    axis = _split_axis(op.inputs[0], source)
    if axis is None:
        return [unknown_shape(source.rank)] * count
    sizes = source.as_list()
    if sizes[axis] is not None:
        if sizes[axis] % count:
            raise ValueError(f"Dimension size must be evenly divisible by {count} but is {sizes[axis]}")
        sizes[axis] //= count
    return [TensorShape(sizes)] * count


@shape_rule("SplitV")
def _split_v_shape(op):
    source, count = op.inputs[0].shape, op.attrs["num_split"]
    if op.inputs[1].shape.rank not in (None, 1):
        raise ValueError(f"Shape must be rank 1 but is rank {op.inputs[1].shape.rank}")
    axis, lengths = _split_axis(op.inputs[2], source), known_ints(op.inputs[1])
    if lengths is not None and len(lengths) != count:
        raise ValueError(f"Length of size_splits should be equal to num_outputs, {len(lengths)} != {count}")
    if axis is None:
        return [source if count == 1 else unknown_shape(source.rank)] * count
    sizes = source.as_list()
    if lengths is None:
        if count == 1:
            return [source]
        sizes[axis] = None
        return [TensorShape(sizes)] * count
    total, known = sizes[axis], sum(n for n in lengths if n != -1)
    if lengths.count(-1) > 1:
        raise ValueError("size_splits can only have one -1")
    if total is not None:
        if -1 in lengths:
            if known > total:
                raise ValueError(f"sum of size_splits is {known} but the dimension is {total}")
            lengths = [total - known if n == -1 else n for n in lengths]
        elif known != total:
            raise ValueError(
                f"Sum of output sizes must match the size of the original Tensor along the split dimension: {known} != {total}"
            )
    return [TensorShape([*sizes[:axis], n if n != -1 else None, *sizes[axis + 1 :]]) for n in lengths]
