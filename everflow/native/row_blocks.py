"""Nests over the same rows are run by blocks of rows, all of them for one block before the next: a softmax then reads
its rows from memory once, and what lies between nests stays in the cache, in a place for one block.

Nests may go together where whatever one of them writes is looked at only in the row that it was written for. The nests
themselves, and so the order of sums, are what they are alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from everflow.native.values import Value

if TYPE_CHECKING:
    from everflow.native.nest_code import NestWriter

# Bytes of a block, of all that its rows hold (the first cache is larger); of what lies between, on a thread's stack.
BLOCK, BETWEEN = 1 << 15, 1 << 16
# With fewer rows there would be nothing to share for threads.
FEWEST_ROWS = 8


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


@dataclass(slots=True)
class RowBlocks:
    """Nests that are run together, or one alone."""

    nests: list[NestWriter]
    rows: int
    row_bytes: dict[Value, int] = field(default_factory=dict)  # of memory that all of them go through row by row

    @property
    def block(self) -> int:
        """Rows of a block."""
        return max(1, min(self.rows, BLOCK // max(1, sum(self.row_bytes.values()))))

    @property
    def work(self) -> int:
        return sum(nest.work for nest in self.nests)

    def lies_between(self, candidates: Iterable[Value]) -> dict[Value, int]:
        """What may lie in memory for one block, of those that nobody else looks at; bytes of a row."""
        found: dict[Value, int] = {}
        if len(self.nests) > 1:
            for value in candidates:
                size = self.row_bytes.get(value)
                if size is not None and (sum(found.values()) + size) * self.block <= BETWEEN:
                    found[value] = size
        return found

    def reused(self, candidates: Iterable[Value]) -> dict[Value, int]:
        """The others of them, for which the memory of one block is enough as well; bytes of a row."""
        candidates = list(candidates)
        found, on_stack = self.row_bytes, self.lies_between(candidates)
        return {v: found[v] for v in candidates if len(self.nests) > 1 and v in found and v not in on_stack}


def grouped(nests: Sequence[NestWriter]) -> list[RowBlocks]:
    """Nests in the order in which they are run, together where they share memory and may."""
    made: list[RowBlocks] = []
    where: dict[NestWriter, int] = {}
    for nest in nests:
        after = max((where[n] for n in where if _must_follow(nest, n)), default=0)
        for number in range(after, len(made)):
            joined = _together([*made[number].nests, nest])
            if joined is not None:
                made[number], where[nest] = joined, number
                break
        else:
            where[nest] = len(made)
            made.append(RowBlocks([nest], nest.extent))
    return made


def _must_follow(nest: NestWriter, other: NestWriter) -> bool:
    mine, others = _written(nest), _written(other)
    return bool(others & nest.memories or mine & other.memories)


def _written(nest: NestWriter) -> set[Value]:
    return {t.memory for t in nest.touches if t.is_written}


def _together(nests: list[NestWriter]) -> RowBlocks | None:
    """Nests as one group, if they may be: the last of them shares memory with the others."""
    rows = math.gcd(*(n.extent for n in nests))
    if rows < FEWEST_ROWS or any(n.is_cut or n.nest.puts for n in nests):
        return None
    if not any(nests[-1].memories & n.memories for n in nests[:-1]):
        return None
    written = set().union(*map(_written, nests))
    row_bytes: dict[Value, int] = {}
    for nest in nests:
        for touch in nest.touches:
            row = touch.within_row(nest.extent // rows)
            size = (row or 0) * touch.memory.dtype.itemsize
            if touch.memory in written and (row is None or row_bytes.get(touch.memory, size) != size):
                return None
            row_bytes[touch.memory] = max(size, row_bytes.get(touch.memory, 0))
    return RowBlocks(nests, rows, row_bytes)
