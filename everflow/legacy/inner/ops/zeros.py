"""tensorflow.python.ops.default_gradient: zeros that stand for the gradient of a tensor or of a variable's handle."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.dtypes import DType
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape
from everflow.ops.gradients.reverse import zeros_for as zeros_like

__all__ = ["get_zeros_dtype", "shape_and_dtype", "zeros_like"]


def shape_and_dtype(t: Tensor) -> tuple[TensorShape, DType]:
    """The shape and type of a tensor, or of the variable that a handle stands for; float32 where nothing is known of that."""
    if t.dtype != dtypes.resource:
        return t.shape, t.dtype
    if not t._handle_data or len(t._handle_data) != 1:
        return TensorShape(None), dtypes.float32
    [(dtype, shape)] = t._handle_data
    return TensorShape(shape), dtypes.as_dtype(dtype)


def get_zeros_dtype(t: Tensor) -> DType:
    """The type that zeros for a tensor have."""
    return shape_and_dtype(t)[1]
