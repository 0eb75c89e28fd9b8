"""Gathers, scatters and updates of single rows as expressions: entries are taken from places that indices say, and put
there one after the other, so that a row that comes twice is changed twice, in order. Indices out of range are for the
kernels to name.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.kernels.training import DENSE_ONLY
from everflow.kernels.training_lowerings import RESOURCE_ONLY, ROW_RULES, RULES
from everflow.native.lowering import Lowered, lowers
from everflow.native.nests import contiguous
from everflow.native.values import Checked, Value, index, put, take

_I64 = np.dtype(np.int64)


def _places(shape: tuple[int, ...], axis: int, indices: Value) -> Value:
    """For each entry of the slices of a tensor at these indices of an axis: where it lies."""
    outer, inner = shape[:axis], shape[axis + 1 :]
    made = (*outer, *indices.shape, *inner)
    width = math.prod(inner)
    numbers = indices.reshape([*[1] * axis, *indices.shape, *[1] * len(inner)]).expand(made).cast(_I64)
    places = numbers * width if width > 1 else numbers
    if inner:
        places = places + index(width, _I64).reshape(inner)
    if outer:
        whole = index(math.prod(outer), _I64).reshape([*outer, *[1] * (len(made) - axis)])
        places = places + whole.expand(made) * (shape[axis] * width)
    return places


def _are_within(indices: Value, size: int) -> Value:
    numbers = indices.cast(_I64)
    return (numbers >= 0) & (numbers < size)


@lowers("Gather", checks=True)
def _lower_gather(table: Value, indices: Value) -> Lowered:
    return _gathered(table, indices, 0)


@lowers("GatherV2", known=(2,), checks=True)
def _lower_gather_v2(table: Value, indices: Value, axis: np.ndarray, *, batch_dims: int) -> Lowered:
    rank = len(table.shape)
    return None if batch_dims or not -rank <= int(axis) < rank else _gathered(table, indices, int(axis) % rank)


@lowers("ResourceGather", checks=True, reads=True)
def _lower_resource_gather(held: Value, indices: Value, *, batch_dims: int) -> Lowered:
    return None if batch_dims else _gathered(held, indices, 0)


def _gathered(table: Value, indices: Value, axis: int) -> Lowered:
    if not table.shape:
        return None
    taken = take(table, _places(table.shape, axis, indices))
    return Checked([taken], _are_within(indices, table.shape[axis]))


@lowers("GatherNd", checks=True)
@lowers("ResourceGatherNd", checks=True, reads=True)
def _lower_gather_nd(table: Value, indices: Value) -> Lowered:
    depth = indices.shape[-1] if indices.shape else 0
    if not 0 < depth <= len(table.shape):
        return None
    rows, conditions = None, None
    for axis, (size, stride) in enumerate(zip(table.shape, contiguous(table.shape[:depth]), strict=False)):
        part = indices.slice([*[0] * (len(indices.shape) - 1), axis], [*indices.shape[:-1], 1])
        number = part.reshape(indices.shape[:-1]).cast(_I64)
        is_within = _are_within(number, size)
        rows = number * stride if rows is None else rows + number * stride
        conditions = is_within if conditions is None else conditions & is_within
    assert rows is not None and conditions is not None
    flat = (math.prod(table.shape[:depth]), *table.shape[depth:])
    return Checked([take(table, _places(flat, 0, rows))], conditions)


# --- updates --------------------------------------------------------------------------------------


def _put(targets: list[Value], indices: Value, rule: Callable[..., Lowered]) -> Lowered:
    """What becomes of variables whose rows at some indices are changed: `rule` is told what they hold."""
    places = _places(targets[0].shape, 0, indices)
    results = rule(*(take(target, places, now=True) for target in targets))
    if results is None:
        return None
    values = results if isinstance(results, tuple) else (results,)
    return Checked(
        [put(target, places, value) for target, value in zip(targets, values, strict=True)],
        _are_within(indices, targets[0].shape[0]),
    )


_SCATTERS: dict[str, Callable[[Value, Value], Value]] = {
    "Add": lambda held, value: held + value,
    "Sub": lambda held, value: held - value,
    "Mul": lambda held, value: held * value,
    "Update": lambda held, value: value,
}


def _scatter(rule: Callable[[Value, Value], Value]) -> Callable[..., Lowered]:
    def lower(held: Value, indices: Value, updates: Value) -> Lowered:
        shape = (*indices.shape, *held.shape[1:])
        if not held.shape or updates.shape not in (shape, ()) or held.dtype.kind == "b":
            return None
        return _put([held], indices, lambda rows: rule(rows, updates.expand(shape)))

    return lower


def _sparse(rule: Callable[..., Lowered], count: int) -> Callable[..., Lowered]:
    """An optimizer's rule for rows: indices come behind the gradient."""
    names = list(inspect.signature(rule).parameters)
    gradient = next(i for i, name in enumerate(names) if name in ("grad", "delta"))

    def lower(*given: Any, **attributes: bool) -> Lowered:
        inputs = list(given)
        indices = inputs.pop(gradient + 1)
        var, grad = inputs[0], inputs[gradient]
        others = [v for i, v in enumerate(inputs) if i >= count and i != gradient]
        if var.dtype.kind != "f" or any(v.shape for v in others) or any(v.shape != var.shape for v in inputs[:count]):
            return None
        if not var.shape or len(indices.shape) != 1 or grad.shape != (*indices.shape, *var.shape[1:]):
            return None
        return _put(inputs[:count], indices, lambda *rows: rule(*rows, *inputs[count:], **attributes))

    lower.__signature__ = inspect.signature(rule)  # type: ignore[attr-defined]  # which says what attributes it wants
    return lower


def _register() -> None:
    for name, rule in _SCATTERS.items():
        lowers(f"Scatter{name}", f"ResourceScatter{name}", updates=True, checks=True)(_scatter(rule))
    for name in RULES.keys() - DENSE_ONLY:
        update, count, known = RULES[name]
        prefixes = ["Resource"] if name in RESOURCE_ONLY else ["", "Resource"]
        positions = tuple(position + 1 for position in known)  # all of them behind the gradient
        lowers(*[f"{p}SparseApply{name}" for p in prefixes], known=positions, updates=True, checks=True)(
            _sparse(ROW_RULES.get(name, update), count)
        )


_register()
