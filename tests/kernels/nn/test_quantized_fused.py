"""Quantised products with bias, sum, relu and requantisation in one op, against the same in floats."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw

IMAGE = np.random.RandomState(0).rand(1, 4, 4, 2).astype(np.float32)
FILTERS = np.random.RandomState(1).rand(3, 3, 2, 2).astype(np.float32) - 0.5
BIAS = np.float32([0.1, 0.2])
WHERE = {"strides": [1, 1, 1, 1], "padding": "SAME"}


def run(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


def quantized(values, highest, dtype):
    limit = 255 if dtype == tf.quint8 else 127
    plain = np.round(values / highest * limit).astype(np.uint8 if dtype == tf.quint8 else np.int8)
    return tf.bitcast(tf.constant(plain), dtype)


def inputs(per_channel=False):
    spread = np.float32([0.5, 0.5]) if per_channel else 0.5
    return {
        "input": quantized(IMAGE, 1.0, tf.quint8),
        "filter": quantized(FILTERS, 0.5, tf.qint8),
        "min_input": 0.0,
        "max_input": 1.0,
        "min_filter": -spread,
        "max_filter": spread,
        **WHERE,
    }


def floats(output):
    values, _, high = output
    return values * (high / np.iinfo(values.dtype).max)


PLAIN = {
    "QuantizedConv2DAndRelu": lambda x: np.maximum(x, 0),
    "QuantizedConv2DWithBias": lambda x: x + BIAS,
    "QuantizedConv2DWithBiasAndRelu": lambda x: np.maximum(x + BIAS, 0),
    "QuantizedConv2DPerChannel": lambda x: x,
}


@pytest.mark.parametrize("name", PLAIN)
def test_convolutions_in_the_range_of_a_product(name):
    def build():
        bias = {"bias": BIAS} if "Bias" in name else {}
        return getattr(raw, name)(**inputs("PerChannel" in name), **bias)

    expected = PLAIN[name](run(lambda: tf.nn.conv2d(IMAGE, FILTERS, **WHERE)))
    output = run(build)
    assert output[0].dtype == np.int32
    np.testing.assert_allclose(floats(output), expected, atol=0.02)


FROZEN = {
    "QuantizedConv2DAndReluAndRequantize": lambda x: np.maximum(x, 0),
    "QuantizedConv2DWithBiasAndReluAndRequantize": lambda x: np.maximum(x + BIAS, 0),
    "QuantizedConv2DWithBiasSumAndReluAndRequantize": lambda x: np.maximum(x + BIAS + 1.0, 0),
    "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize": lambda x: np.maximum(x + BIAS + 1.0, 0),
    "QuantizedConv2DAndRequantize": lambda x: x,
    "QuantizedConv2DWithBiasAndRequantize": lambda x: x + BIAS,
}


@pytest.mark.parametrize("name", FROZEN)
def test_convolutions_in_a_range_that_is_asked_for(name):
    unsigned = "Relu" in name

    def build():
        given = inputs()
        if "Bias" in name:
            given["bias"] = BIAS
        if "Sum" in name:
            kind = tf.qint8 if "Signed" in name else tf.quint8
            summand = quantized(np.ones(IMAGE.shape, np.float32), 2.0, kind)
            low = -2.0 if "Signed" in name else 0.0
            given.update(summand=summand, min_summand=low, max_summand=2.0)
        given.update(min_freezed_output=0.0 if unsigned else -4.0, max_freezed_output=4.0)
        return getattr(raw, name)(**given, out_type=tf.quint8 if unsigned else tf.qint8)

    output = run(build)
    expected = FROZEN[name](run(lambda: tf.nn.conv2d(IMAGE, FILTERS, **WHERE)))
    assert (output[1], output[2]) == (0.0 if unsigned else -4.0, 4.0)
    np.testing.assert_allclose(floats(output), expected, atol=0.05)


def test_a_sum_of_floats_in_the_range_of_a_product():
    output = run(lambda: raw.QuantizedConv2DWithBiasSumAndRelu(**inputs(), bias=BIAS, summand=-IMAGE))
    expected = run(lambda: tf.nn.conv2d(IMAGE, FILTERS, **WHERE)) + BIAS - IMAGE
    np.testing.assert_allclose(floats(output), np.maximum(expected, 0), atol=0.02)


@pytest.mark.parametrize("suffix", ["", "WithBias", "WithBiasAndRelu", "WithBiasAndReluAndRequantize"])
def test_depthwise_convolutions(suffix):
    filters = FILTERS[..., :1]
    expected = run(lambda: tf.nn.depthwise_conv2d(IMAGE, filters, [1, 1, 1, 1], "SAME"))
    expected = expected + BIAS if "Bias" in suffix else expected
    expected = np.maximum(expected, 0) if "Relu" in suffix else expected

    def build():
        given = {**inputs(), "filter": quantized(filters, 0.5, tf.qint8)}
        if "Bias" in suffix:
            given["bias"] = BIAS
        if "Requantize" in suffix:
            given.update(min_freezed_output=0.0, max_freezed_output=4.0)
        return getattr(raw, f"QuantizedDepthwiseConv2D{suffix}")(**given)

    np.testing.assert_allclose(floats(run(build)), expected, atol=0.05)


@pytest.mark.parametrize("suffix", ["WithBias", "WithBiasAndRelu", "WithBiasAndReluAndRequantize"])
def test_matrix_products(suffix):
    a, b = IMAGE.reshape(8, 4), FILTERS.reshape(9, 4)
    expected = a @ b.T + np.arange(9) / 10
    expected = np.maximum(expected, 0) if "Relu" in suffix else expected

    def build():
        ranges = {"min_a": 0.0, "max_a": 1.0, "min_b": -0.5, "max_b": 0.5}
        if "Requantize" in suffix:
            ranges.update(min_freezed_output=0.0, max_freezed_output=3.0)
        bias = np.float32(np.arange(9) / 10)
        factors = quantized(a, 1.0, tf.quint8), quantized(b, 0.5, tf.qint8)
        return getattr(raw, f"QuantizedMatMul{suffix}")(*factors, bias=bias, transpose_b=True, **ranges)

    np.testing.assert_allclose(floats(run(build)), expected, atol=0.03)


def test_ranges_of_channels():
    def build():
        values = tf.bitcast(tf.constant([[1 << 30, -(1 << 30)], [1 << 29, 0]], tf.int32), tf.qint32)
        low, high = np.float32([-2.0, -8.0]), np.float32([2.0, 8.0])
        used = raw.RequantizationRangePerChannel(values, low, high, clip_value_max=100.0)
        clipped = raw.RequantizationRangePerChannel(values, low, high, clip_value_max=3.0)
        return used, clipped, raw.RequantizePerChannel(values, low, high, -4.0, 4.0, out_type=tf.qint8)

    used, clipped, (values, low, high) = run(build)
    np.testing.assert_allclose(used, [-4.0, 4.0], rtol=1e-6)
    np.testing.assert_allclose(clipped, [-3.0, 3.0])
    assert values.tolist() == [[32, -127], [16, 0]] and (low, high) == (-4.0, 4.0)
