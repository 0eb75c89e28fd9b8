"""Loops over the blocks of a random stream, in LLVM IR."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from llvmlite import ir

from everflow.native import python_calls
from everflow.native.codegen import Writer
from everflow.native.formulas import FLOAT, Scalar
from everflow.native.nest_code import I32, I64, POINTER, VOID, loop
from everflow.native.normals import normals
from everflow.native.philox import block, fractions

# What is made of a block's words, by the kinds that `streams.py` asks for.
_MAKE: dict[str, Callable[[tuple[Scalar, ...]], list[ir.Value]]] = {
    "uniform": lambda words: fractions(words, FLOAT),
    "normal": normals,
    "words": lambda words: [word.to(I32).value for word in words],
}
_LANES = 8  # blocks side by side: their words have 64 bits


def written(kinds: Iterable[str]) -> str:
    """A module with a function of each name: `kind(out, key, low, high, blocks, threads)`."""
    writer = Writer()
    for kind in kinds:
        write(writer, kind)
    return writer.text()


def write(writer: Writer, kind: str) -> ir.Function:
    """The function of this name in a module."""
    if kind in writer.module.globals:
        return writer.module.globals[kind]
    function = ir.Function(writer.module, ir.FunctionType(VOID, [POINTER, I64, I64, I64, I64, I32]), kind)
    out, key, low, high, blocks, _ = function.args
    b = ir.IRBuilder(function.append_basic_block())
    with loop(b, I64(0), blocks, writer.hint(_LANES, 1)) as number:
        words = block(b, key, low, high, number)
        values = _MAKE[kind](words)
        place = b.mul(number, I64(len(values)))
        for position, value in enumerate(values):
            b.store(value, b.gep(out, [b.add(place, I64(position))], source_etype=value.type))
    b.ret_void()
    python_calls.write(writer.module, function)
    return function
