"""Nests over the same rows are run by blocks of rows, all of them for one block before the next: a softmax then reads
its rows from memory once, and what lies between nests stays in the cache, in a place for one block.

Nests may go together where whatever one of them writes is looked at only in the row that it was written for. The nests
themselves, and so the order of sums, are what they are alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from everflow.native.nest_code import NestWriter
from everflow.native.products import ProductStep
from everflow.native.values import Value

# Bytes of a block, of all that its rows hold (the first cache is larger); of what lies between, on a thread's stack.
BLOCK, BETWEEN = 1 << 15, 1 << 16
# With fewer rows there would be nothing to share for threads.
FEWEST_ROWS = 8
# The most pieces that rows are cut into for threads, and the work (in additions or so) of the smallest.
MOST_PIECES, WORK_OF_A_PIECE = 32, 1 << 16


@dataclass(slots=True, eq=False)
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
    def memories(self) -> set[Value]:
        return set().union(*(nest.memories for nest in self.nests))

    @property
    def written(self) -> set[Value]:
        return set().union(*(nest.written for nest in self.nests))

    @property
    def work(self) -> int:
        return sum(nest.work for nest in self.nests)

    @property
    def pieces(self) -> int:
        """How many pieces threads take the rows in: several each, as one may come late."""
        return min(self.rows, max(2, min(MOST_PIECES, self.work // WORK_OF_A_PIECE)))

    def origin(self, memory: Value) -> int:
        """The first entry of some memory that one of the nests may look at."""
        return min((n.origins[memory] for n in self.nests if memory in n.origins), default=0)

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


def grouped(steps: Sequence[NestWriter | ProductStep]) -> list[RowBlocks | ProductStep]:
    """Nests and products in the order in which they are run, nests together where they share memory and may."""
    made: list[RowBlocks | ProductStep] = []
    touched: dict[Value, set[int]] = {}  # memory → numbers of what touches it
    written: dict[Value, int] = {}  # memory → number of what writes it last
    for step in steps:
        # It comes after who wrote what it touches, and after who touched what it writes.
        before = [written[m] for m in step.memories if m in written]
        before += [max(touched[m]) for m in step.written if m in touched]
        after, number = max(before, default=0), len(made)
        if isinstance(step, NestWriter) and not step.is_alone:
            for near in sorted({n for m in step.memories for n in touched.get(m, ()) if n >= after}):
                group = made[near]
                joined = _together([*group.nests, step]) if isinstance(group, RowBlocks) else None
                if joined is not None:
                    made[near], number = joined, near
                    break
        if number == len(made):
            made.append(RowBlocks([step], step.extent) if isinstance(step, NestWriter) else step)
        for memory in step.memories:
            touched.setdefault(memory, set()).add(number)
        for memory in step.written:
            written[memory] = max(written.get(memory, 0), number)
    return made


def _together(nests: list[NestWriter]) -> RowBlocks | None:
    """Nests as one group, if they may be: the last of them shares memory with the others."""
    rows = math.gcd(*(n.extent for n in nests))
    if rows < FEWEST_ROWS or any(n.is_alone for n in nests):
        return None
    if not any(nests[-1].memories & n.memories for n in nests[:-1]):
        return None
    written = set().union(*(n.written for n in nests))
    row_bytes: dict[Value, int] = {}
    for nest in nests:
        for touch in nest.touches:
            row = touch.within_row(nest.extent // rows)
            size = (row or 0) * touch.memory.dtype.itemsize
            if touch.memory in written and (row is None or row_bytes.get(touch.memory, size) != size):
                return None
            row_bytes[touch.memory] = max(size, row_bytes.get(touch.memory, 0))
    return RowBlocks(nests, rows, row_bytes)
