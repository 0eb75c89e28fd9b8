"""Repeating, padding and reordering along axes: pad, tile, transpose, reverse, roll."""

from __future__ import annotations

import numpy as np

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, unknown_shape
from everflow.framework.static_values import constant_value, known_shape, known_value
from everflow.ops.array.basic import either, known_ints, rank
from everflow.ops.array.joining import concat
from everflow.ops.array.ragged_rows import has_ragged_form


def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    """A tensor with `paddings[i] = [before, after]` elements added along each dimension.

    Args:
        tensor: The tensor.
        paddings: How many are added: [rank, 2].
        mode: `CONSTANT` adds `constant_values`, `REFLECT` mirrors without the edge, `SYMMETRIC` with it.
        name: The name of the operation in the graph.
        constant_values: What is added, a scalar.

    Returns:
        A larger tensor.

    Raises:
        ValueError: If the mode isn't known.

    Example:
        >>> sess.run(tf.pad([[1, 2], [3, 4]], [[0, 0], [1, 2]]))
        array([[0, 1, 2, 0, 0],
               [0, 3, 4, 0, 0]], dtype=int32)
        >>> sess.run(tf.pad([1, 2, 3], [[2, 0]], "REFLECT"))
        array([3, 2, 1, 2, 3], dtype=int32)
    """
    mode = mode.upper()
    if mode == "CONSTANT":
        if isinstance(constant_values, Tensor) or not np.isscalar(constant_values) or constant_values != 0:
            result = raw.PadV2(input=tensor, paddings=paddings, constant_values=constant_values, name=name)
        else:
            result = raw.Pad(input=tensor, paddings=paddings, name=name)
    elif mode in ("REFLECT", "SYMMETRIC"):
        result = raw.MirrorPad(input=tensor, paddings=paddings, mode=mode, name=name)
    else:
        raise ValueError(f"Unknown padding mode: {mode}")
    _set_partly_known_shape(result)
    return result


def _set_partly_known_shape(result):
    """Sizes along dimensions whose paddings are known, where others are not."""
    if result.shape.is_fully_defined():
        return
    source, pairs = result.op.inputs[0].shape, constant_value(result.op.inputs[1], partial=True)
    if source.rank is None or pairs is None:
        return
    sizes = []
    for pair, size in zip(pairs, source.as_list(), strict=False):
        known = pair is not None and size is not None and all(n is not None for n in pair)
        sizes.append(size + int(sum(pair)) if known else None)
    result.set_shape(sizes)


def _check_paddings(op):
    source, paddings = op.inputs[0].shape, op.inputs[1].shape
    if paddings.rank is not None:
        if paddings.rank != 2:
            raise ValueError(f"Shape must be rank 2 but is rank {paddings.rank}")
        if paddings.size(1) not in (None, 2):
            raise ValueError(f"Dimension must be 2 but is {paddings.size(1)}")
        if (
            source.rank is not None
            and paddings.size(0) not in (None, source.rank)
            and not (source.rank == 0 and paddings.size(0) == 1)
        ):
            raise ValueError(f"Shape must be rank {paddings.size(0)} but is rank {source.rank}")
        if source.rank is None and paddings.size(0) is not None:
            source = unknown_shape(paddings.size(0))
    return source, known_value(op.inputs[1])


def _resized_by_paddings(op, sign):
    source, pairs = _check_paddings(op)
    if pairs is None or source.rank is None:
        return unknown_shape(source.rank)
    out = []
    for i, (size, (before, after)) in enumerate(zip(source.as_list(), pairs.tolist(), strict=False)):
        if before < 0 or after < 0:
            raise ValueError("Paddings must be non-negative")
        if size is None:
            out.append(None)
            continue
        out.append(size + sign * (before + after))
        if out[-1] < 0:
            raise ValueError(f"Dimension {i} of size {size} is less than its paddings {before}, {after}")
    return TensorShape(out)


@shape_rule("Pad", "PadV2", "MirrorPad")
def _pad_shape(op):
    return _resized_by_paddings(op, 1)


@shape_rule("MirrorPadGrad")
def _mirror_pad_grad_shape(op):
    return _resized_by_paddings(op, -1)


