"""Regions with products, run by several threads at once: all go through the same nests and products, take pieces of
each as they come (`team.py`), and wait for each other only where one needs what another did.

To hand out single products, or single nests, would cost more than it gains: a thread has to be woken each time. Here all
are woken once, and stay until the region is done. What rounds is cut in the same places whatever the number of threads
is, so that bits don't depend on it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from llvmlite import ir

from everflow.native import team
from everflow.native.nest_code import I32, I64, POINTER, loop
from everflow.native.products import ProductStep
from everflow.native.row_blocks import RowBlocks

if TYPE_CHECKING:
    from everflow.native.codegen import Region
    from everflow.native.values import Value

# Work (in additions or so) from which a region is worth waking threads for, and a nest or product of it worth sharing.
ENOUGH, WORTH_SHARING = 1 << 21, 1 << 12


def is_worthwhile(region: Region) -> bool:
    """Whether a region is to be run by several threads at once. Rows that are put one by one are for one only."""
    multiplies = any(isinstance(group, ProductStep) for group in region.groups)
    if not (region.may_stay and region.writer.shares and multiplies):
        return False
    if any(nest.nest.puts for group in region.groups if isinstance(group, RowBlocks) for nest in group.nests):
        return False
    return sum(group.work for group in region.groups) >= ENOUGH


def write(region: Region) -> None:
    """Write a region's groups as a function that every thread runs, and a call of that."""
    b, given = region.builder, region.args
    part = ir.Function(region.module, team.PART, f"{region.entry.name}_part")
    part.linkage = "internal"
    # It has nothing but calls, thousands of them in unrolled networks, over which LLVM would sit for seconds.
    for attribute in ("noinline", "optnone"):
        part.attributes.add(attribute)
    region.builder = ir.IRBuilder(part.append_basic_block())
    region.args = [
        *(region.builder.load(_entry(region.builder, part.args[0], i), typ=POINTER) for i in range(len(given) - 1)),
        I32(1),
    ]
    made = _Part(region)
    made.write()
    region.builder, region.args = b, given
    space = b.alloca(POINTER, size=len(given) - 1)
    for i, argument in enumerate(given[:-1]):
        b.store(argument, _entry(b, space, i))
    with loop(b, I64(0), I64(made.count)) as i:
        b.store(I32(0), b.gep(region.at(made.counters), [i], source_etype=I32))
    team.share(b, part, space, given[-1])


def _entry(b: ir.IRBuilder, pointer: ir.Value, place: int) -> ir.Value:
    return b.gep(pointer, [I64(place)], source_etype=POINTER)


class _Part:
    """What one of the threads does."""

    def __init__(self, region: Region) -> None:
        self._region, self._b = region, region.builder
        # Counters: of pieces that are taken, for every group, and of those that are done, for all until threads meet.
        self.counters, self.count = region.reserve(4 * 4 * (len(region.groups) + 1)), 0
        self._done, self._pieces = self._b.alloca(I32), 0  # by this thread since all met, by all
        self._b.store(I32(0), self._done)
        # What was written, and what was touched, since all threads met.
        self._written: set[Value | int] = set()
        self._touched: set[Value | int] = set()

    def write(self) -> None:
        for group in self._region.groups:
            written, touched = self._memory(group.written), self._memory(group.memories)
            if not (self._written.isdisjoint(touched) and self._touched.isdisjoint(written)):
                self._meet()
            self._written |= written
            self._touched |= touched
            if isinstance(group, ProductStep):
                self._multiply(group)
            else:
                self._go_through(group)
        self._b.ret_void()

    def _memory(self, values: Iterable[Value]) -> set[Value | int]:
        """What values are in memory: the place of those between, which has been another one's before."""
        return {self._region.places.get(value, value) for value in values}

    def _counter(self) -> ir.Value:
        """A counter of all threads, zero at first."""
        self.count += 1
        return self._region.at(self.counters + 4 * (self.count - 1))

    def _meet(self) -> None:
        b, counter = self._b, self._counter()
        b.atomic_rmw("add", counter, b.load(self._done, typ=I32), "acq_rel")
        b.store(I32(0), self._done)
        team.await_count(b, counter, I32(self._pieces))
        self._written, self._touched, self._pieces = set(), set(), 0

    @contextlib.contextmanager
    def _taken(self, count: int) -> Iterator[ir.Value]:
        """What a thread does with one of so many pieces."""
        b = self._b
        self._pieces += count
        with team.pieces(b, self._counter(), count) as piece:
            yield piece
            b.store(b.add(b.load(self._done, typ=I32), I32(1)), self._done)

    def _multiply(self, product: ProductStep) -> None:
        parts = product.parts() if product.work >= WORTH_SHARING else [product.whole()]
        with self._taken(len(parts)) as piece:
            for i, cut in enumerate(parts):
                with self._b.if_then(self._b.icmp_signed("==", piece, I64(i))):
                    product.write(cut)

    def _go_through(self, group: RowBlocks) -> None:
        b = self._b
        function, pointers, partials = self._region.prepared(group)
        count = group.pieces if group.work >= WORTH_SHARING else 1
        with self._taken(count) as piece:
            b.call(function, [*pointers, *team.range_of(b, piece, group.rows, count)])
        if partials is not None:
            self._meet()
            self._written |= self._memory(group.nests[0].nest.reductions)
            self._touched |= self._written
            with self._taken(1):
                self._region.put_together(group, partials)
