"""Procedures: machine code that runs regions, products and copies one after the other, in loops and branches.

A procedure has one argument, a block of 64-bit words that its caller fills in: addresses of tensors, of memory for
what lies between, counts. It returns how it ended. Whatever it writes before it ends well is memory that its caller
made for it, so that a procedure that refuses to go on has done nothing: the caller may do the same by other means.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
from llvmlite import ir

from everflow.native import python_calls, scalars
from everflow.native.codegen import Entry, Writer
from everflow.native.nest_code import I32, I64, POINTER, VOID, loop
from everflow.native.products import Matrix, multiply

# How a procedure ends: well; since room for what it keeps ran out; since something is not as it must be; stopped.
DONE, NO_ROOM, REFUSED, STOPPED = range(4)
# The first words of a block: where memory for values begins, and that for what regions do inside; the number of
# threads; how many rounds loops may make before they ask whether to go on, and how many of these are left.
ARENA, SCRATCH, THREADS, PATIENCE, TICKS, FIRST_FREE = range(6)
_ALIGNMENT = 64
_BYTE = ir.IntType(8)
# A function of the caller's that a loop asks now and then: 0 to go on.
WATCH = "everflow_watch"


class Procedure:
    """Writes one procedure. What is written goes where `builder` stands."""

    def __init__(self, writer: Writer, name: str) -> None:
        self.writer, self.module, self.name = writer, writer.module, name
        self.function = ir.Function(self.module, ir.FunctionType(I32, [POINTER]), name)
        self.at_top = ir.IRBuilder(self.function.append_basic_block("top"))
        self.builder = ir.IRBuilder(self.function.append_basic_block("start"))
        self.words = FIRST_FREE
        self.arena = 0  # bytes
        self.scratch = 0  # bytes that the largest region needs for itself
        self._arena, self._scratch = self._loaded_at_top(ARENA), self._loaded_at_top(SCRATCH)
        self._threads = self.at_top.trunc(self.at_top.load(self._word_address(THREADS, self.at_top), typ=I64), I32)

    def end(self) -> None:
        """End the procedure, well; what is at its top leads to where it starts."""
        self.builder.ret(I32(DONE))
        python_calls.write(self.module, self.function)
        self.at_top.branch(self.function.basic_blocks[1])

    # --- memory -----------------------------------------------------------------------------------

    def word(self) -> int:
        """A word of the block for a caller to fill in."""
        self.words += 1
        return self.words - 1

    def _word_address(self, word: int, b: ir.IRBuilder) -> ir.Value:
        return b.gep(self.function.args[0], [I64(word)], source_etype=I64)

    def _loaded_at_top(self, word: int) -> ir.Value:
        return self.at_top.load(self._word_address(word, self.at_top), typ=POINTER)

    def address_in(self, word: int) -> ir.Value:
        """The address that a word holds, which is the same all the time."""
        return self._loaded_at_top(word)

    def address_of(self, word: int) -> ir.Value:
        """Where a word itself lies."""
        return self._word_address(word, self.at_top)

    def number_in(self, word: int) -> ir.Value:
        return self.builder.load(self._word_address(word, self.at_top), typ=I64)

    def set_number(self, word: int, value: ir.Value) -> None:
        self.builder.store(value, self._word_address(word, self.at_top))

    def reserve(self, size: int) -> ir.Value:
        """The address of memory that is the procedure's own."""
        place = self.arena
        self.arena += -(-size // _ALIGNMENT) * _ALIGNMENT
        return self.at_top.gep(self._arena, [I64(place)], source_etype=_BYTE)

    def variable(self, kind: ir.Type = POINTER) -> ir.Value:
        """A local variable, for what branches and loops change."""
        return self.at_top.alloca(kind)

    def offset(self, address: ir.Value, place: ir.Value, size: int) -> ir.Value:
        """The address of an entry of so many bytes."""
        return self.builder.gep(address, [self.builder.mul(place, I64(size))], source_etype=_BYTE)

    def scalar(self, address: ir.Value, dtype: np.dtype) -> ir.Value:
        """The whole number or truth value at an address, in 64 bits."""
        value = self.builder.load(address, typ=scalars.stored_type(dtype))
        if value.type == I64:
            return value
        return (self.builder.sext if dtype.kind == "i" else self.builder.zext)(value, I64)

    def copy(self, to: ir.Value, source: ir.Value, size: int | ir.Value) -> None:
        kinds = [POINTER, POINTER, I64, ir.IntType(1)]
        function = self._external("llvm.memcpy.p0.p0.i64", VOID, kinds)
        bytes_ = I64(size) if isinstance(size, int) else size
        self.builder.call(function, [to, source, bytes_, ir.Constant(ir.IntType(1), 0)])

    # --- steps ------------------------------------------------------------------------------------

    def run(self, entry: Entry, addresses: list[ir.Value]) -> None:
        """Run a region over its inputs and outputs; where it can't, the procedure refuses."""
        self.scratch = max(self.scratch, entry.scratch)
        status = self.builder.call(self.module.globals[entry.name], [*addresses, self._scratch, self._threads])
        if entry.may_refuse:
            self.leave_unless(self.builder.icmp_signed("==", status, I32(0)), REFUSED)

    def product(
        self,
        dtype: np.dtype,
        rows: int,
        columns: int,
        inner: int | ir.Value,
        a: Matrix,
        b: Matrix,
        to: ir.Value,
        *,
        adds: bool = False,
    ) -> None:
        """A product of matrices by the BLAS, or that added to what is there."""
        if not isinstance(inner, int):
            count, inner = inner, self.variable(I32)
            self.builder.store(count, inner)
        multiply(self.builder, dtype, (rows, columns, inner), a, b, to, adds=adds)

    def _external(self, name: str, result: ir.Type, arguments: list[ir.Type]) -> ir.Function:
        if name not in self.module.globals:
            ir.Function(self.module, ir.FunctionType(result, arguments), name)
        return self.module.globals[name]

    # --- control flow -----------------------------------------------------------------------------

    def leave_unless(self, condition: ir.Value, how: int) -> None:
        """End the procedure unless a condition holds."""
        leave, go_on = (self.builder.append_basic_block(n) for n in ("leave", "on"))
        self.builder.cbranch(condition, go_on, leave)
        self.builder.position_at_end(leave)
        self.builder.ret(I32(how))
        self.builder.position_at_end(go_on)

    @contextlib.contextmanager
    def endless(self) -> Iterator[ir.Block]:
        """A loop that is left by a branch to the block this gives; each round asks now and then whether to go on."""
        b = self.builder
        head, after = (b.append_basic_block(n) for n in ("round", "over"))
        b.branch(head)
        b.position_at_end(head)
        self._tick()
        yield after
        b.branch(head)
        b.position_at_end(after)

    def leave_loop_unless(self, condition: ir.Value, after: ir.Block) -> None:
        body = self.builder.append_basic_block("body")
        self.builder.cbranch(condition, body, after)
        self.builder.position_at_end(body)

    def _tick(self) -> None:
        b = self.builder
        left = b.sub(self.number_in(TICKS), I64(1))
        self.set_number(TICKS, left)
        with b.if_then(b.icmp_signed("<=", left, I64(0)), likely=False):
            self.set_number(TICKS, self.number_in(PATIENCE))
            answer = b.call(self._external(WATCH, I32, []), [])
            self.leave_unless(b.icmp_signed("==", answer, I32(0)), STOPPED)

    @contextlib.contextmanager
    def times(self, count: int) -> Iterator[ir.Value]:
        """A loop of so many rounds, which gives the number of each."""
        with loop(self.builder, I64(0), I64(count)) as index:
            yield index