@has_ragged_form
def tile(input, multiples, name=None):
    """A tensor repeated `multiples[i]` times along each dimension.

    Args:
        input: The tensor to work on.
        multiples: How often, for each axis.
        name: The name of the operation in the graph.

    Returns:
        A larger tensor.

    Example:
        >>> sess.run(tf.tile([[1, 2]], [2, 2]))
        array([[1, 2, 1, 2],
               [1, 2, 1, 2]], dtype=int32)
    """
    return raw.Tile(input=input, multiples=multiples, name=name)


def _with_rank_of_second(op, message):
    """The shape of the first input, whose dimensions are as many as the second has elements."""
    source, count = op.inputs[0].shape, op.inputs[1].shape
    if count.rank not in (None, 1):
        raise ValueError(f"Shape must be rank 1 but is rank {count.rank}")
    rank = count.size(0) if count.rank == 1 else None
    if rank is None:
        return source
    if source.rank not in (None, rank):
        raise ValueError(message.format(source.rank, rank))
    return source.with_rank(rank)


@shape_rule("Tile")
def _tile_shape(op):
    source = _with_rank_of_second(op, "Shape must be rank {} but is rank {}")
    if source.rank is None:
        return None
    times = known_shape(op.inputs[1])
    times = [None] * source.rank if times.rank is None else times.as_list()
    out = []
    for size, m in zip(source.as_list(), times, strict=True):
        out.append(0 if 0 in (size, m) else None if size is None or m is None else size * m)
    return TensorShape(out)


