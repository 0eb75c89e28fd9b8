"""Regions as LLVM IR: an entry function calls its nests (`nest_code.py`) one after the other, over memory that it is
given, shared by threads where they are long.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from everflow.native import python_calls, team, together
from everflow.native.background import BACKGROUND
from everflow.native.nest_code import ALIGNMENT, I32, I64, POINTER, VOID, NestWriter, loop
from everflow.native.nests import Nest, scheduled, sources_first
from everflow.native.places import packed
from everflow.native.products import ProductStep
from everflow.native.row_blocks import RowBlocks, grouped
from everflow.native.values import INPUT, PRODUCT, PUT, Value, copy_of

# Nests of less work than this (in additions or so) stay on one thread.
SHARED_WORK = 1 << 21


@dataclass(slots=True, frozen=True)
class Entry:
    """The function of a region: `name(inputs..., outputs..., [rows,] scratch, threads)`; it returns 0, or 1 where it could
    not.
    """

    name: str
    scratch: int  # bytes that it needs for itself
    is_shared: bool  # whether it looks at the number of threads
    may_refuse: bool = False  # whether it may return 1, and have done nothing
    multiplies: bool = False  # whether the BLAS is called


class _LoopHint(ir.MDValue):
    """Metadata of a loop: how many entries go side by side. LLVM knows it by its first operand being itself."""

    def descr(self, buffer: list[str]) -> None:
        rest = "".join(f", {operand.get_reference()}" for operand in self.operands)
        buffer.append(f"distinct !{{ {self.get_reference()}{rest} }}\n")


class Writer:
    """A module that regions are written into. Nests that read the same are there only once.

    `shares`: long nests are shared by threads, which needs OpenMP's runtime.
    """

    def __init__(self, shares: bool = True) -> None:
        self.shares = shares
        self.module = ir.Module("regions")
        self.functions: dict[tuple, ir.Function] = {}  # all that a function depends on → function
        self.entries: list[Entry] = []
        self.work = 0  # of all nests for one entry, the same ones counted once
        self.numbers = itertools.count()
        self._hints: dict[tuple[int, int], ir.MDValue] = {}

    def add(
        self,
        outputs: list[Value],
        inputs: int,
        updates: Sequence[tuple[Value, Value]] = (),
        condition: Value | None = None,
        for_python: bool = True,
        is_open: bool = False,
        tensors: python_calls.Tensors | None = None,
    ) -> Entry:
        """A region that computes these values from so many inputs, and writes some over inputs: (value, input). Where a
        condition, a truth value, does not hold, it returns 1 and has done nothing. Python calls it, or code of the
        module only. `is_open`: it is told how many rows it puts into inputs, whatever the shapes say.
        """
        region = Region(self, outputs, inputs, updates, is_open, may_stay=for_python)
        check = Region(self, [copy_of(condition)], inputs, ()) if condition is not None else None
        entry = region.write(f"entry{len(self.entries)}", check)
        if for_python:
            python_calls.write(self.module, region.entry, tensors, entry.scratch)
        else:
            region.entry.linkage = "internal"
        self.entries.append(entry)
        return entry

    def hint(self, width: int, interleaved: int) -> ir.MDValue:
        """A loop's metadata. The widths are ours, so that sums come out the same on every machine."""
        key = (width, interleaved)
        if key not in self._hints:
            operands = []
            for name, value in (("vectorize.width", width), ("interleave.count", interleaved)):
                operands.append(self.module.add_metadata([f"llvm.loop.{name}", I32(value)]))
            # Copies of a loop's body cost much time to make and save little.
            operands.append(self.module.add_metadata(["llvm.loop.unroll.disable"]))
            self._hints[key] = _LoopHint(self.module, operands, name=str(len(self.module.metadata)))
        return self._hints[key]

    def text(self) -> str:
        return str(self.module)


