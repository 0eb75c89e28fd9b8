"""From expressions to loop nests: what is computed in one pass over memory.

A nest goes once through all places of one shape and computes there whatever it can: values of that shape that have all
they need, and reductions of such. Only what others need is stored. Nests run one after the other, by levels: a nest
of a level takes what those of lower levels stored. What is put together of parts is never computed by itself: each part
is stored where it belongs. Products are no nests, but have their place among them. What is put into inputs comes last,
one entry after the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from everflow.native.values import (
    ENTRIES,
    EXPAND,
    INPUT,
    JOIN,
    LEAVES,
    PERMUTE,
    PRODUCT,
    PUT,
    REDUCE,
    RESHAPE,
    SLICE,
    TAKE,
    VIEW,
    WINDOWS,
    Shape,
    Value,
)


@dataclass(frozen=True, slots=True)
class Access:
    """Where a value lies: in a buffer, from `offset` on, with a stride for each of its axes (all in entries)."""

    base: Value
    offset: int
    strides: tuple[int, ...]


@dataclass(slots=True, frozen=True)
class Touch:
    """Entries of some memory that a nest reads or writes at one place of its first loop: `low` to `high`, and so many
    further for each place.
    """

    memory: Value
    is_written: bool
    stride: int
    low: int
    high: int

    def within_row(self, places: int) -> int | None:
        """Entries from row to row, where a row is so many places and holds all that is touched for it; else None."""
        row, reach = places * self.stride, (places - 1) * self.stride
        return row if 0 <= self.low and self.high + reach < row else None


@dataclass(slots=True, eq=False)
class Nest:
    """One pass over a shape. `axes` are those that its reductions reduce."""

    shape: Shape
    axes: tuple[int, ...]
    stores: list[Value] = field(default_factory=list)
    reductions: list[Value] = field(default_factory=list)
    puts: list[Value] = field(default_factory=list)


# What is stored in any case.
_STORED = (REDUCE, JOIN, PRODUCT)


def contiguous(shape: Shape) -> tuple[int, ...]:
    """The strides of a shape whose entries lie one after the other."""
    strides = list(itertools.accumulate(reversed(shape[1:]), lambda a, b: a * b, initial=1))
    return tuple(reversed(strides)) if shape else ()


@dataclass(slots=True)
class Schedule:
    """The nests and products that compute some values, in order, the values that are stored (outputs, and what lies
    between), and those of them that lie within another one.
    """

    nests: list[Nest | Value]
    stored: set[Value]
    within: dict[Value, Access]


def scheduled(outputs: list[Value]) -> Schedule:
    """How some values are computed."""
    made = _Scheduler(outputs)
    return Schedule(made.nests(), made.stored, made.within)


class _Scheduler:
    def __init__(self, outputs: list[Value]) -> None:
        self.order: list[Value] = []
        self.within: dict[Value, Access] = {}
        self._parts: dict[Value, list[Value]] = {}  # of each joined value
        wanted = sources_first(outputs)
        self._taken = set(wanted)
        tables = {v.sources[0] for v in wanted if v.kind == TAKE and v.sources[0].kind != INPUT}
        self._seen = {s for v in wanted if v.kind == VIEW for s in v.sources} | set(outputs) | tables
        for value in wanted:
            if value.kind == JOIN:
                self._place_parts(value)
            self.order.append(value)
        self.stored = {v for v in self.order if v.kind in _STORED} | {v for v in outputs if v.kind not in LEAVES}
        self.stored |= self.within.keys() | tables
        for value in self.order:
            if value.kind == VIEW and (value.sources[0].kind in ENTRIES or not _is_located(value, self.stored)):
                self.stored.add(value.sources[0])  # no strides lead there: it is written down first
        self._loaded = self._turned_in_sums()
        self.stored |= self._loaded
        self._store_factors()
        self.levels: dict[Value, int] = {}
        for value in self.order:
            if value.kind == VIEW:
                self.levels[value] = self._after(value)
            elif value.kind == JOIN:
                self.levels[value] = max(self.levels[part] for part in self._parts[value])
            elif value.kind == TAKE:
                table, places = value.sources
                self.levels[value] = max(self._ready(places), 0 if table.kind == INPUT else self.levels[table] + 1)
            elif value.kind == PRODUCT:
                self.levels[value] = max(map(self._complete, value.sources))
            else:
                self.levels[value] = max((self._ready(s) for s in value.sources), default=0)

    def _turned_in_sums(self) -> set[Value]:
        """What reductions go through that has entries in reverse among its sources: a pass of its own writes it down,
        so that sums go along memory, in whole vectors.
        """
        turned: set[Value] = set()
        written: set[Value] = set()
        for value in self.order:
            is_view = value.kind == VIEW
            if is_view and value.detail[0] == SLICE and min(value.detail[2], default=1) < 0:
                turned.add(value)
            elif is_view or value.kind in ENTRIES:
                if not turned.isdisjoint(s for s in value.sources if s not in self.stored and s not in written):
                    turned.add(value)
            elif value.kind == REDUCE and value.sources[0] in turned and value.sources[0].kind in ENTRIES:
                written.add(value.sources[0])
        return written

    def _store_factors(self) -> None:
        """Have what products multiply stored, and what the BLAS does not know as a matrix stored anew."""
        factors = {s for v in self.order if v.kind == PRODUCT for s in v.sources}
        self.stored |= {s for s in factors if s.kind in ENTRIES}
        while True:
            odd = {
                s
                for s in factors - self.stored
                if s.kind == VIEW and as_matrix(located(s, self.stored), s.shape) is None
            }
            if not odd:
                return
            self.stored |= odd

    def _place_parts(self, joined: Value) -> None:
        """Have the parts of a value stored where they belong: themselves, where nobody wants to look at them in another
        way, or copies of them.
        """
        offset, strides = 0, contiguous(joined.shape)
        for part in joined.sources:
            placed = part
            if part.kind not in ENTRIES or part in self._seen or part in self.within:
                placed = _another(part, self._taken)
                self._taken.add(placed)
                self.order.append(placed)
            extra = len(placed.shape) - len(strides)
            self.within[placed] = Access(joined, offset, (0,) * extra + strides)
            self._parts.setdefault(joined, []).append(placed)
            offset += part.shape[joined.detail] * strides[joined.detail]

    def _ready(self, source: Value) -> int:
        """The first level whose nests can use a value: its own, where it is at hand; the next, where it is loaded."""
        is_loaded = source.kind in _STORED or (source.kind == VIEW and source in self.stored)
        return self.levels[source] + (is_loaded or source in self._loaded)

    def _after(self, view: Value) -> int:
        """The first level at which all that a view shows is stored."""
        base = located(view, self.stored, beyond=True).base
        return 0 if base.kind in LEAVES else self.levels[base] + 1

    def _complete(self, value: Value) -> int:
        """The first level at which all of a value is in memory."""
        if value.kind in LEAVES or (value.kind == VIEW and value not in self.stored):
            return self.levels[value]
        return self.levels[value] + 1

    def nests(self) -> list[Nest | Value]:
        """The nests and products in order, which complete what is stored."""
        # All reductions of one shape and level that reduce the same axes are one nest; the first of them stores, too.
        first: dict[tuple[int, Shape], Nest] = {}
        others: dict[tuple[int, Shape, tuple[int, ...]], Nest] = {}
        nest_of: dict[Value, Nest] = {}
        for value in self.order:
            if value.kind == REDUCE:
                level, shape, axes = self.levels[value], value.sources[0].shape, value.detail[1]
                nest = first.setdefault((level, shape), Nest(shape, axes))
                if nest.axes != axes:
                    nest = others.setdefault((level, shape, axes), Nest(shape, axes))
                nest.reductions.append(value)
                nest_of[value] = nest
        puts: dict[Shape, Nest] = {}
        for value in self.order:
            if value.kind == PUT:
                nest_of[value] = nest = puts.setdefault(value.sources[1].shape, Nest(value.sources[1].shape, ()))
                nest.puts.append(value)
        # From the last value to the first: which nests need it? What several need is stored by its own.
        needed: dict[Value, dict[Nest, None]] = {v: {} for v in self.order}
        for value in reversed(self.order):
            is_shared = value.kind in ENTRIES and len(needed[value]) > 1
            if value.kind in (*ENTRIES, VIEW) and (value in self.stored or is_shared):
                self.stored.add(value)
                nest_of[value] = first.setdefault((self.levels[value], value.shape), Nest(value.shape, ()))
            if value.kind not in (VIEW, JOIN, PRODUCT):
                inside = {nest_of[value]: None} if value in nest_of else needed[value]
                for source in value.sources:
                    needed[source].update(inside)
        for value in self.order:
            if value in nest_of and value.kind not in (REDUCE, PUT):
                nest_of[value].stores.append(value)
        ordered: list[tuple[int, int, Nest | Value]] = [(level, 0, nest) for (level, _), nest in first.items()]
        ordered += [(level, 1, nest) for (level, _, _), nest in others.items()]
        ordered += [(self.levels[v], 2, v) for v in self.order if v.kind == PRODUCT]
        return [nest for _, _, nest in sorted(ordered, key=lambda entry: entry[:2])] + list(puts.values())


def _another(value: Value, taken: Container[Value]) -> Value:
    """A view of all of a value that is not taken yet."""
    shape = (1, *value.shape)
    while (made := value.reshape(shape)) in taken:
        shape = (1, *shape)
    return made


def sources_first(outputs: list[Value]) -> list[Value]:
    """All values that some depend on, and these, each after its sources."""
    order: dict[Value, None] = {}
    left = [(v, False) for v in reversed(outputs)]
    while left:
        value, is_ready = left.pop()
        if value in order:
            continue
        if is_ready:
            order[value] = None
        else:
            left.append((value, True))
            left += [(s, False) for s in reversed(value.sources) if s not in order]
    return list(order)


def _is_located(view: Value, stored: set[Value]) -> bool:
    try:
        located(view, stored, beyond=True)
    except ValueError:
        return False
    return True


def located(
    value: Value, stored: set[Value], *, beyond: bool = False, within: Mapping[Value, Access] | None = None
) -> Access:
    """Where a value can be loaded from: views are followed to what is stored, and `beyond` the value itself; `within`
    says what lies in something else.
    """
    chain = []
    while value.kind == VIEW and (beyond or value not in stored):
        chain.append(value)
        value = value.sources[0]
        beyond = False
    start = (within or {}).get(value) or Access(value, 0, contiguous(value.shape))
    offset, shape, strides = start.offset, value.shape, start.strides
    for view in reversed(chain):
        how, *rest = view.detail
        if how == EXPAND:
            missing = len(view.shape) - len(shape)
            strides = (0,) * missing + tuple(0 if n == 1 else s for n, s in zip(shape, strides, strict=True))
        elif how == PERMUTE:
            strides = tuple(strides[a] for a in rest[0])
        elif how == RESHAPE:
            strides = _reshaped(shape, strides, view.shape)
        elif how == WINDOWS:
            (outer, down, across, inner), (steps, apart) = strides, rest
            moves = [down * steps[0], across * steps[1], down * apart[0], across * apart[1]]
            strides = (outer, *moves, inner)
        else:
            starts, steps = rest
            offset += sum(a * s for a, s in zip(starts, strides, strict=True))
            strides = tuple(a * s for a, s in zip(steps, strides, strict=True))
        shape = view.shape
    return Access(start.base, offset, strides)


def as_matrix(access: Access, shape: Shape) -> tuple[int, bool] | None:
    """A matrix, the last two axes of a shape, as the BLAS knows it: entries from row to row, and whether that is meant
    transposed; None, where it is neither.
    """
    if access.base.kind in LEAVES and access.base.kind != INPUT:
        return None
    (rows, columns), (down, right) = shape[-2:], access.strides[-2:]
    if (right == 1 or columns == 1) and (down >= columns or rows == 1):
        return max(down, columns), False
    if (down == 1 or rows == 1) and (right >= rows or columns == 1):
        return max(right, rows), True
    return None


def _reshaped(shape: Shape, strides: tuple[int, ...], new: Shape) -> tuple[int, ...]:
    """The strides of the same entries under another shape; a ValueError where there are none."""
    if math.prod(shape) == 0:
        return (0,) * len(new)
    # Axes that follow each other in memory are one run.
    runs: list[list[int]] = []  # [entries, stride of the last axis]
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == stride * size:
            runs[-1] = [runs[-1][0] * size, stride]
        else:
            runs.append([size, stride])
    result: list[int] = []
    for size in reversed(new):
        if size == 1:
            result.append(0)
            continue
        while runs and runs[-1][0] == 1:
            runs.pop()
        if not runs or runs[-1][0] % size:
            raise ValueError(f"{list(shape)} with strides {list(strides)} can't be seen as {list(new)}")
        result.append(runs[-1][1])
        runs[-1] = [runs[-1][0] // size, runs[-1][1] * size]
    return tuple(reversed(result))
