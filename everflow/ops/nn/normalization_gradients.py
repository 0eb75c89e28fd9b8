"""Gradients of batch normalization in its fused forms, first and second."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import gradient
from everflow.ops import array
from everflow.ops import math as math_ops
from everflow.ops.gradients.tape import GradientTape


def _fused_grad(op, build, grad, reserves):
    """Calls the gradient op. Without training its kernels take channels last only, so others are turned around it."""
    image, scale = op.inputs[:2]
    data_format = op.get_attr("data_format").decode()
    training = op.get_attr("is_training")
    attrs = {"epsilon": op.get_attr("epsilon"), "is_training": training}
    if training:
        # Its last two outputs are empty, but stand for the gradients of the mean and variance, which are empty then,
        # too.
        return list(build(grad, image, scale, *reserves, data_format=data_format, **attrs))
    turned = data_format == "NCHW"
    if turned:
        image = array.transpose(image, [0, 2, 3, 1])
        grad = array.transpose(grad, [0, 2, 3, 1])
    dx, dscale, doffset, *_ = build(grad, image, scale, *op.inputs[3:5], *reserves[2:], data_format="NHWC", **attrs)
    if turned:
        dx = array.transpose(dx, [0, 3, 1, 2])
    return dx, dscale, doffset, None, None


@gradient("FusedBatchNorm")
def _fused_batch_norm_grad(op, *grads):
    return _fused_grad(op, raw.FusedBatchNormGrad, grads[0], op.outputs[3:5])


@gradient("FusedBatchNormV2")
def _fused_batch_norm_v2_grad(op, *grads):
    return _fused_grad(op, raw.FusedBatchNormGradV2, grads[0], op.outputs[3:5])


@gradient("FusedBatchNormV3")
def _fused_batch_norm_v3_grad(op, *grads):
    return _fused_grad(op, raw.FusedBatchNormGradV3, grads[0], op.outputs[3:6])


@gradient("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def _fused_batch_norm_grad_grad(op, *grads):
    """The second gradient: what the first one computes, written out in plain ops and differentiated."""
    data_format = op.get_attr("data_format").decode()
    epsilon, training = op.get_attr("epsilon"), op.get_attr("is_training")
    grad_y, x, scale, mean, variance = op.inputs[:5]
    # A tape sees these ops only: the incoming gradient may itself come from x or scale, and that way is not taken
    # twice.
    with GradientTape() as tape:
        tape.watch([grad_y, x, scale])
        made = _written_out(grad_y, x, scale, mean, variance, epsilon, data_format, training)
    found = tape.gradient(made, [grad_y, x, scale], output_gradients=list(grads[:3]))
    return [*found, *[None] * (len(op.inputs) - 3)]


def _written_out(grad_y, x, scale, mean, variance, epsilon, data_format, training):
    """The gradients of batch normalization as plain ops."""
    x_dtype, y_dtype = x.dtype.base_dtype, grad_y.dtype.base_dtype
    x, grad_y = math_ops.cast(x, scale.dtype), math_ops.cast(grad_y, scale.dtype)
    axes = [0, 2, 3] if data_format == "NCHW" else [0, 1, 2]
    if data_format == "NCHW":
        channels = [1, array.size(scale), 1, 1]
        scale = array.reshape(scale, channels)
    if training:
        mean_grad = math_ops.reduce_mean(grad_y, axes, keepdims=data_format == "NCHW")
        mean_x = math_ops.reduce_mean(x, axes, keepdims=data_format == "NCHW")
        spread = math_ops.reduce_mean(
            math_ops.squared_difference(x, array.stop_gradient(mean_x)), axes, keepdims=data_format == "NCHW"
        )
        centered_grad, centered = grad_y - mean_grad, x - mean_x
        together = math_ops.reduce_mean(grad_y * centered, axes, keepdims=data_format == "NCHW")
        factor = scale * math_ops.rsqrt(spread + epsilon)
        grad_x = factor * (centered_grad - math_ops.reciprocal(spread + epsilon) * together * centered)
    else:
        if data_format == "NCHW":
            mean, variance = array.reshape(mean, channels), array.reshape(variance, channels)
        centered, spread = x - mean, variance
        grad_x = grad_y * (scale * math_ops.rsqrt(spread + epsilon))
    inverse = math_ops.rsqrt(spread + epsilon)
    summed = math_ops.reduce_sum(grad_y * centered, axes, keepdims=data_format == "NCHW")
    grad_scale = inverse * summed
    if data_format == "NCHW":
        grad_scale = array.squeeze(grad_scale)
    grad_offset = math_ops.reduce_sum(grad_y, axes)
    return math_ops.cast(grad_x, x_dtype) if x_dtype == y_dtype else grad_x, grad_scale, grad_offset


@gradient("BatchNormWithGlobalNormalization")
def _global_normalization_grad(op, grad):
    attrs = {name: op.get_attr(name) for name in ("variance_epsilon", "scale_after_normalization")}
    image, mean, variance, _, gamma = op.inputs
    return list(raw.BatchNormWithGlobalNormalizationGrad(image, mean, variance, gamma, grad, **attrs))
