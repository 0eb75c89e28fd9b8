"""What a region computes: expressions over tensors of known types and shapes.

There are ten kinds: inputs, constants, the numbers 0, 1, 2..., element-wise functions (of operands of one shape), views
(the same numbers at other places), reductions, products of matrices, tensors put together of others, entries taken from
places that are computed, and inputs with entries put at such places. All that ops do is said in these, with Python's
operators:

    e = exp(x - x.reduce("max", [1]).expand(x.shape))

Equal expressions are one object, so that a region computes nothing twice.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

Shape = tuple[int, ...]
BOOL = np.dtype(bool)
INPUT, CONST, INDEX, MAP, VIEW, REDUCE, JOIN = "input", "const", "index", "map", "view", "reduce", "join"
TAKE, PUT, PRODUCT = "take", "put", "product"
LEAVES = (INPUT, CONST, INDEX)
# What is computed for each entry by itself.
ENTRIES = (MAP, TAKE)
# The kinds of views.
EXPAND, RESHAPE, PERMUTE, SLICE, WINDOWS = "expand", "reshape", "permute", "slice", "windows"


class Value:
    """A tensor. `detail` is what the kind needs to know: an input's number, a constant, a function's name, a view."""

    __slots__ = ("kind", "sources", "dtype", "shape", "detail", "__weakref__")

    kind: str
    sources: tuple[Value, ...]
    dtype: np.dtype
    shape: Shape
    detail: Any

    # --- arithmetic; operands of other shapes are broadcast, numbers take the type of the other side ----------

    def __add__(self, other: Operand) -> Value:
        return apply("add", self, other)

    def __radd__(self, other: Operand) -> Value:
        return apply("add", other, self)

    def __sub__(self, other: Operand) -> Value:
        return apply("sub", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return apply("sub", other, self)

    def __mul__(self, other: Operand) -> Value:
        return apply("mul", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return apply("mul", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return apply("div", self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return apply("div", other, self)

    def __neg__(self) -> Value:
        return apply("neg", self)

    def __lt__(self, other: Operand) -> Value:
        return apply("less", self, other)

    def __le__(self, other: Operand) -> Value:
        return apply("less_equal", self, other)

    def __gt__(self, other: Operand) -> Value:
        return apply("greater", self, other)

    def __ge__(self, other: Operand) -> Value:
        return apply("greater_equal", self, other)

    def __and__(self, other: Operand) -> Value:
        return apply("and", self, other)

    def __or__(self, other: Operand) -> Value:
        return apply("or", self, other)

    def __invert__(self) -> Value:
        return apply("not", self)

    def equals(self, other: Operand) -> Value:
        return apply("equal", self, other)

    def differs(self, other: Operand) -> Value:
        return apply("not_equal", self, other)

    def cast(self, dtype: np.dtype) -> Value:
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self
        if self.kind == CONST:
            return const(np.frombuffer(self.detail, self.dtype)[0], dtype)
        return _made(MAP, (self,), dtype, self.shape, "cast")

    # --- views ------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def expand(self, shape: Sequence[int]) -> Value:
        """Broadcast to a shape."""
        shape = tuple(shape)
        if shape == self.shape:
            return self
        if np.broadcast_shapes(self.shape, shape) != shape:
            raise ValueError(f"{list(self.shape)} can't be broadcast to {list(shape)}")
        return _made(VIEW, (self,), self.dtype, shape, (EXPAND,))

    def reshape(self, shape: Sequence[int]) -> Value:
        shape = tuple(shape)
        if shape == self.shape:
            return self
        if math.prod(shape) != self.size:
            raise ValueError(f"{list(self.shape)} can't be seen as {list(shape)}")
        source = self.sources[0] if self.kind == VIEW and self.detail[0] == RESHAPE else self
        if source.shape == shape:
            return source
        return _made(VIEW, (source,), self.dtype, shape, (RESHAPE,))

    def permute(self, axes: Sequence[int]) -> Value:
        axes = tuple(axes)
        if sorted(axes) != list(range(len(self.shape))):
            raise ValueError(f"{list(axes)} is no order of {len(self.shape)} axes")
        if axes == tuple(range(len(axes))):
            return self
        return _made(VIEW, (self,), self.dtype, tuple(self.shape[a] for a in axes), (PERMUTE, axes))

    def slice(self, starts: Sequence[int], shape: Sequence[int], steps: Sequence[int] | None = None) -> Value:
        """The numbers from `starts` on, `steps` apart."""
        starts, shape = tuple(starts), tuple(shape)
        steps = tuple(steps) if steps is not None else (1,) * len(starts)
        if shape == self.shape and not any(starts) and all(s == 1 for s in steps):
            return self
        for start, size, step, whole in zip(starts, shape, steps, self.shape, strict=True):
            if not (0 <= start < whole and 0 <= start + (size - 1) * step < whole):
                raise ValueError(f"{size} entries from {start} on, {step} apart, are not within {whole}")
        return _made(VIEW, (self,), self.dtype, shape, (SLICE, starts, steps))

    def windows(self, extents: Sequence[int], steps: Sequence[int], spread: Sequence[int]) -> Value:
        """All windows of images [n, height, width, channels], `steps` apart, whose cells are `spread` apart:
        [n, windows down, windows across, cells down, cells across, channels].
        """
        n, height, width, channels = self.shape
        counts = [
            (size - 1 - (extent - 1) * apart) // step + 1
            for size, extent, step, apart in zip((height, width), extents, steps, spread, strict=True)
        ]
        if min(counts) < 1:
            raise ValueError(f"there are no windows of {list(extents)} in {list(self.shape)}")
        shape = (n, *counts, *extents, channels)
        return _made(VIEW, (self,), self.dtype, shape, (WINDOWS, tuple(steps), tuple(spread)))

    # --- reductions -------------------------------------------------------------------------------

    def reduce(self, how: str, axes: Sequence[int], keep: bool = False) -> Value:
        """`how`: sum, prod, max, min, any, all. Reduced axes go, or stay with one entry if `keep`.

        NaN is passed over by max and min, but for where there is nothing else; "peak" of floats is the maximum, and
        minus infinity there, which is quicker found.
        """
        if how in ("max", "min") and self.dtype.kind == "f" and len(axes):
            return self._extreme(how == "min", axes, keep)
        reduced = frozenset(a % len(self.shape) for a in axes)
        shape = tuple(n for a, n in enumerate(self.shape) if a not in reduced)
        made = self if not reduced else _made(REDUCE, (self,), self.dtype, shape, (how, tuple(sorted(reduced))))
        return made.reshape([1 if a in reduced else n for a, n in enumerate(self.shape)]) if keep else made

    def _extreme(self, least: bool, axes: Sequence[int], keep: bool) -> Value:
        peak = (-self if least else self).reduce("peak", axes, keep)
        has_number = self.equals(self).cast(np.dtype(np.int32)).reduce("max", axes, keep) > 0
        return select(has_number, -peak if least else peak, math.nan)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.detail} {self.dtype}{list(self.shape)}>"


Operand = Value | int | float | bool

# Functions whose result is a truth value.
TESTS = frozenset(
    ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "is_nan", "is_inf", "is_finite"]
)

_all: weakref.WeakValueDictionary[tuple, Value] = weakref.WeakValueDictionary()


def _made(kind: str, sources: tuple[Value, ...], dtype: np.dtype, shape: Shape, detail: Any) -> Value:
    key = (kind, sources, dtype, shape, detail)
    found = _all.get(key)
    if found is None:
        found = Value()
        found.kind, found.sources, found.dtype, found.shape, found.detail = key
        _all[key] = found
    return found


def input_value(number: int, dtype: np.dtype, shape: Sequence[int]) -> Value:
    """The region's input of this number."""
    return _made(INPUT, (), np.dtype(dtype), tuple(shape), number)


