"""The elementary functions as straight lines of LLVM IR without branches or calls, which the loop vectoriser can make
vectors of. `FUNCTIONS[name](builder, x)` writes one for a float or a double; halves are the caller's to widen. The
formulas are in `exponentials`, `trigonometry` and `special_functions`.

Each stays within 2 units in the last place for every argument, subnormal ones and results included; only very near
the negative zeros of the gamma functions an error may be that small in comparison with one, not with the result.
Nothing is contracted or reordered, and fused multiply-add is not used: results are the same on every machine. NaN,
infinities and zeros give what TensorFlow gives; but subnormal numbers, which it often takes for zero, count here, and
so do the infinity and the negative zero that its single precision root loses. On x86 rounding takes SSE4.1: for
processors without it LLVM calls the C library instead.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from everflow.native import exponentials, special_functions, tensorflow_forms, trigonometry
from everflow.native.formulas import Scalar


def _floor(x: Scalar) -> Scalar:
    return x.call("llvm.floor")


def _ceil(x: Scalar) -> Scalar:
    return x.call("llvm.ceil")


def _rint(x: Scalar) -> Scalar:
    return x.call("llvm.rint")


def _round(x: Scalar) -> Scalar:
    """Half to even. As in TensorFlow nothing but -0 becomes -0."""
    return (x == 0.0).where(x, _rint(x) + 0.0)


def _lowering(function: Callable[..., Scalar]) -> Callable[..., ir.Value]:
    def lower(builder: ir.IRBuilder, *arguments: ir.Value) -> ir.Value:
        return function(*(Scalar(builder, argument) for argument in arguments)).value

    lower.__doc__ = function.__doc__
    return lower


FUNCTIONS: dict[str, Callable[..., ir.Value]] = {
    "ceil": _lowering(_ceil),
    "floor": _lowering(_floor),
    "rint": _lowering(_rint),
    "round": _lowering(_round),
    **{
        name: _lowering(getattr(module, name))
        for module, names in (
            (exponentials, "acosh asinh atanh cosh exp expm1 log log1p pow rsqrt sigmoid sinh softplus sqrt tanh"),
            (special_functions, "digamma erf erfc erfinv lgamma"),
            (trigonometry, "acos asin atan atan2 cos sin tan"),
        )
        for name in names.split()
    },
}
# The others are written for doubles too.
SINGLE_PRECISION_ONLY = frozenset({"digamma", "lgamma"})
# Of single precision as well: with TensorFlow's bits instead of the last digits.
AS_TENSORFLOW: dict[str, Callable[..., ir.Value]] = {
    name: _lowering(getattr(tensorflow_forms, name)) for name in ("sigmoid", "softplus", "tanh")
}
