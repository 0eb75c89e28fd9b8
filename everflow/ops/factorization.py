"""Shapes of ops of contrib's models."""

from __future__ import annotations

from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape


@shape_rule("ReinterpretStringToFloat")
def _same_shape(op):
    return op.inputs[0].shape


@shape_rule("PeriodicResample")
def _resampled_shape(op):
    values, wanted = op.inputs[0].shape, op.attrs["shape"].as_list()
    if not values.is_fully_defined() or len(wanted) != values.rank or wanted.count(None) != 1:
        return TensorShape(None)
    times = 1
    for size, before in zip(wanted, values.as_list(), strict=True):
        times *= 1 if size is None else -(-size // before)
    return TensorShape([values.as_list()[i] // times if n is None else n for i, n in enumerate(wanted)])


@shape_rule("PeriodicResampleOpGrad")
def _original_shape(op):
    return op.attrs["original_shape"]


not_differentiable("ReinterpretStringToFloat")
