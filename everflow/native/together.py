"""Regions with products, run by several threads at once: each takes its part of every nest and every product, and they
wait for each other only where one needs what another did.

To hand out single products, or single nests, would cost more than it gains: a thread has to be woken each time. Here all
are woken once, and stay until the region is done. What is shared is cut in the same places whatever the number of
threads is, so that bits don't depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from llvmlite import ir

from everflow.native.nest_code import I32, I64, POINTER, VOID
from everflow.native.products import ProductStep
from everflow.native.row_blocks import RowBlocks

if TYPE_CHECKING:
    from everflow.native.codegen import Region
    from everflow.native.values import Value

# Work (in additions or so) from which a region is worth waking threads for, and a nest or product of it worth sharing.
ENOUGH, WORTH_SHARING = 1 << 21, 1 << 12


def is_worthwhile(region: Region) -> bool:
    """Whether a region is to be run by several threads at once. Rows that are put one by one are for one only."""
    if not region.writer.shares or not any(isinstance(group, ProductStep) for group in region.groups):
        return False
    if any(nest.nest.puts for group in region.groups if isinstance(group, RowBlocks) for nest in group.nests):
        return False
    return sum(group.work for group in region.groups) >= ENOUGH


def write(region: Region) -> None:
    """Write a region's groups as a function that every thread runs, and a call of that."""
    b, given = region.builder, region.args
    part = ir.Function(region.module, ir.FunctionType(VOID, [POINTER]), f"{region.entry.name}_part")
    part.linkage = "internal"
    region.builder = ir.IRBuilder(part.append_basic_block())
    region.args = [
        *(region.builder.load(_entry(region.builder, part.args[0], i), typ=POINTER) for i in range(len(given) - 1)),
        I32(1),
    ]
    _Part(region).write()
    region.builder, region.args = b, given
    space = b.alloca(POINTER, size=len(given) - 1)
    for i, argument in enumerate(given[:-1]):
        b.store(argument, _entry(b, space, i))
    with b.if_else(b.icmp_signed(">", given[-1], I32(1))) as (several, alone):
        with several:
            run = region.external("GOMP_parallel", VOID, [POINTER, POINTER, I32, I32])
            b.call(run, [part, space, given[-1], I32(0)])
        with alone:
            b.call(part, [space])


def _entry(b: ir.IRBuilder, pointer: ir.Value, place: int) -> ir.Value:
    return b.gep(pointer, [I64(place)], source_etype=POINTER)


class _Part:
    """What one of the threads does."""

    def __init__(self, region: Region) -> None:
        self._region, self._b = region, region.builder
        number, count = (
            self._b.call(region.external(name, I32, []), []) for name in ("omp_get_thread_num", "omp_get_num_threads")
        )
        self._number, self._count = self._b.sext(number, I64), self._b.sext(count, I64)
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

    def _meet(self) -> None:
        self._b.call(self._region.external("GOMP_barrier", VOID, []), [])
        self._written, self._touched = set(), set()

    def _multiply(self, product: ProductStep) -> None:
        parts = product.parts() if product.work >= WORTH_SHARING else [product.whole()]
        for i, cut in enumerate(parts):
            mine = self._b.icmp_signed("==", self._b.srem(I64(i), self._count), self._number)
            with self._b.if_then(mine):
                product.write(cut)

    def _go_through(self, group: RowBlocks) -> None:
        b = self._b
        function, pointers, partials = self._region.prepared(group)
        if group.work < WORTH_SHARING or group.rows < 2:
            with self._alone():
                b.call(function, [*pointers, I64(0), I64(group.rows)])
        else:
            ends = (self._number, b.add(self._number, I64(1)))
            begin, end = (b.sdiv(b.mul(n, I64(group.rows)), self._count) for n in ends)
            b.call(function, [*pointers, begin, end])
        if partials is not None:
            self._meet()
            self._written |= self._memory(group.nests[0].nest.reductions)
            self._touched |= self._written
            with self._alone():
                self._region.put_together(group, partials)

    def _alone(self):  # type: ignore[no-untyped-def]  # a context of llvmlite
        return self._b.if_then(self._b.icmp_signed("==", self._number, I64(0)))
