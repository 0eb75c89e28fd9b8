"""Element-wise math of two inputs with broadcasting: arithmetic, comparison, logic, and sums of many tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import InternalError, InvalidArgumentError
from everflow.kernels.array.masks import chosen, larger, smaller
from everflow.kernels.facts import SHARE, same
from everflow.kernels.math.dtypes import comparable, for_unsigned, refuse_types, shape_text, widened
from everflow.kernels.registry import by_shares, fresh, kernel, safe, specialize
from everflow.native.lowering import lower_maps, lowers
from everflow.native.values import apply, const, select

if TYPE_CHECKING:
    from everflow.framework.shapes import TensorShape
    from everflow.kernels.context import Node
    from everflow.kernels.tensors import AnyTensor, Strings, Value
    from everflow.native.values import Value as Expression

_SAFE: dict[str, Callable[..., torch.Tensor]] = {
    "AddV2": torch.add,
    "Greater": torch.gt,
    "GreaterEqual": torch.ge,
    "Less": torch.lt,
    "LessEqual": torch.le,
    "LogicalAnd": torch.logical_and,
    "LogicalOr": torch.logical_or,
    "Mul": torch.mul,
    "NextAfter": torch.nextafter,
}
for _name, _function in _SAFE.items():
    safe(_name)(_function)

by_shares("Atan2")(torch.atan2)


for _name, _function in {
    "Greater": torch.gt,
    "GreaterEqual": torch.ge,
    "Less": torch.lt,
    "LessEqual": torch.le,
}.items():
    for_unsigned[_name] = lambda x, y, compare=_function: compare(comparable(x), comparable(y))


@safe("Add")
def add(x: AnyTensor, y: Value) -> AnyTensor:
    return np.asarray(x + y, object) if isinstance(x, np.ndarray) else torch.add(x, y)


@safe("Sub")
@widened
def subtract(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.sub(x, y)


@safe("Equal")
def equal(x: AnyTensor, y: Value, *, incompatible_shape_error: bool) -> torch.Tensor:
    if not incompatible_shape_error and not _fit(x, y):
        return torch.tensor(False)
    return _string_comparison(np.equal, x, y) if isinstance(x, np.ndarray) else torch.eq(x, y)


@safe("NotEqual")
def not_equal(x: AnyTensor, y: Value, *, incompatible_shape_error: bool) -> torch.Tensor:
    if not incompatible_shape_error and not _fit(x, y):
        return torch.tensor(True)
    return _string_comparison(np.not_equal, x, y) if isinstance(x, np.ndarray) else torch.ne(x, y)


def _fit(x: AnyTensor, y: AnyTensor) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(x.shape), reversed(y.shape), strict=False))


def _string_comparison(compare: np.ufunc, x: Strings, y: Strings) -> torch.Tensor:
    return torch.from_numpy(np.asarray(compare(x, y), dtype=bool))


@fresh("ApproximateEqual")
def approximate_equal(x: torch.Tensor, y: torch.Tensor, *, tolerance: float) -> torch.Tensor:
    if x.shape != y.shape:
        raise InvalidArgumentError(
            None, None, f"x and y must be of the same shape. x shape: {shape_text(x)}. y shape: {shape_text(y)}"
        )
    # The tolerance takes the inputs' type, so for integers it is zero, and nothing is below it.
    return (x - y).abs() < (tolerance if x.is_floating_point() or x.is_complex() else int(tolerance))


# Where one side is NaN, or both are zeros, TensorFlow's comparison is false and the first input is taken.
@safe("Maximum")
def maximum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return larger(x, y) if x.is_floating_point() else torch.maximum(x, y)


@safe("Minimum")
def minimum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return smaller(x, y) if x.is_floating_point() else torch.minimum(x, y)


@safe("SquaredDifference")
def squared_difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    difference = x - y
    return difference * difference.conj() if x.is_complex() else difference * difference


def _zero_where(mask: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return chosen(mask, torch.zeros((), dtype=value.dtype), value)


@safe("DivNoNan")
def div_no_nan(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return _zero_where(y == 0, x / y)


@safe("MulNoNan")
def mul_no_nan(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return _zero_where(y == 0, x * y)


@safe("Xdivy")
def xdivy(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return _zero_where(x == 0, x / y)


@safe("Xlogy")
def xlogy(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return _zero_where(x == 0, x * torch.log(y))


@fresh("Pow", threads_matter_from=SHARE)
def power(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if not (x.is_floating_point() or x.is_complex()) and (y < 0).any():
        raise InvalidArgumentError(None, None, "Integers to negative integer powers are not allowed")
    if y.dim() or not x.is_floating_point():
        return torch.pow(x, y)
    # Torch knows shorter ways for common powers that are plain numbers. They round more than once, which shows where an
    # optimizer takes the power of a decay from one.
    if x.dim() == 0 and x.dtype == torch.float32:
        return torch.pow(x.double(), y.item()).float()
    return torch.pow(x, y.item())


def _integer_division(
    divide: Callable, error: Callable[..., InternalError | InvalidArgumentError]
) -> Callable[..., torch.Tensor]:
    """`divide` on integers, with TensorFlow's error where the divisor is zero."""

    def checked(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        try:
            return divide(x, y)
        except RuntimeError:
            if (y == 0).any():
                raise error() from None
            raise

    return checked


def _by_zero() -> InvalidArgumentError:
    return InvalidArgumentError(None, None, "Integer division by zero")


def _unexpected() -> InternalError:
    return InternalError(
        None, None, "Unexpected error in binary operator (only integer div and mod should have errors)"
    )


_truncated = widened(_integer_division(lambda x, y: torch.div(x, y, rounding_mode="trunc"), _by_zero))
_truncated_unexpected = widened(_integer_division(lambda x, y: torch.div(x, y, rounding_mode="trunc"), _unexpected))
_floored = widened(_integer_division(lambda x, y: torch.div(x, y, rounding_mode="floor"), _by_zero))
_fmod = _integer_division(torch.fmod, _by_zero)
_fmod_unexpected = _integer_division(torch.fmod, _unexpected)
_remainder = _integer_division(torch.remainder, _by_zero)


@fresh("Div")
@safe("RealDiv")  # which is for floats: of integers TensorFlow has no kernel
def divide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.true_divide(x, y) if x.is_floating_point() or x.is_complex() else _truncated(x, y)


@specialize("RealDiv")
def _real_divide_of_node(node: Node) -> Callable | None:
    """ATen's own function for the types that are mostly divided."""
    refuse_types(node)
    return torch.true_divide if node.attrs["T"].is_floating else None


@fresh("TruncateDiv")
def truncate_divide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x / y if x.is_floating_point() or x.is_complex() else _truncated_unexpected(x, y)


@fresh("FloorDiv")
def floor_divide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if x.is_floating_point():
        return torch.floor(x / y)
    quotient = _floored(x, y)
    if x.dtype in (torch.int8, torch.int16):
        # The lowest value has no absolute in its type: TensorFlow's rounding down then gives the quotient of the wrapped one.
        lowest = torch.iinfo(x.dtype).min
        wrapped = torch.div(-(x.int() + y.int() - 1), y.int(), rounding_mode="trunc").to(x.dtype)
        quotient = torch.where((x == lowest) & (y > 0), wrapped, quotient)
    return quotient


@fresh("FloorMod")
def floor_mod(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return _remainder(x, y)


@fresh("Mod")
def mod(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return _fmod(x, y)


@fresh("TruncateMod")
def truncate_mod(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return _fmod_unexpected(x, y)


@kernel("AccumulateNV2", result=same(0))
def accumulate_n(inputs: list[Value], *, shape: TensorShape) -> Value:
    total = add_n(inputs)
    # Plans trust the shape that the node says.
    if not shape.is_compatible_with(total.shape):
        raise InvalidArgumentError(
            None, None, f"The sum is said to be of shape {shape}, but its terms are of {shape_text(total)}"
        )
    return total


@kernel("AddN", result=same(0), fails=False)
def add_n(inputs: list[Value]) -> Value:
    first = inputs[0]
    if not isinstance(first, torch.Tensor):  # variants, such as tensor lists, know how to add themselves
        return sum(inputs[1:], first)
    for index, other in enumerate(inputs):
        if other.shape != first.shape:
            raise InvalidArgumentError(
                None,
                None,
                f"Inputs to operation of type AddN must have the same size and shape.  Input 0: {shape_text(first)} != "
                f"input {index}: {shape_text(other)}",
            )
    if len(inputs) == 1:
        return first
    if first.dtype in (torch.uint16, torch.uint32, torch.uint64):
        return torch.stack([x.to(torch.int64) for x in inputs]).sum(0).to(first.dtype)
    total = torch.add(first, inputs[1])
    for other in inputs[2:]:
        total.add_(other)
    return total


# --- as expressions -------------------------------------------------------------------------------

lower_maps(
    {
        "Add": "add",
        "AddV2": "add",
        "Div": "div",
        "Equal": "equal",
        "Greater": "greater",
        "GreaterEqual": "greater_equal",
        "Less": "less",
        "LessEqual": "less_equal",
        "LogicalAnd": "and",
        "LogicalOr": "or",
        "Maximum": "maximum",
        "Minimum": "minimum",
        "Mul": "mul",
        "NotEqual": "not_equal",
        "Pow": "pow",
        "RealDiv": "div",
        "Sub": "sub",
    }
)


def _lower_floored(function: str) -> Callable[..., Expression | None]:
    """Of whole numbers and one divisor that is known and positive: others may fail, or be too large for their type."""

    def lowered(x: Expression, y: np.ndarray) -> Expression | None:
        fits = x.dtype.itemsize >= 4 and y.size == 1 and y.ndim <= len(x.shape)
        return apply(function, x, const(y.item(), x.dtype)) if fits and x.dtype.kind == "i" and y.item() > 0 else None

    return lowered


lowers("FloorDiv", known=(1,))(_lower_floored("floor_div"))
lowers("FloorMod", known=(1,))(_lower_floored("floor_mod"))


@lowers("SquaredDifference")
def _lower_squared_difference(x: Expression, y: Expression) -> Expression:
    return (x - y) * (x - y)


@lowers("DivNoNan")
def _lower_div_no_nan(x: Expression, y: Expression) -> Expression:
    return select(y.equals(0.0), 0.0, x / y)


@lowers("MulNoNan")
def _lower_mul_no_nan(x: Expression, y: Expression) -> Expression:
    return select(y.equals(0.0), 0.0, x * y)


@lowers("Xdivy")
def _lower_xdivy(x: Expression, y: Expression) -> Expression:
    return select(x.equals(0.0), 0.0, x / y)


@lowers("Xlogy")
def _lower_xlogy(x: Expression, y: Expression) -> Expression:
    return select(x.equals(0.0), 0.0, x * apply("log", y))


@lowers("AddN")
def _lower_add_n(*inputs: Expression) -> Expression:
    total = inputs[0]
    for other in inputs[1:]:
        total = total + other
    return total
