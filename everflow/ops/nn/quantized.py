"""nn ops on quantised tensors; each result comes with the floats that its lowest and highest integers stand for."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape
from everflow.ops.nn.windows import convolution_shape, pool_shape

_SCALAR = TensorShape([])


def quantized_conv2d(
    input,
    filter,
    min_input,
    max_input,
    min_filter,
    max_filter,
    strides,
    padding,
    out_type=dtypes.qint32,
    dilations=(1, 1, 1, 1),
    name=None,
):
    """`conv2d` of quantised images and filters."""
    return raw.QuantizedConv2D(**locals())


def quantized_max_pool(input, min_input, max_input, ksize, strides, padding, name=None):
    """`max_pool` of quantised images."""
    return raw.QuantizedMaxPool(**locals())


def quantized_avg_pool(input, min_input, max_input, ksize, strides, padding, name=None):
    """`avg_pool` of quantised images."""
    return raw.QuantizedAvgPool(**locals())


def quantized_relu_x(features, max_value, min_features, max_features, out_type=dtypes.quint8, name=None):
    """`min(max(x, 0), max_value)` of quantised values."""
    return raw.QuantizedReluX(**locals())


@shape_rule("QuantizedConv2D")
def _quantized_conv2d_shape(op):
    return [convolution_shape(op), _SCALAR, _SCALAR]


@shape_rule("QuantizedMaxPool", "QuantizedAvgPool")
def _quantized_pool_shape(op):
    return [pool_shape(op), _SCALAR, _SCALAR]


@shape_rule("QuantizedBiasAdd", "QuantizedInstanceNorm")
def _quantized_same_shape(op):
    return [op.inputs[0].shape, _SCALAR, _SCALAR]


@shape_rule("QuantizedBatchNormWithGlobalNormalization")
def _quantized_batch_norm_shape(op):
    return [op.inputs[0].shape.with_rank(4), _SCALAR, _SCALAR]
