"""Loop nests as LLVM IR.

Each nest is a function over pointers and a range of its outermost loop, so that several threads can share one. The loops
are written plainly, one number at a time: LLVM's vectoriser makes vectors of the innermost one, since nothing in it
branches and the buffers are known not to overlap.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from llvmlite import ir

from everflow.native import scalars
from everflow.native.nests import Access, Nest, Touch, contiguous, located
from everflow.native.values import CONST, ENTRIES, INDEX, TAKE, Value, number_of

if TYPE_CHECKING:
    from everflow.native.codegen import Region

POINTER, I64, I32, VOID = ir.PointerType(), ir.IntType(64), ir.IntType(32), ir.VoidType()
# Where a reduction's outermost loop is itself reduced, so many entries are summed by themselves, whatever the number
# of threads.
CHUNK = 1 << 14
MOST_CHUNKS = 64
# Bytes that go side by side. A machine with narrower vectors takes several.
LANES = 64
# Nests of more work than this (in additions or so) are worth a compiler's time for several copies of a long body, and
# those of more work for each entry, and in all, for twice as many.
LONG_WORK = 1 << 20
LONG_CHAIN, LONGER_WORK = 80, 1 << 26
ALIGNMENT = 64

_IDENTITIES = {"sum": 0, "prod": 1, "any": False, "all": True, "peak": -math.inf}
_COMBINE = {"sum": "add", "prod": "mul", "any": "or", "all": "and"}


@dataclass(slots=True)
class _Axis:
    """A loop of a nest."""

    size: int
    is_reduced: bool
    strides: list[int] = field(default_factory=list)  # of each access


class NestWriter:
    """Writes the function of one nest."""

    def __init__(self, region: Region, nest: Nest) -> None:
        self.region, self.nest = region, nest
        self.steps: list[Value] = []  # what is computed, each after its operands
        self.loads: dict[Value, Access] = {}
        self.tables: list[Value] = []  # of which entries are taken
        self._find_steps()
        self.results = {r: Access(r, 0, _result_strides(nest, r)) for r in nest.reductions}
        within = region.within
        self.stores = {v: within.get(v) or Access(v, 0, contiguous(nest.shape)) for v in nest.stores}
        self.axes = self._find_axes()
        first = self.axes[0]
        self.is_cut = first.is_reduced  # then the range counts chunks of the first axis
        self.step = 1
        if self.is_cut:
            rows = math.prod(a.size for a in self.axes[1:])
            chunks = max(1, min(MOST_CHUNKS, math.prod(nest.shape) // CHUNK))
            self.step = max(-(-first.size // chunks), -(-CHUNK // rows))
        self.extent = -(-first.size // self.step)
        self.partials: dict[Value, int] = {}  # where the parts of a reduction begin
        self.partial_bytes = 0
        if self.is_cut and self.extent > 1:
            for r in nest.reductions:
                self.partials[r] = self.partial_bytes
                size = r.size * r.dtype.itemsize * self.extent
                self.partial_bytes += -(-size // ALIGNMENT) * ALIGNMENT
        self.cost = 1 + sum(_cost(s) for s in self.steps)
        self.work = math.prod(nest.shape) * self.cost

    @property
    def bases(self) -> list[Value]:
        """Whose memory the nest reads and writes."""
        stored = [v for v in (*self.nest.stores, *self.nest.reductions, *self.nest.puts) if v not in self.partials]
        loaded = [a.base for a in self.loads.values() if a.base.kind not in (CONST, INDEX)]
        return list(dict.fromkeys(self.region.holder(v) for v in [*loaded, *self.tables, *stored]))

    @functools.cached_property
    def origins(self) -> dict[Value, int]:
        """Where in each memory the nest begins, in entries. Its pointers point there, so that nests that do the same at
        other places, as those of a network's unrolled steps, are one function.
        """
        origins: dict[Value, int] = {}
        for access in (*self.loads.values(), *self.stores.values(), *self.results.values()):
            memory = self.region.holder(access.base)
            lowest = access.offset + sum(
                min(0, (n - 1) * s) for n, s in zip(self.nest.shape, access.strides, strict=True)
            )
            origins[memory] = min(origins.get(memory, lowest), lowest)
        whole = [*self.tables, *self.nest.puts]  # of these any entry may be meant
        return origins | {self.region.holder(v): 0 for v in whole}

    @functools.cached_property
    def touches(self) -> list[Touch]:
        """What the nest reads and writes at a place of its first loop."""
        accesses = [(self.region.holder(a.base), False, a) for a in self.loads.values()]
        accesses += [(self.region.holder(v), True, a) for v, a in (*self.stores.items(), *self.results.items())]
        found = []
        for memory, is_written, access in accesses:
            if memory.kind not in (CONST, INDEX):
                outer, *inner = self._strides(access)
                ends = [(axis.size - 1) * s for axis, s in zip(self.axes[1:], inner, strict=True)]
                low, high = (access.offset + sum(pick(0, end) for end in ends) for pick in (min, max))
                found.append(Touch(memory, is_written, outer, low, high))
        found += [Touch(self.region.holder(v), False, 0, 0, v.size) for v in self.tables]
        return found + [Touch(put.sources[0], True, 0, 0, put.size) for put in self.nest.puts]

    @functools.cached_property
    def memories(self) -> set[Value]:
        return {touch.memory for touch in self.touches}

    @functools.cached_property
    def written(self) -> set[Value]:
        return {touch.memory for touch in self.touches if touch.is_written}

    @property
    def is_alone(self) -> bool:
        """Whether it can't go through rows together with others."""
        return self.is_cut or bool(self.nest.puts)

    # --- what the nest does -----------------------------------------------------------------------

    def _find_steps(self) -> None:
        nest, stored = self.nest, self.region.stored
        seen: set[Value] = set()
        left = [(v, False) for v in [*nest.stores, *(r.sources[0] for r in nest.reductions)]]
        left += [(v, False) for put in nest.puts for v in put.sources[1:]]
        while left:
            value, is_ready = left.pop()
            if is_ready:
                self.steps.append(value)
            elif value not in seen:
                seen.add(value)
                if value.kind in ENTRIES and (value not in stored or value in nest.stores):
                    operands = value.sources
                    if value.kind == TAKE:
                        self.tables.append(operands[0])
                        operands = operands[1:]
                    left += [(value, True), *((s, False) for s in operands)]
                elif value.kind != CONST:
                    self.loads[value] = located(value, stored, beyond=value in nest.stores, within=self.region.within)

    def _find_axes(self) -> list[_Axis]:
        """The loops: axes of one entry go, and those that every access goes through in one stride are one."""
        accesses = [*self.loads.values(), *self.stores.values(), *self.results.values()]
        axes: list[_Axis] = []
        for number, size in enumerate(self.nest.shape):
            if size == 1:
                continue
            axis = _Axis(size, number in self.nest.axes, [a.strides[number] for a in accesses])
            last = axes[-1] if axes else None
            if (
                last is not None
                and last.is_reduced == axis.is_reduced
                and all(outer == inner * size for outer, inner in zip(last.strides, axis.strides, strict=True))
            ):
                axes[-1] = _Axis(last.size * size, axis.is_reduced, axis.strides)
            else:
                axes.append(axis)
        return axes or [_Axis(1, False, [0] * len(accesses))]

    # --- the function -----------------------------------------------------------------------------

    def function(self) -> ir.Function:
        """The nest's function; one that reads the same is there only once."""
        functions, signature = self.region.writer.functions, self._signature()
        if signature in functions:
            return functions[signature]
        bases = self.bases
        pointers = len(bases) + bool(self.partials)
        name = f"nest{next(self.region.writer.numbers)}"
        kind = ir.FunctionType(VOID, [*[POINTER] * pointers, I64, I64])
        made = functions[signature] = ir.Function(self.region.module, kind, name)
        made.linkage = "internal"
        made.attributes.add("noinline")
        self.region.writer.work += self.cost
        for argument in made.args[:pointers]:
            argument.add_attribute("noalias")
        self.builder = ir.IRBuilder(made.append_basic_block())
        self.pointers = dict(zip(bases, made.args, strict=False))
        self.partial_base = made.args[pointers - 1] if self.partials else None
        self.indices: list[ir.Value] = []
        begin, end = made.args[-2:]
        if self.is_cut:
            with loop(self.builder, begin, end) as self.chunk:
                self._write_reduced()
        else:
            self._write(0, begin, end)
        self.builder.ret_void()
        return made

    def _signature(self) -> tuple:
        """All that the function depends on: two nests of which that is equal have the same."""
        memory = {m: i for i, m in enumerate(self.bases)}
        numbers = {v: i for i, v in enumerate([*self.loads, *self.steps])}

        def named(value: Value) -> object:
            return (value.detail, value.dtype) if value.kind == CONST else numbers[value]

        def place(base: Value, access: Access) -> tuple:
            number = base.detail if base.kind == CONST else memory.get(self.region.holder(base))
            return number, base.kind, base.dtype, self._from_origin(access)

        def step(value: Value) -> tuple:
            operands = [named(s) for s in value.sources[-1:]] if value.kind == TAKE else map(named, value.sources)
            table = memory[self.region.holder(value.sources[0])] if value.kind == TAKE else None
            return value.detail, value.dtype, table, *operands, *(s.dtype for s in value.sources)

        return (
            *(self.axes[0].size if self.is_cut else 0, self.step, self.is_cut, self._lanes()),
            *((a.size if i else 0, a.is_reduced, *a.strides) for i, a in enumerate(self.axes)),
            *((v.dtype, place(a.base, a)) for v, a in self.loads.items()),
            *map(step, self.steps),
            *((named(v), place(v, a)) for v, a in self.stores.items()),
            *(
                (r.detail[0], named(r.sources[0]), place(r, a), self.partials.get(r), r.size * (r in self.partials))
                for r, a in self.results.items()
            ),
            *((memory[self.region.holder(p)], p.dtype, *map(named, p.sources[1:])) for p in self.nest.puts),
        )

    def _write_reduced(self) -> None:
        b = self.builder
        low = b.mul(self.chunk, I64(self.step))
        high = b.add(low, I64(self.step))
        size = I64(self.axes[0].size)
        self._write(0, low, b.select(b.icmp_signed("<", high, size), high, size))

    def _write(self, depth: int, begin: ir.Value, end: ir.Value) -> None:
        """The loops from one axis on."""
        reduced = next((i for i, a in enumerate(self.axes) if a.is_reduced), None)
        if depth == reduced:
            self._begin_reductions(depth)
        is_innermost = depth + 1 == len(self.axes)
        with loop(self.builder, begin, end, self.region.writer.hint(*self._lanes()) if is_innermost else None) as index:
            self.indices.append(index)
            if not is_innermost:
                self._write(depth + 1, I64(0), I64(self.axes[depth + 1].size))
            else:
                self._write_body()
            self.indices.pop()

    def _lanes(self) -> tuple[int, int]:
        """How the innermost loop goes: in vectors, unless it is short or would mostly gather single entries."""
        last = self.axes[-1]
        dear = any(_cost(s) > 1 for s in self.steps)
        values = [*self.steps, *self.loads, *self.nest.reductions]
        widest = LANES // max(v.dtype.itemsize for v in values)
        if min(widest, last.size) < 4 or not (dear or all(s in (0, 1) for s in last.strides)):
            return 1, 1
        # A chain of functions longer than the processor looks ahead waits for each result, unless others go beside.
        most = 1 if dear and self.work < LONG_WORK else 4
        if self.cost >= LONG_CHAIN and self.work >= LONGER_WORK:
            most = 8
        return _lanes(last.size, widest, most)

    def _begin_reductions(self, depth: int) -> None:
        """Set the results to what changes nothing, for all entries that the loops from here on go through."""
        kept = [i for i in range(depth, len(self.axes)) if not self.axes[i].is_reduced]
        with contextlib.ExitStack() as loops:
            plain = self.region.writer.hint(1, 1)
            indices = {i: loops.enter_context(loop(self.builder, I64(0), I64(self.axes[i].size), plain)) for i in kept}
            at = [*self.indices, *(indices.get(i) for i in range(depth, len(self.axes)))]
            for reduction in self.nest.reductions:
                value = scalars.constant(_identity(reduction), reduction.dtype)
                self._store(value, reduction.dtype, self._address_of_result(reduction, at))

    def _write_body(self) -> None:
        b, values = self.builder, dict[Value, ir.Value]()

        def at(value: Value) -> ir.Value:
            if value.kind == CONST:
                return scalars.constant(number_of(value), value.dtype)
            if value not in values:
                values[value] = self._load(value)
            return values[value]

        for step in self.steps:
            if step.kind == TAKE:
                values[step] = self._loaded(step.dtype, self._entry(step.sources[0], at(step.sources[1])))
                continue
            operands = [at(s) for s in step.sources]
            if step.detail == "cast":
                values[step] = scalars.convert(b, operands[0], step.sources[0].dtype, step.dtype)
            else:
                values[step] = scalars.emit(step.detail, b, step.sources[-1].dtype, operands)
        for value in (*self.stores, *(r.sources[0] for r in self.nest.reductions)):
            at(value)  # all is loaded before anything is written over it
        for put in self.nest.puts:
            _, places, value = put.sources
            self._store(at(value), put.dtype, self._entry(put, at(places)))
        for value, access in self.stores.items():
            address = self._address(self.pointers[self.region.holder(value)], access, self.indices)
            self._store(at(value), value.dtype, address)
        for reduction in self.nest.reductions:
            address = self._address_of_result(reduction, self.indices)
            value = at(reduction.sources[0])
            if any(axis.is_reduced for axis in self.axes):
                value = _combined(b, reduction, self._loaded(reduction.dtype, address), value)
            self._store(value, reduction.dtype, address)

    # --- memory -----------------------------------------------------------------------------------

    def _strides(self, access: Access) -> list[int]:
        """The strides of an access along the loops."""
        accesses = [*self.loads.values(), *self.stores.values(), *self.results.values()]
        number = next(i for i, a in enumerate(accesses) if a is access)
        return [axis.strides[number] for axis in self.axes]

    def _address(self, pointer: ir.Value, access: Access, indices: list[ir.Value | None]) -> ir.Value:
        place = self._place(access, indices)
        return self.builder.gep(pointer, [place], source_etype=scalars.stored_type(access.base.dtype))

    def _place(self, access: Access, indices: list[ir.Value | None]) -> ir.Value:
        """How many entries an access is away from where its memory begins."""
        b, place = self.builder, I64(self._from_origin(access))
        for index, stride in zip(indices, self._strides(access), strict=True):
            if stride:
                step = index if stride == 1 else b.mul(index, I64(stride))
                place = step if isinstance(place, ir.Constant) and place.constant == 0 else b.add(place, step)
        return place

    def _from_origin(self, access: Access) -> int:
        is_number = access.base.kind in (CONST, INDEX)
        return access.offset - (0 if is_number else self.origins[self.region.holder(access.base)])

    def _entry(self, value: Value, place: ir.Value) -> ir.Value:
        """The address of an entry at a place that is computed."""
        pointer = self.pointers[self.region.holder(value)]
        return self.builder.gep(pointer, [place], source_etype=scalars.stored_type(value.dtype))

    def _address_of_result(self, reduction: Value, indices: list[ir.Value | None]) -> ir.Value:
        access = self.results[reduction]
        if reduction not in self.partials:
            return self._address(self.pointers[reduction], access, indices)
        b = self.builder
        offset = b.add(I64(self.partials[reduction]), b.mul(self.chunk, I64(reduction.size * reduction.dtype.itemsize)))
        part = b.gep(self.partial_base, [offset], source_etype=ir.IntType(8))
        return self._address(part, access, indices)

    def _load(self, value: Value) -> ir.Value:
        access = self.loads[value]
        if access.base.kind == CONST:
            return scalars.constant(number_of(access.base), access.base.dtype)
        if access.base.kind == INDEX:
            return scalars.convert(self.builder, self._place(access, self.indices), np.dtype(np.int64), value.dtype)
        pointer = self.pointers[self.region.holder(access.base)]
        return self._loaded(value.dtype, self._address(pointer, access, self.indices))

    def _loaded(self, dtype: np.dtype, address: ir.Value) -> ir.Value:
        b = self.builder
        value = b.load(address, typ=scalars.stored_type(dtype))
        return b.icmp_unsigned("!=", value, ir.Constant(value.type, 0)) if dtype.kind == "b" else value

    def _store(self, value: ir.Value, dtype: np.dtype, address: ir.Value) -> None:
        b = self.builder
        b.store(b.zext(value, ir.IntType(8)) if dtype.kind == "b" else value, address)

    # --- parts of reductions ------------------------------------------------------------------------

    def joiner(self) -> ir.Function:
        """A function that puts the parts of the nest's reductions together, in their order."""
        module, reductions = self.region.module, self.nest.reductions
        name = f"join{next(self.region.writer.numbers)}"
        made = ir.Function(module, ir.FunctionType(VOID, [POINTER] * (len(reductions) + 1)), name)
        made.linkage = "internal"
        for argument in made.args:
            argument.add_attribute("noalias")
        b = self.builder = ir.IRBuilder(made.append_basic_block())
        for reduction, result in zip(reductions, made.args, strict=False):
            kind = scalars.stored_type(reduction.dtype)
            parts = b.gep(made.args[-1], [I64(self.partials[reduction])], source_etype=ir.IntType(8))
            plain = self.region.writer.hint(1, 1)
            with loop(b, I64(0), I64(self.extent)) as chunk, loop(b, I64(0), I64(reduction.size), plain) as index:
                place = b.add(b.mul(chunk, I64(reduction.size)), index)
                part = self._loaded(reduction.dtype, b.gep(parts, [place], source_etype=kind))
                total = b.gep(result, [index], source_etype=kind)
                is_first = b.icmp_signed("==", chunk, I64(0))
                identity = scalars.constant(_identity(reduction), reduction.dtype)
                before = b.select(is_first, identity, self._loaded(reduction.dtype, total))
                self._store(_combined(b, reduction, before, part), reduction.dtype, total)
        b.ret_void()
        return made


