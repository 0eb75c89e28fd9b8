"""Ops that put tensors together, take them apart, or ask at which place an entry is, as expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from everflow.native.lowering import lowers
from everflow.native.values import BOOL, Value, const, index, join, select

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType


def _along(size: int, axis: int, rank: int, dtype: np.dtype) -> Value:
    """The numbers from 0 on, along one axis of a shape."""
    return index(size, dtype).reshape([size if a == axis else 1 for a in range(rank)])


# --- together, and apart --------------------------------------------------------------------------


def _joined(values: tuple[Value, ...], axis: int) -> Value | None:
    rank = len(values[0].shape)
    if not rank or not -rank <= axis < rank:
        return None
    return join(values, axis % rank)


@lowers("ConcatV2", known=(-1,))
def _lower_concat_v2(*inputs: Value) -> Value | None:
    return _joined(inputs[:-1], int(inputs[-1]))  # type: ignore[call-overload]  # which is known


@lowers("Concat", known=(0,))
def _lower_concat(axis: np.ndarray, *values: Value) -> Value | None:
    return _joined(values, int(axis))


@lowers("Pack")
def _lower_pack(*values: Value, axis: int) -> Value | None:
    shape = list(values[0].shape)
    if any(v.shape != values[0].shape for v in values) or not -len(shape) - 1 <= axis <= len(shape):
        return None
    axis %= len(shape) + 1
    return join([v.reshape([*shape[:axis], 1, *shape[axis:]]) for v in values], axis)


@lowers("Pad", known=(1,))
def _lower_pad(x: Value, paddings: np.ndarray) -> Value | None:
    return padded(x, paddings, const(0, x.dtype))


@lowers("PadV2", known=(1,))
def _lower_pad_v2(x: Value, paddings: np.ndarray, value: Value) -> Value | None:
    return None if value.shape else padded(x, paddings, value)


def padded(x: Value, paddings: np.ndarray, value: Value) -> Value | None:
    """A tensor with so many entries of a value before and after it along each axis."""
    if paddings.shape != (len(x.shape), 2) or (paddings < 0).any():
        return None
    for axis, widths in enumerate(paddings.tolist()):
        sides = [(*x.shape[:axis], n, *x.shape[axis + 1 :]) for n in widths]
        before, after = ([value.expand(s)] if n else [] for n, s in zip(widths, sides, strict=True))
        x = join([*before, x, *after], axis)
    return x


def _parts(x: Value, axis: int, sizes: list[int]) -> tuple[Value, ...]:
    made, at = [], 0
    for size in sizes:
        starts = [at if a == axis else 0 for a in range(len(x.shape))]
        made.append(x.slice(starts, [size if a == axis else n for a, n in enumerate(x.shape)]))
        at += size
    return tuple(made)


@lowers("Unpack")
def _lower_unpack(x: Value, *, axis: int, num: int) -> tuple[Value, ...]:
    axis %= len(x.shape)
    return tuple(p.reshape(p.shape[:axis] + p.shape[axis + 1 :]) for p in _parts(x, axis, [1] * num))


@lowers("Split", known=(0,))
def _lower_split(axis: np.ndarray, x: Value, *, num_split: int) -> tuple[Value, ...]:
    at = int(axis) % len(x.shape)
    return _parts(x, at, [x.shape[at] // num_split] * num_split)


@lowers("SplitV", known=(1, 2))
def _lower_split_v(x: Value, sizes: np.ndarray, axis: np.ndarray, *, num_split: int) -> tuple[Value, ...] | None:
    if (sizes <= 0).any():
        return None
    return _parts(x, int(axis) % len(x.shape), sizes.tolist())


@lowers("ReverseV2", known=(1,))
def _lower_reverse(x: Value, axes: np.ndarray) -> Value:
    turned = {a % len(x.shape) for a in axes.tolist()}
    starts = [n - 1 if a in turned else 0 for a, n in enumerate(x.shape)]
    return x.slice(starts, x.shape, [-1 if a in turned else 1 for a in range(len(x.shape))])


@lowers("Slice", known=(1, 2))
def _lower_slice(x: Value, begin: np.ndarray, size: np.ndarray, *, result_shape: tuple[int, ...]) -> Value:
    return x.slice(begin.tolist(), result_shape)


@lowers("Select")
def _lower_select(condition: Value, then: Value, otherwise: Value) -> Value | None:
    if condition.shape != then.shape:
        if len(condition.shape) > 1:
            return None
        condition = condition.reshape([condition.size, *[1] * (len(then.shape) - 1)])
    return select(condition, then, otherwise)


@lowers("SelectV2")
def _lower_select_v2(condition: Value, then: Value, otherwise: Value) -> Value:
    return select(condition, then, otherwise)


# --- places -----------------------------------------------------------------------------------------


@lowers("OneHot", known=(1,))
def _lower_one_hot(indices: Value, depth: np.ndarray, on: Value, off: Value, *, axis: int) -> Value | None:
    if on.shape or off.shape or indices.dtype.kind != "i":
        return None
    rank = len(indices.shape) + 1
    axis %= rank
    numbers = _along(int(depth), axis, rank, indices.dtype)
    at = indices.reshape([*indices.shape[:axis], 1, *indices.shape[axis:]])
    return select(at.equals(numbers), on, off)


@lowers("MatrixBandPart", "BatchMatrixBandPart", known=(1, 2))
def _lower_band(x: Value, lower: np.ndarray, upper: np.ndarray) -> Value | None:
    rank = len(x.shape)
    if rank < 2:
        return None
    rows, columns = x.shape[-2:]
    if lower > rows or upper > columns:
        return None
    row, column = (_along(x.shape[a], a, rank, np.dtype(np.int32)) for a in (rank - 2, rank - 1))
    kept = const(True, BOOL)
    if lower >= 0:
        kept = kept & (row - column <= int(lower))
    if upper >= 0:
        kept = kept & (column - row <= int(upper))
    return select(kept.expand(x.shape), x, 0)


def _position(x: Value, axis: int, least: bool, dtype: np.dtype) -> Value:
    """The first place of the largest entry along an axis; NaN is as small as can be."""
    if x.dtype.kind == "f":
        x = -x if least else x
        x = select(x.differs(x), -np.inf, x)
        best = x.reduce("peak", [axis], keep=True)
    else:
        best = x.reduce("min" if least else "max", [axis], keep=True)
    numbers = _along(x.shape[axis], axis, len(x.shape), np.dtype(np.int32)).expand(x.shape)
    return select(x.equals(best), numbers, x.shape[axis] - 1).reduce("min", [axis]).cast(dtype)


def _lower_position(op_type: str, least: bool) -> None:
    @lowers(op_type, known=(1,))
    def lowered(x: Value, axis: np.ndarray, *, output_type: DType) -> Value | None:
        if axis.shape or not -len(x.shape) <= axis < len(x.shape) or x.dtype.kind not in "fiu":
            return None
        return _position(x, int(axis) % len(x.shape), least, np.dtype(output_type.as_numpy_dtype))


_lower_position("ArgMax", False)
_lower_position("ArgMin", True)
