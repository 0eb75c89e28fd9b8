"""Element-wise functions on one number each, as LLVM IR: arithmetic, tests, choices and conversions. The elementary
functions are in `math_functions.py`.

Additions and multiplications round one by one, as in TensorFlow: nothing is contracted or reordered.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from llvmlite import ir

from everflow.native.formulas import FLOAT
from everflow.native.math_functions import AS_TENSORFLOW, FUNCTIONS, SINGLE_PRECISION_ONLY
from everflow.native.normals import normal_of
from everflow.native.philox import block, fractions

# Those whose results are TensorFlow's to the last bit, wherever it does not take small numbers for zero.
_IN_SINGLE_PRECISION = {name: AS_TENSORFLOW[name] for name in ("log1p", "sigmoid", "softplus", "tanh")}

Emit = Callable[[ir.IRBuilder, np.dtype, list[ir.Value]], ir.Value]

_TYPES = {"f4": ir.FloatType(), "f8": ir.DoubleType(), "b1": ir.IntType(1)}


def llvm_type(dtype: np.dtype) -> ir.Type:
    """The type of a number in a register."""
    return _TYPES.get(dtype.str[1:]) or ir.IntType(8 * dtype.itemsize)


def stored_type(dtype: np.dtype) -> ir.Type:
    """The type of a number in memory: a truth value takes a byte."""
    return ir.IntType(8) if dtype.kind == "b" else llvm_type(dtype)


def constant(number: object, dtype: np.dtype) -> ir.Constant:
    return ir.Constant(llvm_type(dtype), int(number) if dtype.kind in "biu" else number)  # type: ignore[call-overload]


def emit(function: str, builder: ir.IRBuilder, dtype: np.dtype, operands: list[ir.Value]) -> ir.Value:
    """Write a function; `dtype` is that of its operands (of a choice, that of its sides)."""
    if function in FUNCTIONS:
        form = _IN_SINGLE_PRECISION.get(function) if dtype.itemsize == 4 else None
        return (form or FUNCTIONS[function])(builder, *operands)
    return _EMITTERS[function](builder, dtype, operands)


def cost(function: str) -> int:
    """About how many instructions a function takes."""
    return 20 if function in _DRAWS else 10 if function in FUNCTIONS else 1


def is_known(function: str, dtype: np.dtype) -> bool:
    """Whether a function can be written for numbers of this type."""
    if function in FUNCTIONS:
        return dtype.kind == "f" and (dtype.itemsize == 4 or function not in SINGLE_PRECISION_ONLY)
    return function in _EMITTERS and dtype.kind in _KINDS.get(function, "fiub")


def _either(of_floats: str, of_integers: str) -> Emit:
    def write(builder: ir.IRBuilder, dtype: np.dtype, operands: list[ir.Value]) -> ir.Value:
        return getattr(builder, of_floats if dtype.kind == "f" else of_integers)(*operands)

    return write


def _comparison(operator: str) -> Emit:
    """False where a side is NaN; `!=` is true there."""

    def write(builder: ir.IRBuilder, dtype: np.dtype, operands: list[ir.Value]) -> ir.Value:
        if dtype.kind != "f":
            return (builder.icmp_signed if dtype.kind == "i" else builder.icmp_unsigned)(operator, *operands)
        return (builder.fcmp_unordered if operator == "!=" else builder.fcmp_ordered)(operator, *operands)

    return write


def _choice(operator: str) -> Emit:
    """The second operand where the comparison holds for it and the first, else the first."""
    compare = _comparison(operator)

    def write(builder: ir.IRBuilder, dtype: np.dtype, operands: list[ir.Value]) -> ir.Value:
        first, second = operands
        return builder.select(compare(builder, dtype, [second, first]), second, first)

    return write


def _intrinsic(name: str) -> Emit:
    def write(builder: ir.IRBuilder, dtype: np.dtype, operands: list[ir.Value]) -> ir.Value:
        type_ = operands[0].type
        function = builder.module.declare_intrinsic(name, [type_], ir.FunctionType(type_, [type_] * len(operands)))
        return builder.call(function, operands)

    return write


def _absolute(builder: ir.IRBuilder, dtype: np.dtype, operands: list[ir.Value]) -> ir.Value:
    if dtype.kind == "f":
        return _intrinsic("llvm.fabs")(builder, dtype, operands)
    negative = builder.icmp_signed("<", operands[0], ir.Constant(operands[0].type, 0))
    return builder.select(negative, builder.neg(operands[0]), operands[0])


def _finite(builder: ir.IRBuilder, dtype: np.dtype, operands: list[ir.Value]) -> ir.Value:
    size = _intrinsic("llvm.fabs")(builder, dtype, operands)
    return builder.fcmp_ordered("<", size, ir.Constant(size.type, float("inf")))


def _infinite(builder: ir.IRBuilder, dtype: np.dtype, operands: list[ir.Value]) -> ir.Value:
    size = _intrinsic("llvm.fabs")(builder, dtype, operands)
    return builder.fcmp_ordered("==", size, ir.Constant(size.type, float("inf")))


def _floor_division(builder: ir.IRBuilder, dtype: np.dtype, operands: list[ir.Value]) -> tuple[ir.Value, ir.Value]:
    """Quotient and rest of whole numbers, rounded down; the divisor is positive."""
    number, divisor = operands
    quotient, rest = builder.sdiv(number, divisor), builder.srem(number, divisor)
    is_below = builder.icmp_signed("<", rest, ir.Constant(rest.type, 0))
    less = builder.sub(quotient, ir.Constant(rest.type, 1))
    return builder.select(is_below, less, quotient), builder.select(is_below, builder.add(rest, divisor), rest)


def _draw(kind: str, position: int) -> Emit:
    """One of the numbers of a block of random words: operands are the stream's key, its counter, and the block."""

    def write(builder: ir.IRBuilder, dtype: np.dtype, operands: list[ir.Value]) -> ir.Value:
        words = block(builder, *operands)
        return normal_of(words, position) if kind == "normal" else fractions(words, FLOAT)[position]

    return write


