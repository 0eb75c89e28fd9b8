"""Masks: comparisons that make them, choices by them, numbers made of them.

ATen goes element by element where truth values are involved, and guesses at each what comes next. Here these are a few
passes that it does in vectors, several times as fast for large tensors whose values differ from element to element.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from everflow.kernels.registry import specialize

if TYPE_CHECKING:
    from everflow.kernels.context import Node

# Smaller tensors are done before several passes have begun.
SMALLEST = 1 << 14
_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_COMPARED_AS_NUMBERS = (torch.float32, torch.float64, torch.int32, torch.int64)


def chosen(mask: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """`x` where the mask is true, else `y`; all three broadcast. The bits of the two are exchanged under the mask."""
    integers = _INTEGERS.get(x.element_size())
    if mask.numel() < SMALLEST or integers is None or x.dtype is not y.dtype:
        return torch.where(mask, x, y)
    bits_x, bits_y = x.view(integers), y.view(integers)
    mixed = (bits_x ^ bits_y) & mask.view(torch.int8).neg().to(integers)
    return mixed.bitwise_xor_(bits_y).view(x.dtype)


def as_numbers(mask: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Ones and zeros of a type."""
    return mask.view(torch.uint8).to(dtype)


_COMPARISONS = {
    "Greater": torch.gt,
    "GreaterEqual": torch.ge,
    "Less": torch.lt,
    "LessEqual": torch.le,
    "Equal": torch.eq,
    "NotEqual": torch.ne,
}


def _by_numbers(compare: Callable) -> Callable[..., torch.Tensor]:
    """A comparison whose result is first made of the operands' own type."""

    def run(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        shape = x.shape if x.shape == y.shape or not y.ndim else y.shape if not x.ndim else None
        if shape is None or x.dtype not in _COMPARED_AS_NUMBERS or shape.numel() < SMALLEST:
            return compare(x, y)
        return compare(x, y, out=torch.empty(shape, dtype=x.dtype, device=x.device)).to(torch.bool)

    return run


_BY_NUMBERS = {name: _by_numbers(compare) for name, compare in _COMPARISONS.items()}
_PLAIN_TYPES = ("float32", "float64", "float16", "bfloat16", "int32", "int64")


@specialize(*_COMPARISONS)
def _comparison(node: Node) -> Callable | None:
    if any(dtype.name not in _PLAIN_TYPES for dtype in node.input_dtypes) or not node.attrs.get(
        "incompatible_shape_error", True
    ):
        return None
    shape = node.output_shapes[0]
    count = None if shape is None else shape.num_elements()
    small = count is not None and count < SMALLEST
    return _COMPARISONS[node.type] if small else _BY_NUMBERS[node.type]


# --- the larger and the smaller of two --------------------------------------------------------


def larger(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """`y` where x < y, else `x`: also where `y` is not a number, and of two zeros."""
    if _is_bound(x, y):
        return _bounded(torch.clamp_min, x, y.item())
    found = torch.maximum(y, x)
    return found if _is_plain(y, found) else chosen(x < y, y, x)


def smaller(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """`y` where y < x, else `x`: also where `y` is not a number, and of two zeros."""
    if _is_bound(x, y):
        return _bounded(torch.clamp_max, x, y.item())
    found = torch.minimum(y, x)
    return found if _is_plain(y, found) else chosen(y < x, y, x)


def _is_bound(x: torch.Tensor, y: torch.Tensor) -> bool:
    """Whether `y` is one number for all of `x`."""
    return y.numel() == 1 and y.dim() <= x.dim()


def _bounded(clamp: Callable, x: torch.Tensor, bound: float) -> torch.Tensor:
    """ATen keeps the `x` of equal numbers here, but gives NaN for a bound that is none."""
    return clamp(x, bound) if bound == bound else x.clone()


def _is_plain(y: torch.Tensor, found: torch.Tensor) -> bool:
    """Whether ATen's answer will do. It gives NaN for NaN on either side: a sum shows whether `y` has any. Which of two
    zeros it gives depends on where they are.
    """
    total = y.sum().item()
    return total == total and bool(found.count_nonzero() == found.numel())


@specialize("Maximum", "Minimum")
def _of_a_known_bound(node: Node) -> Callable | None:
    """With a constant as second input there is less to look for."""
    bound = node.constant_input(1)
    if bound is None or not bound.is_floating_point() or bound.isnan().any():
        return None
    if bound.dim() == 0:
        clamp, value = torch.clamp_min if node.type == "Maximum" else torch.clamp_max, bound.item()
        return lambda x, y: clamp(x, value)
    if not bound.all():
        return None
    pick = torch.maximum if node.type == "Maximum" else torch.minimum
    return lambda x, y: pick(y, x)


@specialize("Select")
def _select_of(node: Node) -> Callable | None:
    """The choice between tensors whose shapes the graph knows: by element, or by row as loops do for sequences that
    have ended.
    """
    shapes = [source.output_shapes[output] for source, output in node.inputs]
    sizes: list[list[Any]] = [s.as_list() for s in shapes if s is not None and s.is_fully_defined()]
    if len(sizes) < 3:
        return None
    mask, x, y = sizes
    if node.output_dtypes[0].name in ("string", "variant", "resource") or x != y:
        return None
    if mask == x:
        return torch.where if math.prod(x) < SMALLEST else chosen
    if len(mask) == 1 and len(x) > 1 and mask == x[:1]:
        column = (-1, *[1] * (len(x) - 1))
        return lambda condition, t, e: torch.where(condition.view(column), t, e)
    return None