def const(number: Any, dtype: np.dtype) -> Value:
    """A scalar that is known, kept as its bits: zeros of both signs differ, and NaN is like itself."""
    dtype = np.dtype(dtype)
    return _made(CONST, (), dtype, (), np.asarray(number).astype(dtype).tobytes())


def index(size: int, dtype: np.dtype) -> Value:
    """The numbers from 0 on."""
    return _made(INDEX, (), np.dtype(dtype), (size,), None)


def join(parts: Sequence[Value], axis: int) -> Value:
    """Tensors side by side along an axis."""
    first = parts[0]
    sizes = {p.shape[:axis] + p.shape[axis + 1 :] for p in parts}
    if len(sizes) > 1 or any(p.dtype != first.dtype for p in parts):
        raise ValueError(f"{list(parts)} can't stand side by side along axis {axis}")
    if len(parts) == 1:
        return first
    shape = (*first.shape[:axis], sum(p.shape[axis] for p in parts), *first.shape[axis + 1 :])
    return _made(JOIN, tuple(parts), first.dtype, shape, axis)


def take(table: Value, places: Value, *, now: bool = False) -> Value:
    """The entries of a tensor at places, which count them in their order in memory. `now`: of an input that entries are
    put into, as it is when it is their turn.
    """
    while table.kind == VIEW and table.detail[0] == RESHAPE:
        table = table.sources[0]
    if table.kind in (CONST, INDEX):
        raise ValueError(f"{table} is not in memory")
    return _made(TAKE, (table, places), table.dtype, places.shape, now)


