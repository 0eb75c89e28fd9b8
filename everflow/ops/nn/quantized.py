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
    """`conv2d` of quantised images and filters.

    Args:
        input: Quantised images [batch, height, width, channels].
        filter: Quantised filters: [height, width, in, out].
        min_input: The number that the lowest value of `input` stands for.
        max_input: The number that the highest value of `input` stands for.
        min_filter: The number that the lowest value of `filter` stands for.
        max_filter: The number that the highest value of `filter` stands for.
        strides: How far the window moves from one place to the next.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        out_type: The type of the result.
        dilations: The distance, along each axis, between the inputs that neighbouring weights of the filter see.
        name: The name of the operation in the graph.

    Returns:
        The quantised result, and the lowest and highest number of its range.

    Example:
        >>> images, low, high = tf.quantize(tf.ones([1, 2, 2, 1]), 0.0, 1.0, tf.quint8)
        >>> filters, _, _ = tf.quantize(tf.ones([2, 2, 1, 1]), 0.0, 1.0, tf.quint8)
        >>> sess.run(tf.nn.quantized_conv2d(images, filters, low, high, low, high, [1, 1, 1, 1], "VALID"))[0].shape
        (1, 1, 1, 1)
    """
    return raw.QuantizedConv2D(**locals())


def quantized_max_pool(input, min_input, max_input, ksize, strides, padding, name=None):
    """`max_pool` of quantised images.

    Args:
        input: Quantised images [batch, height, width, channels].
        min_input: The number that the lowest value of `input` stands for.
        max_input: The number that the highest value of `input` stands for.
        ksize: The extent of the window along each axis.
        strides: How far the window moves from one place to the next.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        name: The name of the operation in the graph.

    Returns:
        The quantised result, and the lowest and highest number of its range.

    Example:
        >>> images, low, high = tf.quantize(tf.ones([1, 2, 2, 1]), 0.0, 1.0, tf.quint8)
        >>> sess.run(tf.nn.quantized_max_pool(images, low, high, [1, 2, 2, 1], [1, 1, 1, 1], "VALID"))[0]
        array([[[[255]]]], dtype=uint8)
    """
    return raw.QuantizedMaxPool(**locals())


def quantized_avg_pool(input, min_input, max_input, ksize, strides, padding, name=None):
    """`avg_pool` of quantised images.

    Args:
        input: Quantised images [batch, height, width, channels].
        min_input: The number that the lowest value of `input` stands for.
        max_input: The number that the highest value of `input` stands for.
        ksize: The extent of the window along each axis.
        strides: How far the window moves from one place to the next.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        name: The name of the operation in the graph.

    Returns:
        The quantised result, and the lowest and highest number of its range.

    Example:
        >>> images, low, high = tf.quantize(tf.ones([1, 2, 2, 1]), 0.0, 1.0, tf.quint8)
        >>> sess.run(tf.nn.quantized_avg_pool(images, low, high, [1, 2, 2, 1], [1, 1, 1, 1], "VALID"))[0]
        array([[[[255]]]], dtype=uint8)
    """
    return raw.QuantizedAvgPool(**locals())


def quantized_relu_x(features, max_value, min_features, max_features, out_type=dtypes.quint8, name=None):
    """`min(max(x, 0), max_value)` of quantised values.

    Args:
        features: The quantised values.
        max_value: The greatest number of the result.
        min_features: The number that the lowest value stands for.
        max_features: The number that the highest value stands for.
        out_type: The type of the result.
        name: The name of the operation in the graph.

    Returns:
        The quantised result, and the lowest and highest number of its range.

    Example:
        >>> x, low, high = tf.quantize([-1.0, 2.0, 9.0], -10.0, 10.0, tf.quint8)
        >>> y, y_low, y_high = tf.nn.quantized_relu_x(x, 6.0, low, high)
        >>> np.round(sess.run(tf.dequantize(y, y_low, y_high)), 1)
        array([0. , 2. , 6.1], dtype=float32)
    """
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
