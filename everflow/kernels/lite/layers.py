"""Convolutions, pools, fully connected layers and normalizations on floats. Weights lie as TensorFlow Lite keeps them:
outputs first.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from everflow.formats.tflite import PADDINGS
from everflow.kernels.lite.arithmetic import activate
from everflow.kernels.lite.registry import Call, lite, tensorflow_op


def window(options: SimpleNamespace, dilated: bool = True) -> dict[str, Any]:
    """The attributes of TensorFlow's op that options of a window stand for."""
    attributes = {
        "strides": [1, options.stride_h, options.stride_w, 1],
        "padding": PADDINGS[options.padding],
        "data_format": "NHWC",
    }
    if dilated:
        attributes["dilations"] = [
            1,
            getattr(options, "dilation_h_factor", 1),
            getattr(options, "dilation_w_factor", 1),
            1,
        ]
    return attributes


def convolve(options: SimpleNamespace, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """A convolution's sums, without bias; w is [outputs, height, width, inputs]."""
    return tensorflow_op("Conv2D", x, w.permute(1, 2, 3, 0), explicit_paddings=[], **window(options))


def convolve_depthwise(options: SimpleNamespace, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """A depthwise convolution's sums; w is [1, height, width, inputs * multiplier]."""
    filters = w.reshape(w.shape[1], w.shape[2], x.shape[3], -1)
    return tensorflow_op("DepthwiseConv2dNative", x, filters, **window(options))


def convolve_transposed(
    options: SimpleNamespace, shape: torch.Tensor, w: torch.Tensor, x: torch.Tensor
) -> torch.Tensor:
    """A transposed convolution's sums, in the shape that is asked for."""
    return tensorflow_op(
        "Conv2DBackpropInput", shape, w.permute(1, 2, 0, 3), x, explicit_paddings=[], **window(options)
    )


def connect(options: SimpleNamespace, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """A fully connected layer's sums: the input's elements as rows that fit the weights."""
    sums = x.reshape(-1, w.shape[-1]) @ w.T
    return sums.reshape(*x.shape[:-1], -1) if options.keep_num_dims else sums


def _with_bias(sums: torch.Tensor, bias: torch.Tensor | None, options: SimpleNamespace) -> torch.Tensor:
    return activate(sums if bias is None else sums + bias, options.fused_activation_function)


@lite("CONV_2D")
def conv(call: Call, x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    return _with_bias(convolve(call.options, x, w), bias, call.options)


@lite("DEPTHWISE_CONV_2D")
def depthwise_conv(call: Call, x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    return _with_bias(convolve_depthwise(call.options, x, w), bias, call.options)


@lite("TRANSPOSE_CONV")
def transpose_conv(call: Call, shape: torch.Tensor, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return convolve_transposed(call.options, shape, w, x)


@lite("FULLY_CONNECTED")
def fully_connected(call: Call, x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    return _with_bias(connect(call.options, x, w), bias, call.options)


def pool(op_type: str, options: SimpleNamespace, x: torch.Tensor) -> torch.Tensor:
    return tensorflow_op(
        op_type, x, ksize=[1, options.filter_height, options.filter_width, 1], **window(options, dilated=False)
    )


@lite("MAX_POOL_2D")
def max_pool(call: Call, x: torch.Tensor) -> torch.Tensor:
    return activate(pool("MaxPool", call.options, x), call.options.fused_activation_function)


@lite("AVERAGE_POOL_2D")
def average_pool(call: Call, x: torch.Tensor) -> torch.Tensor:
    return activate(pool("AvgPool", call.options, x), call.options.fused_activation_function)


@lite("L2_POOL_2D")
def l2_pool(call: Call, x: torch.Tensor) -> torch.Tensor:
    return activate(pool("AvgPool", call.options, x * x).sqrt(), call.options.fused_activation_function)


@lite("L2_NORMALIZATION")
def l2_normalization(call: Call, x: torch.Tensor) -> torch.Tensor:
    length = (x * x).sum(-1, keepdim=True).sqrt()
    return activate(x / length.clamp(min=1e-6), call.options.fused_activation_function)


@lite("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(call: Call, x: torch.Tensor) -> torch.Tensor:
    o = call.options
    return tensorflow_op("LRN", x, depth_radius=o.radius, bias=o.bias, alpha=o.alpha, beta=o.beta)


@lite("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
def non_max_suppression(call: Call, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    op = "NonMaxSuppressionV" + call.name[-1]
    found = tensorflow_op(op, *inputs, pad_to_max_output_size=True)
    return tuple(part.to(torch.int32) if part.dtype is torch.int64 else part for part in found)
