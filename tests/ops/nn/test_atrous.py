"""Convolutions and pools with holes, depthwise and separable ones."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.nn.graphs import RANDOM, x_of

# what is built, its static shape
SHAPES = [
    (lambda: tf.nn.depthwise_conv2d(x_of(None, 5, 6, 2), x_of(2, 2, 2, 3), [1, 1, 1, 1], "VALID"), [None, 4, 5, 6]),
]


@pytest.mark.parametrize("build, expected", SHAPES)
def test_static_shapes(build, expected):
    with tf.Graph().as_default():
        assert build().shape.as_list() == expected


# what raises while a graph is built
REFUSED = [
    (lambda: tf.nn.pool(x_of(1, 5, 5, 2), [2, 2], "MIN", "SAME"), ValueError),
]


@pytest.mark.parametrize("build, error", REFUSED)
def test_refused_while_building(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


IMAGES = RANDOM.normal(size=(2, 9, 8, 3)).astype(np.float32)
FILTER = RANDOM.normal(size=(3, 2, 3, 4)).astype(np.float32)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("rate", [1, 2, 3])
def test_holes_are_dilations(sess, rate, padding):
    plain = tf.nn.conv2d(IMAGES, FILTER, 1, padding, dilations=rate)
    made = (
        tf.nn.atrous_conv2d(IMAGES, FILTER, rate, padding),
        tf.nn.convolution(IMAGES, FILTER, padding, dilation_rate=[rate, rate]),
    )
    wanted, *found = sess.run([plain, *made])
    for value in found:
        np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rate", [1, 2])
def test_depthwise_and_separable(sess, rate):
    depthwise = RANDOM.normal(size=(3, 3, 3, 2)).astype(np.float32)
    pointwise = RANDOM.normal(size=(1, 1, 6, 5)).astype(np.float32)
    made = tf.nn.separable_conv2d(IMAGES, depthwise, pointwise, [1, 1, 1, 1], "SAME", rate=[rate, rate])
    first = tf.nn.depthwise_conv2d(IMAGES, depthwise, [1, 1, 1, 1], "SAME", rate=[rate, rate])
    found, between = sess.run([made, first])
    np.testing.assert_allclose(found, between @ pointwise[0, 0], rtol=1e-3, atol=1e-4)
    one = tf.nn.conv2d(IMAGES[..., :1], depthwise[:, :, :1], 1, "SAME", dilations=rate)
    np.testing.assert_allclose(between[..., :2], sess.run(one), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", ["MAX", "AVG"])
def test_pools_with_holes(sess, kind):
    x = np.arange(16.0, dtype=np.float32).reshape(1, 4, 4, 1)
    found = sess.run(tf.nn.pool(x, [2, 2], kind, "VALID", dilation_rate=[2, 2]))
    assert found.shape == (1, 2, 2, 1) and found[0, 0, 0, 0] == {"MAX": 10, "AVG": 5}[kind]


def test_back_through_holes(sess):
    value = tf.constant(RANDOM.normal(size=(1, 6, 6, 4)), tf.float32)
    filters = tf.constant(RANDOM.normal(size=(3, 3, 3, 4)), tf.float32)
    made = tf.nn.atrous_conv2d_transpose(value, filters, [1, 6, 6, 3], rate=2, padding="SAME")
    x = tf.zeros([1, 6, 6, 3])
    wanted = tf.gradients(tf.nn.atrous_conv2d(x, filters, 2, "SAME"), x, value)[0]
    np.testing.assert_allclose(*sess.run([made, wanted]), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.nn.convolution(x_of(None), x_of(None), "SAME"), ValueError),
        (lambda: tf.nn.convolution(x_of(1, 4, 4, 3), x_of(2, 2, 2, 1), "SAME"), ValueError),
        (
            lambda: tf.nn.convolution(x_of(1, 4, 4, 3), x_of(2, 2, 3, 1), "SAME", strides=[2, 2], dilation_rate=[2, 2]),
            ValueError,
        ),
        (lambda: tf.nn.convolution(x_of(1, 4, 4, 3), x_of(2, 2, 3, 1), "SAME", dilation_rate=[0, 1]), ValueError),
        (lambda: tf.nn.convolution(x_of(1, 4, 4, 3), x_of(2, 2, 3, 1), "FULL", dilation_rate=[2, 2]), ValueError),
        (lambda: tf.nn.pool(x_of(1, 4, 4, 3), [2, 2], "MAX", "SAME", dilation_rate=[2, 2]), ValueError),
        (
            lambda: tf.nn.pool(x_of(1, 4, 4, 3), [2, 2], "MAX", "VALID", strides=[3, 3], dilation_rate=[1, 1]),
            ValueError,
        ),
        (
            lambda: tf.nn.atrous_conv2d_transpose(x_of(1, 4, 4, 3), x_of(2, 2, 1, 2), [1, 4, 4, 1], 2, "SAME"),
            ValueError,
        ),
        (
            lambda: tf.nn.atrous_conv2d_transpose(x_of(1, 4, 4, 3), x_of(2, 2, 1, 3), [1, 4, 4, 1], 0, "SAME"),
            ValueError,
        ),
    ],
)
def test_holes_that_cannot_be(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


@pytest.mark.parametrize("kind", [tf.float32, tf.float64])
def test_filters_of_plain_numbers_become_of_the_input_s_type(kind):
    images = tf.ones([1, 4, 4, 2], kind)
    for filters in (np.ones([2, 2, 2, 1]), np.ones([2, 2, 2, 1], np.float32), [[[[1], [1]]]]):
        assert tf.nn.convolution(images, filters, "SAME").dtype == kind
    with pytest.raises((TypeError, ValueError)):
        tf.nn.convolution(images, tf.ones([2, 2, 2, 1], tf.float16), "SAME")
