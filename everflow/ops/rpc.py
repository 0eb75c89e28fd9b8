"""Calls of services: shapes. One address, method or request may serve for all the others."""

from __future__ import annotations

from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape


@shape_rule("Rpc", "TryRpc")
def _common_shape(op):
    shape = TensorShape([])
    for tensor in op.inputs:
        if tensor.shape.rank is None:
            shape = TensorShape(None)
        elif tensor.shape.rank and shape.rank != 0:
            shape = shape.merge_with(tensor.shape)
        elif tensor.shape.rank:
            shape = tensor.shape
    return shape if op.type == "Rpc" else [shape] * 3


not_differentiable("Rpc", "TryRpc")
