"""The functions of TensorFlow's modules of gradients, `_MatMulGrad(op, grad)` and the like: what is registered for the op
type that a function is named after; and batch normalization's in plain arithmetic, as tests compare it with the fused
op's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from everflow.framework import dtypes
from everflow.framework.operation import Tensor
from everflow.framework.registry import find_gradient
from everflow.ops import array, math

if TYPE_CHECKING:
    from everflow.framework.hints import GradientFunction

__all__ = ["_BatchNormGrad"]


def __getattr__(name: str) -> GradientFunction:
    found = re.fullmatch(r"_(\w+)Grad", name)
    try:
        function = find_gradient(found[1]) if found else None
    except LookupError:
        function = None
    if function is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return function


def _BatchNormGrad(
    grad_y: Tensor,
    x: Tensor,
    scale: Tensor,
    pop_mean: Tensor,
    pop_var: Tensor,
    epsilon: float,
    data_format: str | bytes,
    is_training: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients for the input, scale and offset; in training with the batch's own moments."""
    channels_last = data_format in (b"NHWC", "NHWC")
    axes = [0, 1, 2] if channels_last else [0, 2, 3]

    def wide(vector: Tensor) -> Tensor:
        return vector if channels_last else array.reshape(vector, [1, -1, 1, 1])

    grad, values = (math.cast(each, dtypes.float32) for each in (grad_y, x))

    def mean(each: Any) -> Tensor:
        return math.reduce_mean(each, axis=axes, keepdims=True)

    if is_training:
        centered = values - mean(values)
        by_deviation = math.rsqrt(mean(math.square(centered)) + epsilon)
        normal = centered * by_deviation
        grad_x = wide(scale) * by_deviation * (grad - mean(grad) - normal * mean(grad * normal))
    else:
        by_deviation = wide(math.rsqrt(pop_var + epsilon))
        normal = (values - wide(pop_mean)) * by_deviation
        grad_x = grad * wide(scale) * by_deviation
    return math.cast(grad_x, x.dtype), math.reduce_sum(grad * normal, axis=axes), math.reduce_sum(grad, axis=axes)
