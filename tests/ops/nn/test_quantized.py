"""Ops on quantised images: shapes, and values near those of floats."""

import numpy as np
import pytest

import everflow as tf

IMAGE = np.arange(16.0, dtype=np.float32).reshape(1, 4, 4, 1)


def quantized(value):
    return tf.quantize_v2(value, float(value.min()), float(value.max()), tf.quint8)


def floats(made, dtype=None):
    output, low, high = made
    return tf.dequantize(output, low, high) if dtype is None else tf.cast(output, tf.float32)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("name", ["max", "avg"])
def test_pools(sess, name, padding):
    image = quantized(IMAGE)
    made = getattr(tf.nn, f"quantized_{name}_pool")(
        image.output, image.output_min, image.output_max, [1, 2, 2, 1], [1, 2, 2, 1], padding
    )
    plain = getattr(tf.nn, f"{name}_pool")(IMAGE, 2, 2, padding)
    assert made[0].shape == plain.shape and [t.shape.as_list() for t in made[1:]] == [[], []]
    found, wanted = sess.run([floats(made), plain])
    np.testing.assert_allclose(found, wanted, atol=0.1)


def test_a_convolution(sess):
    window = np.linspace(0.0, 1.0, 8).reshape(2, 2, 1, 2).astype(np.float32)
    image, filters = quantized(IMAGE), quantized(window)
    made = tf.nn.quantized_conv2d(
        image.output, filters.output, image.output_min, image.output_max, filters.output_min, filters.output_max,
        [1, 1, 1, 1], "VALID",
    )  # fmt: skip
    plain = tf.nn.conv2d(IMAGE, window, 1, "VALID")
    assert made[0].dtype == tf.qint32 and made[0].shape == plain.shape
    found, wanted = sess.run([floats(made), plain])
    np.testing.assert_allclose(found, wanted, atol=0.3)


def test_values_are_cut_off(sess):
    x = np.array([-2.0, 0.0, 1.0, 5.0], np.float32)
    image = quantized(x)
    made = tf.nn.quantized_relu_x(image.output, 3.0, image.output_min, image.output_max)
    assert made[0].shape.as_list() == [4]
    np.testing.assert_allclose(sess.run(floats(made)), [0, 0, 1, 3], atol=0.1)


def test_other_shapes():
    with tf.Graph().as_default():
        image = tf.placeholder(tf.quint8, [None, 4, 4, 2])
        bias = tf.raw_ops.QuantizedBiasAdd(
            input=image, bias=tf.placeholder(tf.quint8, [2]), min_input=0.0, max_input=1.0, min_bias=0.0, max_bias=1.0,
            out_type=tf.qint32,
        )  # fmt: skip
        assert bias.output.shape.as_list() == [None, 4, 4, 2] and bias.min_out.shape.as_list() == []
