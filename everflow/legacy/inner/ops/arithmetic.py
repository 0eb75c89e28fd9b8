"""Names that programs take from inside tensorflow.python.ops.math_ops and math_grad: shapes of sums, the equality of
tensors as Python sees it, and division that goes under a name.
"""

from __future__ import annotations

from typing import Any

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.ops import array, math

__all__ = [
    "DivideDelegateWithName",
    "SmartBroadcastGradientArgs",
    "inv",
    "neg",
    "reduced_shape",
    "tensor_equals",
    "tensor_not_equals",
]


# What math_ops has of the generated functions under old names.
inv, neg = raw.Inv, raw.Neg


def reduced_shape(input_shape: Any, axes: Any) -> Tensor:
    """A shape with 1 in the place of the axes that a sum takes away."""
    input_shape, axes = math.cast(input_shape, dtypes.int32), math.cast(axes, dtypes.int32)
    rank = array.size(input_shape)
    axes = (axes + rank) % rank
    return array.dynamic_stitch([math.range(rank), axes], [input_shape, array.fill(array.shape(axes), 1)])


def tensor_equals(self: Any, other: Any) -> Any:
    """Whether two tensors are one, or where values are compared, whether they are equal."""
    return False if other is None else Tensor.__eq__(self, other)


def tensor_not_equals(self: Any, other: Any) -> Any:
    """Whether two tensors are not one, or where values are compared, whether they differ."""
    return True if other is None else Tensor.__ne__(self, other)


class DivideDelegateWithName:
    """A dividend, to be divided in ops of a given name."""

    def __init__(self, x: Any, name: str):
        self.x = x
        self.name = name

    def __truediv__(self, y: Any) -> Tensor:
        return math.truediv(self.x, y, self.name)

    def __floordiv__(self, y: Any) -> Tensor:
        return math.floordiv(self.x, y, self.name)

    def __div__(self, y: Any) -> Tensor:
        return math.div(self.x, y, self.name)


def SmartBroadcastGradientArgs(x: Tensor, y: Tensor, grad: Tensor) -> tuple:
    """How the gradient of a function that broadcasts is summed to the shape of each argument: (shape, axes, whether there is
    something to sum).
    """
    shapes = x.shape, y.shape
    if all(isinstance(each, Tensor) and each.shape.is_fully_defined() for each in (x, y, grad)):
        sizes = [tuple(shape.as_list()) for shape in shapes]
        rank = max(map(len, sizes))
        padded = [(1,) * (rank - len(size)) + size for size in sizes]
        axes = [tuple(i for i in range(rank) if own[i] == 1) for own in padded]
        reduce = [size != tuple(grad.shape.as_list()) for size in sizes]
        return tuple(zip(sizes, axes, reduce, strict=True))
    sizes = [array.shape(each) for each in (x, y)]
    axes = raw.BroadcastGradientArgs(s0=sizes[0], s1=sizes[1])
    return (sizes[0], axes[0], True), (sizes[1], axes[1], True)