def _cost(step: Value) -> int:
    return 1 if step.kind == TAKE else scalars.cost(step.detail)


def _lanes(size: int, widest: int, most: int) -> tuple[int, int]:
    """How many entries of a loop go side by side, and how many times that at once: what is left over goes one by one,
    which costs most where the loop is short. Never more than there are: LLVM makes a loop without end of that for some
    processors.
    """
    choices = [
        (width, times)
        for width in (widest, widest // 2, 4)
        for times in (8, 4, 2, 1)
        if 4 <= width and times <= most and width * times <= size
    ]

    def cost(choice: tuple[int, int]) -> float:
        width, times = choice
        return size // (width * times) * (times + 0.5) + size % (width * times)

    return min(choices, key=cost)


def _result_strides(nest: Nest, reduction: Value) -> tuple[int, ...]:
    """The strides of a reduction's result along the axes of what is reduced."""
    strides = iter(contiguous(reduction.shape))
    return tuple(0 if axis in nest.axes else next(strides) for axis in range(len(nest.shape)))


def _identity(reduction: Value) -> float | int | bool:
    how, dtype = reduction.detail[0], reduction.dtype
    if how in _IDENTITIES:
        return _IDENTITIES[how]
    return int(np.iinfo(dtype).min if how == "max" else np.iinfo(dtype).max)


def _combined(b: ir.IRBuilder, reduction: Value, before: ir.Value, value: ir.Value) -> ir.Value:
    """One more entry of a reduction. The order of sums is open, so several may go side by side."""
    how, dtype = reduction.detail[0], reduction.dtype
    if dtype.kind == "f" and how in ("sum", "prod"):
        return (b.fadd if how == "sum" else b.fmul)(before, value, flags=("reassoc",))
    if how == "peak":
        number = b.select(b.fcmp_unordered("uno", value, value), ir.Constant(value.type, -math.inf), value)
        return b.select(b.fcmp_ordered(">", number, before), number, before, flags=("nnan", "nsz"))
    name = _COMBINE.get(how) or {"max": "maximum", "min": "minimum"}[how]
    return scalars.emit(name, b, dtype, [before, value])


@contextlib.contextmanager
def loop(
    b: ir.IRBuilder, begin: ir.Value, end: ir.Value, hint: ir.MDValue | None = None, step: int = 1
) -> Iterator[ir.Value]:
    """A loop over begin <= index < end; what is written inside is its body."""
    before = b.block
    head, body, after = (b.append_basic_block(n) for n in ("head", "body", "after"))
    b.branch(head)
    b.position_at_end(head)
    index = b.phi(I64)
    index.add_incoming(begin, before)
    b.cbranch(b.icmp_signed("<", index, end), body, after)
    b.position_at_end(body)
    yield index
    index.add_incoming(b.add(index, I64(step)), b.block)
    back = b.branch(head)
    if hint is not None:
        back.set_metadata("llvm.loop", hint)
    b.position_at_end(after)