_DRAWS = {f"{kind}{i}": _draw(kind, i) for kind in ("uniform", "normal") for i in range(4)}
_EMITTERS: dict[str, Emit] = _DRAWS | {
    "floor_div": lambda *given: _floor_division(*given)[0],
    "floor_mod": lambda *given: _floor_division(*given)[1],
    "add": _either("fadd", "add"),
    "sub": _either("fsub", "sub"),
    "mul": _either("fmul", "mul"),
    "div": lambda builder, dtype, operands: builder.fdiv(*operands),
    "neg": _either("fneg", "neg"),
    "abs": _absolute,
    "maximum": _choice(">"),
    "minimum": _choice("<"),
    "less": _comparison("<"),
    "less_equal": _comparison("<="),
    "greater": _comparison(">"),
    "greater_equal": _comparison(">="),
    "equal": _comparison("=="),
    "not_equal": _comparison("!="),
    "and": lambda builder, dtype, operands: builder.and_(*operands),
    "or": lambda builder, dtype, operands: builder.or_(*operands),
    "not": lambda builder, dtype, operands: builder.not_(*operands),
    "select": lambda builder, dtype, operands: builder.select(*operands),
    "is_nan": lambda builder, dtype, operands: builder.fcmp_unordered("uno", operands[0], operands[0]),
    "is_inf": _infinite,
    "is_finite": _finite,
}
# The kinds of numbers (numpy's letters) that a function is for, where those are not all.
_KINDS = dict.fromkeys(["div", "is_nan", "is_inf", "is_finite"], "f") | dict.fromkeys(
    ["add", "sub", "mul", "neg", "abs"], "fiu"
)
_KINDS |= dict.fromkeys(["floor_div", "floor_mod"], "i")


def can_convert(dtype: np.dtype, to: np.dtype) -> bool:
    """Whether `convert` gives what TensorFlow gives: floats beyond the range of a short integer are not told apart."""
    return not (dtype.kind == "f" and (to.kind == "u" or (to.kind == "i" and to.itemsize < 4)))


def convert(builder: ir.IRBuilder, value: ir.Value, dtype: np.dtype, to: np.dtype) -> ir.Value:
    """A number as one of another type."""
    target = llvm_type(to)
    if to.kind == "b":
        return _comparison("!=")(builder, dtype, [value, ir.Constant(value.type, 0)])
    if dtype.kind == "f" and to.kind == "i":
        return _whole(builder, value, target)
    if dtype.kind == "f":
        return (builder.fpext if to.itemsize > dtype.itemsize else builder.fptrunc)(value, target)
    if to.kind == "f":
        return (builder.sitofp if dtype.kind == "i" else builder.uitofp)(value, target)
    if target.width == value.type.width:
        return value
    if target.width < value.type.width:
        return builder.trunc(value, target)
    return (builder.sext if dtype.kind == "i" else builder.zext)(value, target)


def _whole(builder: ir.IRBuilder, value: ir.Value, target: ir.IntType) -> ir.Value:
    """A float without its fraction; what is no number of the type becomes the least of it, as processors have it."""
    limit = 2.0 ** (target.width - 1)
    fits = builder.and_(
        builder.fcmp_ordered(">=", value, ir.Constant(value.type, -limit)),
        builder.fcmp_ordered("<", value, ir.Constant(value.type, limit)),
    )
    whole = builder.fptosi(builder.select(fits, value, ir.Constant(value.type, 0.0)), target)
    return builder.select(fits, whole, ir.Constant(target, -(1 << (target.width - 1))))
