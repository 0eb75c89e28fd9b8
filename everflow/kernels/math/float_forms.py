"""ATen's own functions for op types whose kernels also serve text and odd integer types: float nodes need none of that."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.kernels.math.scaled import add_scaled_
from everflow.kernels.registry import function_of, specialize

if TYPE_CHECKING:
    from everflow.kernels.context import Node
    from everflow.kernels.state import Ref, ResourceVariable

_FLOAT_FORMS: dict[str, Callable[..., torch.Tensor]] = {
    "Add": torch.add,
    "Sub": torch.sub,
    "Neg": torch.neg,
    "Square": torch.square,
    "Rsqrt": torch.rsqrt,
    "Exp": torch.exp,
    "Tanh": torch.tanh,
    "Sigmoid": torch.sigmoid,
}


@specialize(*_FLOAT_FORMS)
def _float_form(node: Node) -> Callable | None:
    if node.type == "Sigmoid" and node.input_dtypes[0] == dtypes.float16:
        return None  # has a form of its own: nn/half_activations.py
    return _FLOAT_FORMS[node.type] if all(dtype.is_floating for dtype in node.input_dtypes) else None


# The vector library below ATen takes the root of zero with a trap, and one of seven roots of single precision is an ulp
# off.
def square_root(x: torch.Tensor) -> torch.Tensor:
    """The square root of floats, as numpy takes it: rounded once."""
    if x.dtype not in (torch.float32, torch.float64) or x.device.type != "cpu":
        return torch.sqrt(x)
    with np.errstate(invalid="ignore"):
        return torch.from_numpy(np.asarray(np.sqrt(x.numpy())))


@specialize("Sqrt")
def _square_root_of(node: Node) -> Callable | None:
    return square_root if node.output_dtypes[0].is_floating else None


@specialize("AddN")
def _sum_of_two(node: Node) -> Callable | None:
    """The sum of two tensors, which is what most sums of gradients are."""
    if len(node.inputs) != 2 or not all(dtype.is_floating for dtype in node.input_dtypes):
        return None
    general = function_of(node.type)

    def add(inputs: list[torch.Tensor]) -> torch.Tensor:
        first, second = inputs
        return torch.add(first, second) if first.shape == second.shape else general(inputs)

    return add


@specialize("ApplyGradientDescent", "ResourceApplyGradientDescent")
def _gradient_descent(node: Node) -> Callable | None:
    """The update by a constant rate, without reading the rate each time."""
    rate = node.constant_input(1)
    if rate is None or rate.dim():
        return None
    alpha, general = rate.item(), function_of(node.type)

    def update(variable: Ref | ResourceVariable, rate: torch.Tensor, delta: torch.Tensor) -> Ref | ResourceVariable:
        buffer = variable.value
        if buffer is None or buffer.shape != delta.shape:
            return general(variable, rate, delta)
        add_scaled_(buffer, delta, -alpha)
        return variable

    return update
