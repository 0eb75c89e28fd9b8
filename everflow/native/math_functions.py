"""The elementary functions as straight lines of LLVM IR without branches or calls, which the loop vectoriser can make
vectors of. `FUNCTIONS[name](builder, x)` writes one for a float or a double; halves are the caller's to widen. The
formulas are in `exponentials`, `trigonometry`, `special_functions` and `rounding`.

Each stays within 2 units in the last place for every argument, subnormal ones and results included; only very near
the negative zeros of the gamma functions an error may be that small in comparison with one, not with the result.
Nothing is contracted or reordered, and fused multiply-add is not used: results are the same on every machine. NaN,
infinities and zeros give what TensorFlow gives; but subnormal numbers, which it often takes for zero, count here, and
so do the infinity and the negative zero that its single precision root loses. On x86 rounding takes SSE4.1: for
processors without it LLVM calls the C library instead.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from llvmlite import ir

from everflow.native import exponentials, rounding, special_functions, tensorflow_forms, trigonometry
from everflow.native.formulas import DOUBLE, Scalar

# The others are written for doubles too.
SINGLE_PRECISION_ONLY = frozenset({"digamma", "lgamma"})


def _lowerings(module: ModuleType, names: str, single: bool = False) -> dict[str, Callable[..., ir.Value]]:
    """Formulas of a module as functions of a builder and values."""

    def lowering(name: str) -> Callable[..., ir.Value]:
        formula = getattr(module, name)

        def lower(builder: ir.IRBuilder, *arguments: ir.Value) -> ir.Value:
            if arguments[0].type == DOUBLE and (single or name in SINGLE_PRECISION_ONLY):
                raise TypeError(f"{name} is written for single precision only")
            return formula(*(Scalar(builder, argument) for argument in arguments)).value

        return lower

    return {name: lowering(name) for name in names.split()}


FUNCTIONS: dict[str, Callable[..., ir.Value]] = {
    **_lowerings(exponentials, "acosh asinh atanh cosh exp expm1 log log1p pow rsqrt sigmoid sinh softplus sqrt tanh"),
    **_lowerings(rounding, "ceil floor rint round"),
    **_lowerings(special_functions, "digamma erf erfc erfinv lgamma"),
    **_lowerings(trigonometry, "acos asin atan atan2 cos sin tan"),
}
# Of single precision: with TensorFlow's bits instead of the last digits.
AS_TENSORFLOW: dict[str, Callable[..., ir.Value]] = _lowerings(
    tensorflow_forms, "expm1 log1p sigmoid softplus tanh", single=True
)
