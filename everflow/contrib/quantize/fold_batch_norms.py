"""Batch normalization multiplied into the weights of the layer before it, as inference will do it.

In training the convolution runs with weights scaled by the moving averages, so that their rounding is steady, and what
that does differently from the batch's own statistics is corrected afterwards.
"""

from __future__ import annotations

import dataclasses

from everflow.contrib.graph_editor.reroute import reroute_ts
from everflow.framework import dtypes
from everflow.framework.operation import Operation, Tensor
from everflow.framework.registry import gradient
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.control_flow import cond
from everflow.ops.nn.atrous import depthwise_conv2d

_LAYERS = ("Conv2D", "DepthwiseConv2dNative", "MatMul")
_NORMS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")


@dataclasses.dataclass
class _Average:
    """A moving average, and the multiplication that says how far a step moves it."""

    value: Tensor
    move: Operation


@dataclasses.dataclass
class _Match:
    """A layer with the normalization that follows it."""

    layer: Operation
    norm: Operation
    output: Tensor  # what others take: the normalization's output, or its reshaped form
    weights: Tensor
    mean: Tensor
    variance: Tensor
    moving_mean: _Average | None = None
    moving_variance: _Average | None = None

    gamma = property(lambda self: self.norm.inputs[1])
    beta = property(lambda self: self.norm.inputs[2])
    epsilon = property(lambda self: self.norm.get_attr("epsilon"))
    is_training = property(lambda self: self.norm.get_attr("is_training"))


def fold_batch_norms(graph, step, freeze_delay):
    """Fold each fused batch normalization that directly follows a layer with weights.

    From the step `freeze_delay` on, if it is not None, moving averages take the place of the batch's statistics.
    """
    matches = list(_matches(graph))
    # TensorFlow's kernel gives the unbiased variance, but normalizes with the biased one.
    variances = [_without_bessel_correction(match) if match.is_training else match.variance for match in matches]
    for match, variance in zip(matches, variances):
        _fold(match, variance, step, freeze_delay)


def _matches(graph):
    for norm in graph.get_operations():
        if norm.type not in _NORMS:
            continue
        source, output = norm.inputs[0], norm.outputs[0]
        # Normalization of a dense layer's output goes through images of one pixel, and back.
        if source.op.type == "Reshape":
            source = source.op.inputs[0]
            after = [op for op in output.consumers() if op.type == "Reshape"]
            output = after[0].outputs[0] if after else output
        layer = source.op
        if layer.type not in _LAYERS or len(source.consumers()) > 1 and norm.inputs[0].op is layer:
            continue
        if not norm.get_attr("is_training"):
            yield _Match(layer, norm, output, layer.inputs[1], norm.inputs[3], norm.inputs[4])
            continue
        moving_mean, moving_variance = _averaged_into(norm.outputs[1]), _averaged_into(norm.outputs[2])
        if moving_mean is not None and moving_variance is not None:
            norm._set_attr("_gradient_op_type", b"FoldFusedBatchNormGrad")
            moments = norm.outputs[1], norm.outputs[2]
            yield _Match(layer, norm, output, layer.inputs[1], *moments, moving_mean, moving_variance)


def _averaged_into(statistic):
    """The moving average that a batch's statistic is added to: the other side of the difference of the two."""
    for op in statistic.consumers():
        if op.type == "Sub" and op.inputs[1] is statistic:
            return _Average(op.inputs[0], next(user for user in op.outputs[0].consumers() if user.type == "Mul"))
    return None


def folder_of(op):
    """The name scope that an operation is in."""
    return op.name.rpartition("/")[0]


def below(folder, name):
    """A name in a scope, which may be none."""
    return f"{folder}/{name}" if folder else name


