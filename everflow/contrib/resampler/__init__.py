"""tf.contrib.resampler: images read at points between pixels."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import gradient, not_differentiable, shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import unknown_shape

__all__ = ["resampler"]


def resampler(data, warp, name="resampler"):
    """Data [batch, height, width, channels] at points [batch, ..., 2] given as (x, y), by linear interpolation."""
    with name_scope(name):
        data_tensor = convert_to_tensor(data, name="data")
        warp_tensor = convert_to_tensor(warp, name="warp")
        return raw.Resampler(data=data_tensor, warp=warp_tensor)


@shape_rule("Resampler")
def _resampler_shape(op):
    data, warp = (t.shape for t in op.inputs)
    if warp.rank is None:
        return unknown_shape()
    return warp[:-1].concatenate(data[-1:] if data.rank is not None else [None])


@shape_rule("ResamplerGrad")
def _resampler_grad_shape(op):
    return [op.inputs[0].shape, op.inputs[1].shape]


@gradient("Resampler")
def _resampler_grad(op, grad):
    data, warp = op.inputs
    made = raw.ResamplerGrad(data=data, warp=warp, grad_output=convert_to_tensor(grad, name="grad_output"))
    return [made.grad_data, made.grad_warp]


not_differentiable("ResamplerGrad")
