"""Element-wise math of one input, the ops their gradients use, and the checks for NaN and infinity."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.array.masks import larger, smaller
from everflow.kernels.facts import same
from everflow.kernels.math.dtypes import comparable, from_comparable
from everflow.kernels.math.float_forms import square_root
from everflow.kernels.registry import by_shares, fresh, kernel, safe
from everflow.native.lowering import lower_maps, lowers
from everflow.native.values import Value, apply, select

_SAFE: dict[str, Callable[..., torch.Tensor]] = {
    "Abs": torch.abs,
    "Acos": torch.acos,
    "Acosh": torch.acosh,
    "Asin": torch.asin,
    "Asinh": torch.asinh,
    "Atan": torch.atan,
    "Ceil": torch.ceil,
    "Cos": torch.cos,
    "Exp": torch.exp,
    "Expm1": torch.expm1,
    "Floor": torch.floor,
    "IsFinite": torch.isfinite,
    "IsInf": torch.isinf,
    "IsNan": torch.isnan,
    "Log": torch.log,
    "Log1p": torch.log1p,
    "LogicalNot": torch.logical_not,
    "Neg": torch.neg,
    "Rint": torch.round,
    "Sin": torch.sin,
    "Sqrt": square_root,
    "Square": torch.square,
    "Tan": torch.tan,
    "Tanh": torch.tanh,
}
for _name, _function in _SAFE.items():
    safe(_name)(_function)

for _name, _function in {
    "Atanh": torch.atanh,
    "Cosh": torch.cosh,
    "Rsqrt": torch.rsqrt,
    "Sigmoid": torch.sigmoid,
    "Sinh": torch.sinh,
}.items():
    by_shares(_name)(_function)


@safe("Sign")
def sign(x: torch.Tensor) -> torch.Tensor:
    return torch.sgn(x) if x.is_complex() else torch.sign(x)


@safe("Round")
def round_half_to_even(x: torch.Tensor) -> torch.Tensor:
    # Adding zero turns the -0.0 that torch makes of -0.3 into the 0.0 of TensorFlow, where -0.0 itself stays.
    return torch.where(x == 0, x, torch.round(x).add_(0.0)) if x.is_floating_point() else x.clone()


@safe("Reciprocal", "Inv")
def reciprocal(x: torch.Tensor) -> torch.Tensor:
    return torch.reciprocal(x)


@safe("ReciprocalGrad", "InvGrad")
def reciprocal_grad(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    y = y.conj() if y.is_complex() else y
    return -dy * y * y


@safe("SqrtGrad")
def sqrt_grad(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    return dy * 0.5 / (y.conj() if y.is_complex() else y)


@safe("RsqrtGrad")
def rsqrt_grad(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    y = y.conj() if y.is_complex() else y
    return dy * -0.5 * (y * y * y)


@safe("SigmoidGrad")
def sigmoid_grad(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    # The gradient function conjugates complex outputs of Sigmoid and Tanh before it comes here.
    if y.is_complex():
        return dy * y * (1 - y)
    return torch.ops.aten.sigmoid_backward(dy, y)


@safe("TanhGrad")
def tanh_grad(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    if y.is_complex():
        return dy * (1 - y * y)
    return torch.ops.aten.tanh_backward(dy, y)


@kernel("CheckNumerics", result=same(0))
def check_numerics(tensor: torch.Tensor, *, message: str) -> torch.Tensor:
    # A finite sum proves every element finite; only a sum that isn't needs a closer look.
    if not math.isfinite(tensor.sum()):
        found = [name for name, test in (("Inf", torch.isinf), ("NaN", torch.isnan)) if test(tensor).any()]
        if found:
            raise InvalidArgumentError(None, None, f"{message} : Tensor had {' and '.join(found)} values")
    return tensor


@fresh("ClipByValue")
def clip_by_value(t: torch.Tensor, clip_value_min: torch.Tensor, clip_value_max: torch.Tensor) -> torch.Tensor:
    for bound in (clip_value_min, clip_value_max):
        if bound.dim() and bound.shape != t.shape:
            raise InvalidArgumentError(
                None,
                None,
                "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. "
                f"input shape: {list(t.shape)}clip_value_min shape: {list(clip_value_min.shape)}"
                f"clip_value_max shape: {list(clip_value_max.shape)}",
            )
    if t.dtype in (torch.uint16, torch.uint32, torch.uint64):
        values, highest, lowest = (comparable(v) for v in (t, clip_value_max, clip_value_min))
        return from_comparable(torch.maximum(torch.minimum(values, highest), lowest), t.dtype)
    return larger(smaller(t, clip_value_max), clip_value_min)


# --- as expressions -------------------------------------------------------------------------------

lower_maps(
    {
        "Abs": "abs",
        "Acos": "acos",
        "Acosh": "acosh",
        "Asin": "asin",
        "Asinh": "asinh",
        "Atan": "atan",
        "Atanh": "atanh",
        "Ceil": "ceil",
        "Cos": "cos",
        "Cosh": "cosh",
        "Exp": "exp",
        "Expm1": "expm1",
        "Floor": "floor",
        "IsFinite": "is_finite",
        "IsInf": "is_inf",
        "IsNan": "is_nan",
        "Log": "log",
        "Log1p": "log1p",
        "LogicalNot": "not",
        "Neg": "neg",
        "Rint": "rint",
        "Rsqrt": "rsqrt",
        "Sigmoid": "sigmoid",
        "Sin": "sin",
        "Sinh": "sinh",
        "Sqrt": "sqrt",
        "Tan": "tan",
        "Tanh": "tanh",
    }
)


@lowers("Round")
def _lower_round(x: Value) -> Value:
    return select(x.equals(0), x, apply("rint", x) + 0.0)


@lowers("Sign")
def _lower_sign(x: Value) -> Value:
    return select(x > 0, 1, select(x < 0, -1, x))


@lowers("Square")
def _lower_square(x: Value) -> Value:
    return x * x


@lowers("Reciprocal", "Inv")
def _lower_reciprocal(x: Value) -> Value:
    return 1.0 / x


@lowers("ReciprocalGrad", "InvGrad")
def _lower_reciprocal_grad(y: Value, dy: Value) -> Value:
    return -dy * y * y


@lowers("SqrtGrad")
def _lower_sqrt_grad(y: Value, dy: Value) -> Value:
    return dy * 0.5 / y


@lowers("RsqrtGrad")
def _lower_rsqrt_grad(y: Value, dy: Value) -> Value:
    return dy * -0.5 * (y * y * y)


@lowers("SigmoidGrad")
def _lower_sigmoid_grad(y: Value, dy: Value) -> Value:
    return dy * (1.0 - y) * y


@lowers("TanhGrad")
def _lower_tanh_grad(y: Value, dy: Value) -> Value:
    return dy * (1.0 - y * y)
