"""Activations of half precision (and softplus of bfloat16): TensorFlow rounds after every step of them, where ATen computes in single precision and
rounds once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from everflow.framework import dtypes
from everflow.kernels.nn.activations import SELU_SCALE, SELU_SCALE_ALPHA
from everflow.kernels.registry import specialize

if TYPE_CHECKING:
    from everflow.kernels.context import Node

# What softplus takes for the spacing of halves at one (it is 2**-10): from -log of it less two on, it is its argument.
_SPACING = 2.0**-13
_BOUND = float(torch.tensor(-math.log(_SPACING), dtype=torch.float16) - 2)


def sigmoid(x: torch.Tensor) -> torch.Tensor:
    """1 / (1 + exp(-x)), rounded three times."""
    return (torch.exp(-x) + 1).reciprocal()


def softplus(x: torch.Tensor) -> torch.Tensor:
    """log(1 + exp(x)); its argument, or exp of it, where the sum would lose the smaller part."""
    powers = torch.exp(x)
    between = torch.log(powers + 1)
    return torch.where(x > _BOUND, x, torch.where(x < -_BOUND, powers, between))


def softplus_of_short_floats(x: torch.Tensor) -> torch.Tensor:
    """log(1 + exp(x)) of bfloat16, whose spacing TensorFlow doesn't know: there is no bound."""
    return torch.log(torch.exp(x) + 1)


def softplus_grad(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return grad / (torch.exp(-x) + 1)


def elu(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x < 0, torch.exp(x) - 1, x)


def selu(x: torch.Tensor) -> torch.Tensor:
    scale, scale_alpha = x.new_tensor([SELU_SCALE, SELU_SCALE_ALPHA])
    return torch.where(x < 0, scale_alpha * (torch.exp(x) - 1), scale * x)


_IN_STEPS: dict[str, Callable[..., torch.Tensor]] = {
    "Elu": elu,
    "Selu": selu,
    "Sigmoid": sigmoid,
    "Softplus": softplus,
    "SoftplusGrad": softplus_grad,
}


@specialize(*_IN_STEPS)
def _of_halves(node: Node) -> Callable | None:
    if node.type == "Softplus" and node.input_dtypes[0] == dtypes.bfloat16:
        return softplus_of_short_floats
    return _IN_STEPS[node.type] if node.input_dtypes[0] == dtypes.float16 else None
