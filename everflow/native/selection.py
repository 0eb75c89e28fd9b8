"""The largest entries of rows, in LLVM IR: one pass over a row, which keeps the best so far in order."""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from everflow.native import scalars
from everflow.native.codegen import Writer
from everflow.native.nest_code import I32, I64, POINTER, VOID, loop


def top_k(writer: Writer, dtype: np.dtype) -> ir.Function:
    """`top(numbers, values, places, rows, size, count)`: of each row of numbers the largest, with their places; of
    equal ones the first come first.
    """
    name = f"top_{dtype.str[1:]}"
    if name in writer.module.globals:
        return writer.module.globals[name]
    made = ir.Function(writer.module, ir.FunctionType(VOID, [POINTER, POINTER, POINTER, I64, I64, I64]), name)
    made.linkage = "internal"
    for argument in made.args[:3]:
        argument.add_attribute("noalias")
    numbers, values, places, rows, size, count = made.args
    kind = scalars.stored_type(dtype)
    b = ir.IRBuilder(made.append_basic_block())
    last = b.sub(count, I64(1))
    with loop(b, I64(0), rows) as row:
        row_numbers = b.gep(numbers, [b.mul(row, size)], source_etype=kind)
        row_values = b.gep(values, [b.mul(row, count)], source_etype=kind)
        row_places = b.gep(places, [b.mul(row, count)], source_etype=I32)
        with loop(b, I64(0), size) as place:
            number = b.load(b.gep(row_numbers, [place], source_etype=kind), typ=kind)
            is_early = b.icmp_signed("<", place, count)
            least = b.load(b.gep(row_values, [last], source_etype=kind), typ=kind)
            with b.if_then(b.or_(is_early, scalars.emit("greater", b, dtype, [number, least])), likely=False):
                start = b.select(is_early, place, last)
                _insert(b, dtype, number, place, start, row_values, row_places)
    b.ret_void()
    return made


def _insert(
    b: ir.IRBuilder,
    dtype: np.dtype,
    number: ir.Value,
    place: ir.Value,
    start: ir.Value,
    values: ir.Value,
    places: ir.Value,
) -> None:
    """Move smaller entries one up, from `start` on, and put the new one in."""
    kind = number.type
    before = b.block
    head, test, body, after = (b.append_basic_block(n) for n in ("head", "test", "body", "after"))
    b.branch(head)
    b.position_at_end(head)
    at = b.phi(I64)
    at.add_incoming(start, before)
    b.cbranch(b.icmp_signed(">", at, I64(0)), test, after)
    b.position_at_end(test)
    lower = b.sub(at, I64(1))
    value = b.load(b.gep(values, [lower], source_etype=kind), typ=kind)
    b.cbranch(scalars.emit("less", b, dtype, [value, number]), body, after)
    b.position_at_end(body)
    b.store(value, b.gep(values, [at], source_etype=kind))
    moved = b.load(b.gep(places, [lower], source_etype=I32), typ=I32)
    b.store(moved, b.gep(places, [at], source_etype=I32))
    at.add_incoming(lower, body)
    b.branch(head)
    b.position_at_end(after)
    b.store(number, b.gep(values, [at], source_etype=kind))
    b.store(b.trunc(place, I32), b.gep(places, [at], source_etype=I32))
