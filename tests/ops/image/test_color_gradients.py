"""The gradient of hue, saturation and value."""

import numpy as np
import pytest

import everflow as tf


def test_gradient_of_hue_saturation_value():
    value = np.array([[0.9, 0.3, 0.1], [0.2, 0.8, 0.5], [0.3, 0.1, 0.7]], np.float32)
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(value)
        y = tf.image.rgb_to_hsv(x)
        assert tf.test.compute_gradient_error(x, [3, 3], y, [3, 3], x_init_value=value, delta=1e-3) < 1e-2


@pytest.mark.parametrize(
    ("pixel", "output", "expected"),
    [
        ([0.9, 0.3, 0.1], 2, [1, 0, 0]),
        ([0.3, 0.3, 0.1], 2, [1, 0, 0]),
        ([0.5, 0.5, 0.5], 2, [1, 0, 0]),
        ([0.0, 0.0, 0.0], 1, [0, 0, 0]),
        ([0.8, 0.2, 0.4], 1, [0.2 / 0.64, -1 / 0.8, 0]),
    ],
)
def test_slopes_by_channel(sess, pixel, output, expected):
    x = tf.constant([pixel])
    grad = tf.gradients(tf.image.rgb_to_hsv(x)[..., output], x)[0]
    np.testing.assert_allclose(sess.run(grad), [expected], atol=1e-6)


def test_grey_has_no_slope_of_hue(sess):
    x = tf.constant([[0.4, 0.4, 0.4], [0.0, 0.0, 0.0]])
    grad = sess.run(tf.gradients(tf.image.rgb_to_hsv(x)[..., 0], x)[0])
    assert np.isfinite(grad).all() and not grad.any()


def test_there_is_none_back(sess):
    x = tf.constant([[0.4, 0.5, 0.6]])
    assert tf.gradients(tf.image.hsv_to_rgb(x), x) == [None]