def _fold(match, variance, step, freeze_delay):
    folder = folder_of(match.layer)
    with name_scope(below(folder, "BatchNorm_Fold") + "/"):
        scale = match.gamma * math.rsqrt(variance + match.epsilon)
        bias = math.subtract(match.beta, match.mean * scale, name="bias")
        correction_scale = reciprocal = offset = None
        if match.is_training:
            correction_scale, reciprocal, offset = _correction(match, variance, step, freeze_delay)
        if match.layer.type == "DepthwiseConv2dNative":
            shape = match.weights.shape.as_list()[2:]
            scale = array.reshape(scale, shape, name="scale_reshape")
            if correction_scale is not None:
                correction_scale = array.reshape(correction_scale, shape, name="correction_reshape")
    with name_scope(folder + "/" if folder else None):
        weights = match.weights
        if correction_scale is not None:
            weights = math.multiply(correction_scale, weights, name="correction_mult")
        weights = math.multiply(weights, scale, name="mul_fold")
        folded = _like(match.layer, weights)
        if reciprocal is not None:
            folded = math.add(math.multiply(reciprocal, folded, name="post_conv_mul"), offset, name="correction_add")
        output = math.add(folded, bias, name="add_fold")
    reroute_ts([output], [match.output])


def _without_bessel_correction(match):
    with name_scope(folder_of(match.norm) + "/" if folder_of(match.norm) else None):
        count = math.cast(array.size(match.norm.inputs[0]) / array.size(match.mean), dtypes.float32)
        return math.multiply(match.variance, (count - 1.0) / count, name="Undo_Bessel_Correction")


def _correction(match, variance, step, freeze_delay):
    """(scale, reciprocal, offset): factors of the weights and of the output after them, and what is added."""
    with name_scope("batch_norm_correction"):
        moving_rsqrt = math.rsqrt(match.moving_variance.value + match.epsilon)
        batch_rsqrt = math.rsqrt(variance + match.epsilon)
        scale = array.identity(math.divide(moving_rsqrt, batch_rsqrt, name="scale_compute"), name="correction_scale")
        reciprocal = math.reciprocal(scale, name="reciprocal_compute")
        # How far moving averages would have shifted the output; it counts once they replace the batch's statistics.
        shift = match.mean * batch_rsqrt - match.moving_mean.value * moving_rsqrt
        offset = math.multiply(match.gamma, shift, name="offset_compute")

        def none():
            return array.zeros(offset.shape, dtype=dtypes.float32)

        if freeze_delay is None:
            return scale, reciprocal, none()
        frozen = math.greater_equal(step(), freeze_delay, name="use_moving_average")
        for average, name in ((match.moving_mean, "freeze_moving_mean"), (match.moving_variance, "freeze_moving_var")):
            rate = average.move.inputs[1]
            reroute_ts([cond(frozen, lambda: 0.0, lambda: rate, name=name)], [rate], can_modify=[average.move])  # noqa: B023
        reciprocal = cond(frozen, lambda: array.ones(scale.shape), lambda: reciprocal, name="correction_recip")
        return scale, reciprocal, cond(frozen, lambda: offset, none, name="correction_offset")


@gradient("FoldFusedBatchNormGrad")
def _batch_statistics_grad(op, _, grad_mean, grad_variance, *__):
    """Of a folded normalization only the batch's mean and variance are used, which its own gradient leaves out."""
    x, mean = op.inputs[0], op.outputs[1]
    count = math.cast(array.size(x) / array.size(mean), dtypes.float32)
    through_mean = grad_mean / count
    through_variance = 2.0 * grad_variance * (x - mean) / (count - 1.0)
    return through_mean + through_variance, None, None, None, None


def _like(layer, weights):
    """The layer once more, with other weights."""
    name = layer.name.rpartition("/")[2] + "_Fold"
    if layer.type == "DepthwiseConv2dNative":
        padding, data_format = (layer.get_attr(name).decode() for name in ("padding", "data_format"))
        window = {"strides": layer.get_attr("strides"), "padding": padding, "data_format": data_format}
        return depthwise_conv2d(layer.inputs[0], weights, **window, rate=None, name=name)
    types, attrs = [t.dtype for t in layer.outputs], dict(layer.node_def.attr)
    made = layer.graph.create_op(layer.type, [layer.inputs[0], weights], types, name=name, attrs=attrs)
    return made.outputs[0]