def put(target: Value, places: Value, values: Value) -> Value:
    """An input with values put at places, one after the other; for updates only, alone with its target."""
    if target.kind != INPUT:
        raise ValueError(f"{target} is not in memory")
    return _made(PUT, (target, places, values.expand(places.shape)), target.dtype, target.shape, None)


def product(a: Value, b: Value) -> Value:
    """The product of two matrices of floats, or of as many of them as leading axes say, by the BLAS."""
    fit = len(a.shape) == len(b.shape) >= 2 and a.shape[:-2] == b.shape[:-2] and a.shape[-1] == b.shape[-2]
    if a.dtype != b.dtype or a.dtype.kind != "f" or not fit:
        raise ValueError(f"{a} and {b} have no product")
    return _made(PRODUCT, (a, b), a.dtype, (*a.shape[:-1], b.shape[-1]), None)


def number_of(value: Value) -> Any:
    """The number of a constant, as Python's own."""
    return np.frombuffer(value.detail, value.dtype)[0].item()


def copy_of(value: Value) -> Value:
    """A value that is computed: of what is at hand anyway, a view of all of it."""
    return value.reshape([1, *value.shape]) if value.kind in LEAVES else value


class Checked(tuple):
    """Results of an op that hold only where a condition does, for all of its entries; else the kernel is to be asked."""

    condition: Value

    def __new__(cls, results: Sequence[Value], condition: Value) -> Checked:
        made = super().__new__(cls, results)
        made.condition = condition
        return made


def apply(function: str, *operands: Operand) -> Value:
    """An element-wise function. Operands are broadcast; plain numbers take the type of the first tensor."""
    like = next(o for o in operands if isinstance(o, Value))
    values = [o if isinstance(o, Value) else const(o, like.dtype) for o in operands]
    shape = np.broadcast_shapes(*(v.shape for v in values))
    dtype = BOOL if function in TESTS else values[-1].dtype
    return _made(MAP, tuple(v.expand(shape) for v in values), dtype, shape, function)


def mapped(function: str, operands: Sequence[Value], dtype: np.dtype) -> Value:
    """An element-wise function of operands of one shape, with results of another type."""
    return _made(MAP, tuple(operands), dtype, operands[0].shape, function)


def select(condition: Value, then: Operand, otherwise: Operand) -> Value:
    """`then` where the condition holds, else `otherwise`; at least one of them is a tensor."""
    dtype = next(o.dtype for o in (then, otherwise) if isinstance(o, Value))
    sides = (o if isinstance(o, Value) else const(o, dtype) for o in (then, otherwise))
    return apply("select", condition, *sides)