@shape_rule("TileGrad")
def _tile_grad_shape(op):
    source, times = op.inputs[0].shape, known_ints(op.inputs[1])
    if source.rank is None or times is None:
        return unknown_shape(source.rank)
    return TensorShape([None if s is None or m == 0 else s // m for s, m in zip(source.as_list(), times, strict=True)])


def transpose(a, perm=None, name="transpose", conjugate=False):
    """A tensor with its dimensions in another order, by default the opposite one.

    Args:
        a: The tensor.
        perm: The axes in their new order; the opposite one if None.
        name: The name of the operation in the graph.
        conjugate: Whether the elements are conjugated, too.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.transpose([[1, 2, 3], [4, 5, 6]]))
        array([[1, 4],
               [2, 5],
               [3, 6]], dtype=int32)
    """
    with name_scope(name, "transpose", [a]) as name:
        a = convert_to_tensor(a, name="a" if perm is None else "x")
        move = raw.ConjugateTranspose if conjugate and a.dtype.is_complex else raw.Transpose
        if perm is not None:
            return move(x=a, perm=perm, name=name)
        if a.shape.rank:
            return move(x=a, perm=np.arange(a.shape.rank - 1, -1, -1, dtype=np.int32), name=name)
        dimensions = raw.Rank(input=a)
        perm = raw.Sub(
            x=raw.Sub(x=dimensions, y=1, name="sub"), y=raw.Range(start=0, limit=dimensions, delta=1), name="sub"
        )
        return move(x=a, perm=perm, name=name)


def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """A tensor with its last two dimensions swapped.

    Args:
        a: Matrices: [..., n, m].
        name: The name of the operation in the graph.
        conjugate: Whether the elements are conjugated, too.

    Returns:
        Matrices [..., m, n].

    Raises:
        ValueError: If the rank is less than 2.

    Example:
        >>> sess.run(tf.matrix_transpose([[1, 2], [3, 4]]))
        array([[1, 3],
               [2, 4]], dtype=int32)
    """
    with name_scope(name, values=[a]):
        a = convert_to_tensor(a, name="a")
        dimensions = a.shape.rank
        if dimensions is not None:
            if dimensions < 2:
                raise ValueError(f"Matrices to transpose have at least two dimensions; 'a' has the shape {a.shape}")
            perm = [*range(dimensions - 2), dimensions - 1, dimensions - 2]
        else:
            dimensions = rank(a)
            lead = raw.Range(start=0, limit=raw.Sub(x=dimensions, y=2, name="sub"), delta=1)
            last = [raw.Sub(x=dimensions, y=1, name="sub"), raw.Sub(x=dimensions, y=2, name="sub")]
            perm = concat((lead, last), 0)
        return transpose(a, perm=perm, conjugate=conjugate)


@shape_rule("Transpose", "ConjugateTranspose")
def _transpose_shape(op):
    source = _with_rank_of_second(op, "Dimension must be {} but is {}")
    order = known_ints(op.inputs[1])
    if source.rank is None:
        return None
    sizes = source.as_list()
    if order is None:
        return unknown_shape(source.rank)
    for p in order:
        if not -source.rank <= p < source.rank:
            raise ValueError(f"perm dim {p} is out of range of input rank {source.rank}")
    return TensorShape([sizes[p] for p in order])


def reverse(tensor, axis, name=None):
    """A tensor turned around along these dimensions.

    Args:
        tensor: The tensor.
        axis: The axes, in a list.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.reverse([[1, 2], [3, 4]], [1]))
        array([[2, 1],
               [4, 3]], dtype=int32)
    """
    return raw.ReverseV2(tensor=tensor, axis=axis, name=name)


@shape_rule("ReverseV2")
def _reverse_v2_shape(op):
    source, axes = op.inputs[0].shape, op.inputs[1].shape
    if axes.rank not in (None, 1):
        raise ValueError(f"Shape must be rank 1 but is rank {axes.rank}")
    values = known_ints(op.inputs[1])
    if values is not None and source.rank is not None:
        seen = set()
        for a in values:
            if not -source.rank <= a < source.rank:
                raise ValueError(f"axis[{values.index(a)}] = {a} is out of valid range [{-source.rank}, {source.rank})")
            if a % source.rank in seen:
                raise ValueError(f"axis {a % source.rank} specified more than once.")
            seen.add(a % source.rank)
    return source


@shape_rule("Reverse")
def _reverse_shape(op):
    rank = op.inputs[1].shape.with_rank(1).size(0)
    return op.inputs[0].shape if rank is None else op.inputs[0].shape.with_rank(rank)


def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None):
    """Each batch entry with its first `seq_lengths[i]` steps turned around and the rest as it is.

    Args:
        input: The tensor to work on.
        seq_lengths: The length of each sequence.
        seq_axis: The axis of steps.
        batch_axis: The axis of sequences; 0 if None.
        name: The name of the operation in the graph.
        seq_dim: An older name of `seq_axis`.
        batch_dim: An older name of `batch_axis`.

    Returns:
        A tensor of the same shape.

    Raises:
        TypeError: If no axis of steps is given.
        ValueError: If both names of an argument are given.

    Example:
        >>> sess.run(tf.reverse_sequence([[1, 2, 3, 0], [4, 5, 0, 0]], [3, 2], seq_axis=1))
        array([[3, 2, 1, 0],
               [5, 4, 0, 0]], dtype=int32)
    """
    seq_axis = either("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = either("batch_axis", batch_axis, "batch_dim", batch_dim)
    if seq_axis is None:
        raise TypeError("Expected int for argument 'seq_dim' not None.")
    return raw.ReverseSequence(input=input, seq_lengths=seq_lengths, seq_dim=seq_axis, batch_dim=batch_axis, name=name)


@shape_rule("ReverseSequence")
def _reverse_sequence_shape(op):
    source, lengths = op.inputs[0].shape, op.inputs[1].shape.with_rank(1)
    if source.rank is None:
        return None
    batch, steps = op.attrs["batch_dim"], op.attrs["seq_dim"]
    if not -source.rank <= batch < source.rank:
        raise ValueError(f"batch_dim must be < input rank: {batch} vs. {source.rank}")
    if steps >= source.rank:
        raise ValueError(f"seq_dim must be < input rank: {steps} vs. {source.rank}")
    sizes = source.as_list()
    if sizes[batch] is None:
        sizes[batch] = lengths.size(0)
    elif lengths.size(0) not in (None, sizes[batch]):
        raise ValueError(f"Dimensions must be equal, but are {sizes[batch]} and {lengths.size(0)}")
    return TensorShape(sizes)


def roll(input, shift, axis, name=None):
    """A tensor whose elements are moved along dimensions, those that fall off the end coming in at the front.

    Args:
        input: The tensor to work on.
        shift: How far, for each axis.
        axis: The axis or axes.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.roll([1, 2, 3, 4], shift=1, axis=0))
        array([4, 1, 2, 3], dtype=int32)
    """
    return raw.Roll(input=input, shift=shift, axis=axis, name=name)


@shape_rule("Roll")
def _roll_shape(op):
    source, shift, axis = (t.shape for t in op.inputs)
    if source.rank is not None and source.rank < 1:
        raise ValueError(f"Shape must be at least rank 1 but is rank {source.rank}")
    for s in (shift, axis):
        if s.rank is not None and s.rank > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {s.rank}")
    shift.merge_with(axis)
    return source
