"""Quantisation: values as TensorFlow 1.15.5 gives them."""

import numpy as np
import pytest

import everflow as tf

X = [-1.5, -1.0, -0.3, 0.0, 0.1, 0.26, 0.5, 1.0, 3.0]


@pytest.mark.parametrize(
    ("dtype", "mode", "expected"),
    [
        (tf.quint8, "MIN_COMBINED", [0, 0, 89, 128, 140, 161, 191, 255, 255]),
        (tf.quint8, "MIN_FIRST", [0, 0, 90, 128, 141, 161, 192, 255, 255]),
        (tf.quint8, "SCALED", [0, 0, 0, 0, 26, 66, 128, 255, 255]),
        (tf.qint8, "MIN_COMBINED", [-128, -128, -39, -1, 12, 33, 63, 127, 127]),
        (tf.qint8, "MIN_FIRST", [-128, -128, -38, 0, 13, 33, 64, 127, 127]),
        (tf.qint8, "SCALED", [-128, -127, -38, 0, 13, 33, 64, 127, 127]),
        (tf.qint16, "SCALED", [-32768, -32767, -9830, 0, 3277, 8519, 16384, 32767, 32767]),
        (
            tf.qint32,
            "MIN_FIRST",
            [-(2**31), -(2**31), -644245120, 0, 214748368, 558345728, 2**30, 2147483520, 2147483520],
        ),
    ],
)
def test_quantize_and_back(sess, dtype, mode, expected):
    output, low, high = tf.quantize_v2(X, -1.0, 1.0, dtype, mode)
    values = sess.run(output)
    np.testing.assert_array_equal(values, expected)
    back = sess.run(tf.dequantize(output, low, high, mode))
    inside = np.clip(X, 0 if dtype is tf.quint8 and mode == "SCALED" else -1, 1)
    np.testing.assert_allclose(back, inside, atol=0.02)


def test_ranges_are_checked_and_widened(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="input_max_range must be larger"):
        sess.run(tf.quantize_v2(X, 2.0, 1.0, tf.quint8))
    assert sess.run(tf.quantize_v2(X, 0.5, 2.0, tf.quint8))[1:] == (0.0, 2.0)


def test_quantize_and_dequantize(sess):
    given = sess.run(tf.quantization.quantize_and_dequantize(X, -1.0, 1.0, range_given=True))
    np.testing.assert_allclose(given, [-1.007874, -1, -0.2992126, 0, 0.1023622, 0.2598425, 0.503937, 1, 1], rtol=1e-6)
    own = sess.run(tf.quantization.quantize_and_dequantize(X, 0.0, 0.0, num_bits=4))
    np.testing.assert_allclose(own, [-12 / 7, -6 / 7, -3 / 7, 0, 0, 3 / 7, 3 / 7, 6 / 7, 3], rtol=1e-6)


def test_fake_quantisation_and_its_gradients(sess):
    x = tf.constant(X)
    low, high = tf.constant(-0.3), tf.constant(1.1)
    y = tf.fake_quant_with_min_max_vars(x, low, high, num_bits=3)
    np.testing.assert_allclose(sess.run(y), [-0.2, -0.2, -0.2, 0, 0, 0.2, 0.6, 1, 1.2], rtol=1e-6)
    grads = sess.run(tf.gradients(y, [x, low, high], grad_ys=tf.constant(np.arange(1.0, 10.0), tf.float32)))
    np.testing.assert_array_equal(grads[0], [0, 0, 0, 4, 5, 6, 7, 8, 0])
    assert grads[1:] == [6, 9]


def test_fake_quantisation_per_channel(sess):
    y = np.array(X, np.float32).reshape(3, 3)
    result = sess.run(tf.fake_quant_with_min_max_vars_per_channel(y, [-1.0, 0.0, 0.0], [1.0, 0.5, 0.0]))
    np.testing.assert_allclose(result, [[-0.9960785, 0, 0], [0, 0.1, 0], [0.50196075, 0.5, 0]], rtol=1e-6)


def test_fake_quantisation_refuses(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="min has to be smaller than max"):
        sess.run(tf.fake_quant_with_min_max_args(X, min=1.0, max=0.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_bits must be between 2 and 16"):
        sess.run(tf.fake_quant_with_min_max_args(X, num_bits=1))


def test_quantised_products(sess):
    a = tf.bitcast(tf.constant([[1, 2], [3, 200]], tf.uint8), tf.quint8)
    b = tf.bitcast(tf.constant([[7, 1], [0, 255]], tf.uint8), tf.quint8)
    product = tf.raw_ops.QuantizedMatMul(a=a, b=b, min_a=-1.0, max_a=1.0, min_b=0.0, max_b=2.0)
    values, low, high = sess.run(product)
    np.testing.assert_array_equal(values, [[-889, -32257], [-875, 18235]])
    assert (low, high) == pytest.approx((-132102.046875, 132102.046875))
    shrunk = tf.raw_ops.QuantizeDownAndShrinkRange(
        input=product[0], input_min=product[1], input_max=product[2], out_type=tf.quint8
    )
    np.testing.assert_array_equal(sess.run(shrunk[0]), [[158, 0], [158, 255]])