class Region:
    def __init__(
        self,
        writer: Writer,
        outputs: list[Value],
        inputs: int,
        updates: Sequence[tuple[Value, Value]],
        is_open: bool = False,
        may_stay: bool = False,
    ) -> None:
        self.writer, self.module = writer, writer.module
        self.is_open = is_open
        self.may_stay = may_stay  # whether threads may stay inside, since the BLAS takes one for each
        self.outputs = outputs
        self.inputs = inputs
        updates = [(copy_of(value), target) for value, target in updates if value is not target]
        wanted = list(dict.fromkeys([*outputs, *(value for value, _ in updates)]))
        schedule = scheduled(wanted)
        self.stored, self.within = schedule.stored, schedule.within
        self.steps: list[NestWriter | ProductStep] = []
        for step in schedule.nests:
            BACKGROUND.breathe()
            self.steps.append(NestWriter(self, step) if isinstance(step, Nest) else ProductStep(self, step))
        self.scratch = 0
        self.is_shared = False
        # Values that are written straight over an input; the others of `updates` are copied there at the end.
        self.in_place: dict[Value, Value] = {}
        self.copies: list[tuple[Value, Value]] = []
        for value, target in updates:
            if value.kind == PUT or (
                value.kind != PRODUCT
                and value not in outputs
                and value not in self.in_place
                and self._may_overwrite(value, target)
            ):
                self.in_place[value] = target
            else:
                self.copies.append((value, target))
        # What lies in scratch memory, and where: in an order that is the same in every process, whose code is kept.
        held = {*outputs, *self.in_place, *self.within}
        between = [v for v in sources_first(wanted) if v in self.stored and v not in held]
        self.groups = grouped(self.steps)
        spans = self._spans(between)
        # What of it lies on the stack for a block of rows only, and what in the same rows of its memory for all blocks.
        inside: dict[int, list[Value]] = {}
        for value, (first, last) in spans.items():
            if first == last:
                inside.setdefault(first, []).append(value)
        self.blocks: dict[RowBlocks, dict[Value, int]] = {}
        self.reused: dict[RowBlocks, dict[Value, int]] = {}
        for number, group in enumerate(self.groups):
            if isinstance(group, RowBlocks):
                found = inside.get(number, [])
                self.blocks[group], self.reused[group] = group.lies_between(found), group.reused(found)
        for_blocks = {v for found in self.blocks.values() for v in found}
        kept = [v for v in between if v not in for_blocks]
        places, self.scratch = packed([(_room(v), *spans[v]) for v in kept])
        self.places = dict(zip(kept, places, strict=True))

    def _may_overwrite(self, value: Value, target: Value) -> bool:
        """Whether nobody looks at an input once a value is written over it, entry by entry."""
        is_written = False
        for nest in self.steps:
            if is_written and (target in nest.tables or any(a.base is target for a in nest.loads.values())):
                return False
            if value in nest.stores:
                is_written = True
                order = nest.stores[value].strides
                moved = any(a.base is target and (a.offset or a.strides != order) for a in nest.loads.values())
                if moved or target in nest.tables:
                    return False
        return is_written

    def _spans(self, between: list[Value]) -> dict[Value, tuple[int, int]]:
        """The numbers of the first and the last group that touch each value; behind all of them it is copied."""
        spans = {value: (len(self.groups), 0) for value in between}
        for number, group in enumerate(self.groups):
            for memory in group.memories:
                if memory in spans:
                    first, last = spans[memory]
                    spans[memory] = min(first, number), max(last, number)
        for value, _ in self.copies:
            if value in spans:
                spans[value] = spans[value][0], len(self.groups)
        return spans

    def reserve(self, size: int) -> int:
        place = self.scratch
        self.scratch += -(-size // ALIGNMENT) * ALIGNMENT
        return place

    def write(self, name: str, check: Region | None = None) -> Entry:
        count = self.inputs + len(self.outputs)
        arguments = [*[POINTER] * count, *[I64] * self.is_open, POINTER, I32]
        self.entry = ir.Function(self.module, ir.FunctionType(I32, arguments), name)
        self.builder = ir.IRBuilder(self.entry.append_basic_block())
        # Addresses of inputs and outputs, how many rows there are where that is open, scratch memory, threads.
        self.args: list[ir.Value] = list(self.entry.args)
        if check is not None:
            self.write_check(check, f"{name}_check")
        if together.is_worthwhile(self):
            self.is_shared = True
            together.write(self)
        else:
            self.write_groups()
        for value, target in self.copies:
            size = I64(value.size * value.dtype.itemsize)
            self.builder.call(self.copier(), [self.pointer(value), self.pointer(target), size])
        self.builder.ret(I32(0))
        multiplies = any(isinstance(step, ProductStep) for step in self.steps)
        return Entry(name, self.scratch, self.is_shared, check is not None, multiplies)

    def write_groups(self) -> None:
        for group in self.groups:
            if isinstance(group, RowBlocks):
                self.call(group)
            else:
                group.write(group.whole())

    def write_check(self, check: Region, name: str) -> None:
        """Return 1 where the only output of another region, over the same inputs, is false."""
        entry, b, byte = check.write(name), self.builder, ir.IntType(8)
        check.entry.linkage = "internal"
        answer, scratch = self.at(self.reserve(1)), self.at(self.reserve(entry.scratch))
        b.call(check.entry, [*self.args[: self.inputs], answer, scratch, self.args[-1]])
        self.is_shared |= entry.is_shared
        with b.if_then(b.icmp_unsigned("==", b.load(answer, typ=byte), byte(0))):
            b.ret(I32(1))

    def pointer(self, value: Value) -> ir.Value:
        """Where a value lies."""
        value = self.holder(value)
        if value.kind == INPUT:
            return self.args[value.detail]
        if value in self.places:
            return self.at(self.places[value])
        return self.args[self.inputs + self.outputs.index(value)]

    def pointer_to(self, memory: Value, entries: int) -> ir.Value:
        """Where so many entries of some memory have come."""
        pointer, place = self.pointer(memory), I64(entries * memory.dtype.itemsize)
        return self.builder.gep(pointer, [place], source_etype=ir.IntType(8)) if entries else pointer

    def holder(self, value: Value) -> Value:
        """The value whose memory a value is written to: its own, that of an input, or what it is a part of."""
        part = self.within.get(value)
        return part.base if part is not None else self.in_place.get(value, value)

    def at(self, place: int) -> ir.Value:
        return self.builder.gep(self.args[-2], [I64(place)], source_etype=ir.IntType(8))

    def prepared(self, group: RowBlocks) -> tuple[ir.Function, list[ir.Value], ir.Value | None]:
        """The function that runs nests for a range of rows, what it takes besides that, and where parts of reductions
        that were cut lie.
        """
        BACKGROUND.breathe()
        first, between, reused = group.nests[0], self.blocks[group], self.reused[group]
        if len(group.nests) > 1:
            memories = [m for m in dict.fromkeys(m for nest in group.nests for m in nest.bases) if m not in between]
            function = self.by_blocks(group, memories, between, [reused.get(m, 0) for m in memories])
        else:
            memories, function = first.bases, first.function()
        pointers = [self.pointer_to(v, group.origin(v)) for v in memories]
        partials = self.at(self.reserve(first.partial_bytes)) if first.partial_bytes else None
        return function, [*pointers, *([partials] if partials is not None else [])], partials

    def put_together(self, group: RowBlocks, partials: ir.Value) -> None:
        """Put reductions that were cut together."""
        first = group.nests[0]
        self.builder.call(first.joiner(), [*(self.pointer(v) for v in first.nest.reductions), partials])

    def call(self, group: RowBlocks) -> None:
        """Call nests, shared by threads where they are long; reductions that were cut are then put together."""
        function, pointers, partials = self.prepared(group)
        first = group.nests[0]
        if not self.writer.shares or group.work < SHARED_WORK or group.rows < 2 or first.nest.puts:
            rows = self.args[-3] if self.is_open and first.nest.puts else I64(group.rows)
            self.builder.call(function, [*pointers, I64(0), rows])
        else:
            self.is_shared = True
            sharer = self.sharer(function, group.rows, group.pieces)
            self.builder.call(sharer, [*pointers, self.args[-1]])
        if partials is not None:
            self.put_together(group, partials)

    def by_blocks(
        self, group: RowBlocks, memories: list[Value], between: dict[Value, int], reused: list[int]
    ) -> ir.Function:
        """A function that runs nests for a range of rows, block by block. `reused`: bytes of a row of memory of which
        all blocks take the same rows, the first of the range; 0 for memory that holds all rows.
        """
        places = {m: i for i, m in enumerate([*memories, *between])}
        nests = [
            (
                n.function(),
                n.extent // group.rows,
                [(places[m], self._bytes_beyond(n, m, group, between)) for m in n.bases],
            )
            for n in group.nests
        ]
        key = (group.block, *between.values(), *reused, *((f.name, scale, *at) for f, scale, at in nests))
        if key in self.writer.functions:
            return self.writer.functions[key]
        name = f"rows{next(self.writer.numbers)}"
        kind = ir.FunctionType(VOID, [*[POINTER] * len(memories), I64, I64])
        made = self.writer.functions[key] = ir.Function(self.module, kind, name)
        made.linkage = "internal"
        b, byte = ir.IRBuilder(made.append_basic_block()), ir.IntType(8)
        rooms = [(b.alloca(byte, size=size * group.block), size) for size in between.values()]
        for room, _ in rooms:
            room.align = ALIGNMENT
        with loop(b, made.args[-2], made.args[-1], step=group.block) as begin:
            end = b.add(begin, I64(group.block))
            end = b.select(b.icmp_signed("<", end, made.args[-1]), end, made.args[-1])
            # A room holds this block as if all others lay around it.
            back = b.sub(made.args[-2], begin)
            pointers = [
                b.gep(memory, [b.mul(back, I64(size))], source_etype=byte) if size else memory
                for memory, size in zip(made.args[:-2], reused, strict=True)
            ]
            pointers += [b.gep(r, [b.mul(begin, I64(-s))], source_etype=byte) for r, s in rooms]
            for function, scale, at in nests:
                moved = [b.gep(pointers[i], [I64(n)], source_etype=byte) if n else pointers[i] for i, n in at]
                b.call(function, [*moved, *(b.mul(edge, I64(scale)) for edge in (begin, end))])
        b.ret_void()
        return made

    @staticmethod
    def _bytes_beyond(nest: NestWriter, memory: Value, group: RowBlocks, between: dict[Value, int]) -> int:
        """How far behind the pointer that a group has for some memory that of a nest is."""
        start = 0 if memory in between else group.origin(memory)
        return (nest.origins.get(memory, 0) - start) * memory.dtype.itemsize

    def sharer(self, function: ir.Function, extent: int, count: int) -> ir.Function:
        """A function that has threads call another, each with parts of its range, which is cut into so many pieces."""
        name = f"{function.name}_shared{extent}"
        if name in self.module.globals:
            return self.module.globals[name]
        pointers = len(function.args) - 2
        part = ir.Function(self.module, team.PART, f"{name}_part")
        part.linkage = "internal"
        b = ir.IRBuilder(part.append_basic_block())
        arguments = [_word(b, part.args[0], i) for i in range(pointers)]
        with team.pieces(b, _word(b, part.args[0], pointers), count) as piece:
            b.call(function, [*arguments, *team.range_of(b, piece, extent, count)])
        b.ret_void()
        made = ir.Function(self.module, ir.FunctionType(VOID, [*[POINTER] * pointers, I32]), name)
        made.linkage = "internal"
        b = ir.IRBuilder(made.append_basic_block())
        with b.if_else(b.icmp_signed(">", made.args[-1], I32(1))) as (several, alone):
            with several:
                space, counter = b.alloca(POINTER, size=pointers + 1), b.alloca(I32)
                b.store(I32(0), counter)
                for i, argument in enumerate([*made.args[:-1], counter]):
                    b.store(argument, b.gep(space, [I64(i)], source_etype=POINTER))
                team.share(b, part, space, made.args[-1])
            with alone:
                b.call(function, [*made.args[:-1], I64(0), I64(extent)])
        b.ret_void()
        return made

    def copier(self) -> ir.Function:
        """A function that copies so many bytes from one place to another."""
        if "copy" not in self.module.globals:
            made = ir.Function(self.module, ir.FunctionType(VOID, [POINTER, POINTER, I64]), "copy")
            made.linkage = "internal"
            for argument in made.args[:2]:
                argument.add_attribute("noalias")
            b, byte = ir.IRBuilder(made.append_basic_block()), ir.IntType(8)
            with loop(b, I64(0), made.args[2]) as index:
                source, target = (b.gep(pointer, [index], source_etype=byte) for pointer in made.args[:2])
                b.store(b.load(source, typ=byte), target)
            b.ret_void()
        return self.module.globals["copy"]

    def external(self, name: str, result: ir.Type, arguments: list[ir.Type]) -> ir.Function:
        if name not in self.module.globals:
            ir.Function(self.module, ir.FunctionType(result, arguments), name)
        return self.module.globals[name]


def _room(value: Value) -> int:
    """Bytes that a value takes, up to where the next may begin."""
    return -(-value.size * value.dtype.itemsize // ALIGNMENT) * ALIGNMENT


def _word(b: ir.IRBuilder, pointer: ir.Value, place: int) -> ir.Value:
    return b.load(b.gep(pointer, [I64(place)], source_etype=POINTER), typ=POINTER)
