"""The words of the language that loops over bytes are written in: types, and functions of the machine and of Python's C
interface.

A function in it is a Python function, with a type at each argument, that `translation.py` makes LLVM IR of. A type
checker is told what they look like from Python; at run time they are what the translation needs to know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from llvmlite import ir

from everflow.native import toolchain

_BYTE, _HALF, _WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_POINTER = ir.PointerType()


class Type(NamedTuple):
    """A type: what is in a register, and for pointers what is in memory and what it is once loaded."""

    name: str
    register: ir.Type
    signed: bool = True
    stored: ir.Type | None = None
    loaded: Any = None


class Value(NamedTuple):
    """A value while code is written."""

    type: Type
    ir: ir.Value


class External(NamedTuple):
    """A function of the process that Python runs in. Who calls one needs Python's lock."""

    name: str
    result: Type
    arguments: tuple[Type, ...]


class Intrinsic(NamedTuple):
    """A function of the machine: how it is written, and of what types."""

    emit: Callable[..., ir.Value]
    result: Type
    arguments: tuple[Type, ...]


if TYPE_CHECKING:
    I64: TypeAlias = int
    U64: TypeAlias = int
    F32: TypeAlias = float
    F64: TypeAlias = float

    class P8:
        """The address of bytes."""

        def __init__(self, address: P8 | int) -> None: ...
        def __getitem__(self, at: int) -> int: ...
        def __setitem__(self, at: int, value: int) -> None: ...
        def __add__(self, by: int) -> P8: ...
        def __sub__(self, other: P8) -> int: ...
        def __int__(self) -> int: ...

    P32: TypeAlias = P8
    P64: TypeAlias = P8
    PU64: TypeAlias = P8

    class PF64(P8):
        def __getitem__(self, at: int) -> float: ...  # type: ignore[override]
        def __setitem__(self, at: int, value: float) -> None: ...
        def __add__(self, by: int) -> PF64: ...

    PF32: TypeAlias = PF64

    class PP(P8):
        def __getitem__(self, at: int) -> P8: ...  # type: ignore[override]
        def __setitem__(self, at: int, value: P8) -> None: ...  # type: ignore[override]

    def copy(to: P8, start: P8, count: int) -> None: ...
    def stack(count: int) -> P8: ...
    def upper_product(a: int, b: int) -> int: ...
    def bits_of(value: float) -> int: ...
    def float_of(bits: int) -> float: ...
    def leading_zeros(value: int) -> int: ...
    def ones(value: int) -> int: ...
    def swapped(value: int) -> int: ...
    def crc32c_of_word(crc: int, word: int) -> int: ...
    def bytes_type() -> P8: ...
    def new_bytes(start: P8, count: int) -> P8: ...
    def take(object: P8) -> None: ...
    def drop(object: P8) -> None: ...

else:
    I64 = Type("I64", _WORD)
    U64 = Type("U64", _WORD, signed=False)
    F32 = Type("F32", ir.FloatType())
    F64 = Type("F64", ir.DoubleType())
    TRUTH = Type("TRUTH", ir.IntType(1), signed=False)
    NOTHING = Type("NOTHING", ir.VoidType())
    P8 = Type("P8", _POINTER, stored=_BYTE, loaded=I64)
    P32 = Type("P32", _POINTER, stored=_HALF, loaded=I64)
    P64 = Type("P64", _POINTER, stored=_WORD, loaded=I64)
    PU64 = Type("PU64", _POINTER, stored=_WORD, loaded=U64)
    PF32 = Type("PF32", _POINTER, stored=F32.register, loaded=F32)
    PF64 = Type("PF64", _POINTER, stored=F64.register, loaded=F64)
    PP = Type("PP", _POINTER, stored=_POINTER, loaded=P8)

    def _copy(b, to, start, count):
        call = b.module.declare_intrinsic("llvm.memcpy", [_POINTER, _POINTER, _WORD])
        return b.call(call, [to, start, count, ir.Constant(ir.IntType(1), 0)])

    def _stack(b, count):
        with b.goto_entry_block():
            return b.alloca(_BYTE, count, "stack")

    def _upper_product(b, one, other):
        wide = ir.IntType(128)
        product = b.mul(b.zext(one, wide), b.zext(other, wide))
        return b.trunc(b.lshr(product, ir.Constant(wide, 64)), _WORD)

    def _crc32c_of_word(b, crc, word):
        """The processor's own instruction, or one bit after the other."""
        if toolchain.can("x86_64", "sse4_2", "+sse4.2"):
            kind, name = ir.FunctionType(_WORD, [_WORD, _WORD]), "llvm.x86.sse42.crc32.64.64"
            return b.call(b.module.globals.get(name) or ir.Function(b.module, kind, name), [crc, word])
        if toolchain.can("aarch64", "crc32", "+crc"):
            kind, name = ir.FunctionType(_HALF, [_HALF, _WORD]), "llvm.aarch64.crc32cx"
            function = b.module.globals.get(name) or ir.Function(b.module, kind, name)
            return b.zext(b.call(function, [b.trunc(crc, _HALF), word]), _WORD)
        rest = b.xor(crc, word)
        for _ in range(64):
            bit = b.neg(b.and_(rest, _WORD(1)))
            rest = b.xor(b.lshr(rest, _WORD(1)), b.and_(bit, _WORD(0x82F63B78)))
        return rest

    def _bytes_type(b):
        known = b.module.globals.get("PyBytes_Type")
        return known or ir.GlobalVariable(b.module, _BYTE, "PyBytes_Type")

    copy = Intrinsic(_copy, NOTHING, (P8, P8, I64))
    stack = Intrinsic(_stack, P8, (I64,))
    upper_product = Intrinsic(_upper_product, U64, (U64, U64))
    bits_of = Intrinsic(lambda b, x: b.bitcast(x, _WORD), U64, (F64,))
    float_of = Intrinsic(lambda b, x: b.bitcast(x, F64.register), F64, (U64,))
    leading_zeros = Intrinsic(lambda b, x: b.ctlz(x, ir.Constant(ir.IntType(1), 0)), I64, (U64,))
    ones = Intrinsic(lambda b, x: b.ctpop(x), I64, (U64,))
    swapped = Intrinsic(lambda b, x: b.bswap(x), U64, (U64,))  # the last byte first
    crc32c_of_word = Intrinsic(_crc32c_of_word, U64, (U64, U64))
    bytes_type = Intrinsic(_bytes_type, P8, ())
    new_bytes = External("PyBytes_FromStringAndSize", P8, (P8, I64))
    take = External("Py_IncRef", NOTHING, (P8,))
    drop = External("Py_DecRef", NOTHING, (P8,))

TYPES: dict[str, Type] = {name: value for name, value in globals().items() if isinstance(value, Type)}
