"""A value in LLVM IR with Python's operators: formulas over numbers, integers and bit patterns then read as they do on
paper. Nothing is computed here; each operator writes one instruction.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
_INSTRUCTIONS = {  # of floats, of integers
    "+": ("fadd", "add"),
    "-": ("fsub", "sub"),
    "*": ("fmul", "mul"),
    "/": ("fdiv", "udiv"),
}


@dataclass(frozen=True)
class Format:
    """How a floating-point type lays out its bits."""

    type: ir.Type
    bits: int
    mantissa: int  # bits stored of it

    @property
    def integer(self) -> ir.IntType:
        return ir.IntType(self.bits)

    @property
    def bias(self) -> int:
        return (1 << (self.bits - self.mantissa - 2)) - 1

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    def bits_of(self, value: float) -> int:
        """The bit pattern of a constant."""
        return int.from_bytes(struct.pack("<f" if self.bits == 32 else "<d", value), "little")

    def rounded(self, value: float) -> float:
        """The nearest number of this type."""
        return struct.unpack("<f", struct.pack("<f", value))[0] if self.bits == 32 else value


FORMATS = {FLOAT: Format(FLOAT, 32, 23), DOUBLE: Format(DOUBLE, 64, 52)}


class Scalar:
    """A value and the builder that writes instructions on it. Python numbers beside it become constants of its type;
    comparisons of floats are false for NaN (`!=` is true), and those of integers, like `/` and `>>`, are unsigned.
    """

    __slots__ = ("builder", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        self.builder = builder
        self.value = value

    @property
    def type(self) -> ir.Type:
        return self.value.type

    @property
    def format(self) -> Format:
        """Of a float, or of the float that has as many bits as this integer."""
        return FORMATS[self.type if self._is_float else {32: FLOAT, 64: DOUBLE}[self.type.width]]

    @property
    def _is_float(self) -> bool:
        return isinstance(self.type, (ir.FloatType, ir.DoubleType))

    def like(self, other: Scalar | float) -> Scalar:
        """`other` itself, or the constant of this type."""
        if isinstance(other, Scalar):
            return other
        return Scalar(self.builder, ir.Constant(self.type, other))

    def _apply(self, operator: str, left: Scalar | float, right: Scalar | float) -> Scalar:
        name = _INSTRUCTIONS[operator][0 if self._is_float else 1]
        return Scalar(self.builder, getattr(self.builder, name)(self.like(left).value, self.like(right).value))

    def __add__(self, other: Scalar | float) -> Scalar:
        return self._apply("+", self, other)

    def __radd__(self, other: float) -> Scalar:
        return self._apply("+", other, self)

    def __sub__(self, other: Scalar | float) -> Scalar:
        return self._apply("-", self, other)

    def __rsub__(self, other: float) -> Scalar:
        return self._apply("-", other, self)

    def __mul__(self, other: Scalar | float) -> Scalar:
        return self._apply("*", self, other)

    def __rmul__(self, other: float) -> Scalar:
        return self._apply("*", other, self)

    def __truediv__(self, other: Scalar | float) -> Scalar:
        return self._apply("/", self, other)

    def __rtruediv__(self, other: float) -> Scalar:
        return self._apply("/", other, self)

    def __neg__(self) -> Scalar:
        return Scalar(self.builder, self.builder.fneg(self.value) if self._is_float else self.builder.neg(self.value))

    def __abs__(self) -> Scalar:
        return self.call("llvm.fabs")

    def _compare(self, operator: str, other: Scalar | float) -> Scalar:
        left, right = self.value, self.like(other).value
        if not self._is_float:
            return Scalar(self.builder, self.builder.icmp_unsigned(operator, left, right))
        compare = self.builder.fcmp_unordered if operator == "!=" else self.builder.fcmp_ordered
        return Scalar(self.builder, compare(operator, left, right))

    def __lt__(self, other: Scalar | float) -> Scalar:
        return self._compare("<", other)

    def __le__(self, other: Scalar | float) -> Scalar:
        return self._compare("<=", other)

    def __gt__(self, other: Scalar | float) -> Scalar:
        return self._compare(">", other)

    def __ge__(self, other: Scalar | float) -> Scalar:
        return self._compare(">=", other)

    def __eq__(self, other: Scalar | float) -> Scalar:  # type: ignore[override]
        return self._compare("==", other)

    def __ne__(self, other: Scalar | float) -> Scalar:  # type: ignore[override]
        return self._compare("!=", other)

    def __and__(self, other: Scalar | int) -> Scalar:
        return Scalar(self.builder, self.builder.and_(self.value, self.like(other).value))

    def __or__(self, other: Scalar | int) -> Scalar:
        return Scalar(self.builder, self.builder.or_(self.value, self.like(other).value))

    def __xor__(self, other: Scalar | int) -> Scalar:
        return Scalar(self.builder, self.builder.xor(self.value, self.like(other).value))

    def __invert__(self) -> Scalar:
        return Scalar(self.builder, self.builder.not_(self.value))

    def __lshift__(self, other: Scalar | int) -> Scalar:
        return Scalar(self.builder, self.builder.shl(self.value, self.like(other).value))

    def __rshift__(self, other: Scalar | int) -> Scalar:
        return Scalar(self.builder, self.builder.lshr(self.value, self.like(other).value))

    def call(self, intrinsic: str, *arguments: Scalar | float) -> Scalar:
        """An intrinsic of LLVM for this type, with this value and the arguments."""
        function = self.builder.module.declare_intrinsic(
            intrinsic, [self.type], ir.FunctionType(self.type, [self.type] * (1 + len(arguments)))
        )
        return Scalar(self.builder, self.builder.call(function, [self.value, *(self.like(a).value for a in arguments)]))

    def where(self, yes: Scalar | float, no: Scalar | float) -> Scalar:
        """Of a condition: one of two values. At least one of them is no Python number."""
        model = yes if isinstance(yes, Scalar) else no
        assert isinstance(model, Scalar)
        return Scalar(self.builder, self.builder.select(self.value, model.like(yes).value, model.like(no).value))

    def bits(self) -> Scalar:
        """Of a float: the integer with the same bits."""
        return Scalar(self.builder, self.builder.bitcast(self.value, self.format.integer))

    def from_bits(self) -> Scalar:
        """Of an integer: the float with the same bits."""
        return Scalar(self.builder, self.builder.bitcast(self.value, self.format.type))

    def clamped(self, low: float, high: float) -> Scalar:
        """NaN stays NaN: a comparison with it is false, and the value itself stands on that side."""
        below = (self > high).where(high, self)
        return (below < low).where(low, below)

    def with_sign_of(self, other: Scalar) -> Scalar:
        return self.call("llvm.copysign", other)

    def to(self, type: ir.Type) -> Scalar:
        """A float in another precision, an integer in another width (filled with zeros)."""
        if self.type == type:
            return self
        if self._is_float:
            convert = self.builder.fpext if type == DOUBLE else self.builder.fptrunc
        else:
            convert = self.builder.zext if type.width > self.type.width else self.builder.trunc
        return Scalar(self.builder, convert(self.value, type))


def polynomial(terms: Sequence[Scalar | float], x: Scalar) -> Scalar:
    """By Horner's rule; terms from the constant on."""
    total = x.like(terms[-1])
    for term in reversed(terms[:-1]):
        total = total * x + term
    return total


def table(name: str, values: Sequence[float], index: Scalar) -> Scalar:
    """One of some doubles, which become a constant of the module under that name."""
    module, builder = index.builder.module, index.builder
    type = ir.ArrayType(DOUBLE, len(values))
    constant = module.globals.get(name)
    if constant is None:
        constant = ir.GlobalVariable(module, type, name)
        constant.initializer = ir.Constant(type, [DOUBLE(value) for value in values])
        constant.global_constant = True
        constant.linkage = "private"
    place = builder.gep(constant, [index.type(0), index.value], inbounds=True, source_etype=type)
    return Scalar(builder, builder.load(place, typ=DOUBLE))
