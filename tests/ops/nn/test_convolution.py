"""Convolutions: shapes, arguments, and what they refuse."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.nn.graphs import IMAGE, RANDOM, fails_when_run, x_of

CONV = {"strides": [1, 2, 2, 1], "padding": "SAME"}


# what is built, its static shape
SHAPES = [
    (lambda: tf.nn.conv2d(x_of(None, 8, None, 3), x_of(3, 3, 3, 4), **CONV), [None, 4, None, 4]),
    (lambda: tf.nn.conv2d(x_of(None, 8, 7, 3), x_of(None, 3, 3, 4), 1, "VALID"), [None, None, 5, 4]),
    (lambda: tf.nn.conv2d(x_of(None), x_of(3, 3, 3, 4), **CONV), [None, None, None, 4]),
    (lambda: tf.nn.conv2d(x_of(2, 3, 9, 8), x_of(3, 3, 3, 4), 2, "VALID", data_format="NCHW"), [2, 4, 4, 3]),
    (lambda: tf.nn.conv2d_transpose(x_of(2, 4, 4, 3), x_of(3, 3, 5, 3), [2, 8, 8, 5], 2), [2, 8, 8, 5]),
    (lambda: tf.nn.conv3d(x_of(1, 5, 6, 7, 2), x_of(2, 2, 2, 2, 3), [1, 1, 2, 3, 1], "SAME"), [1, 5, 3, 3, 3]),
    (lambda: tf.nn.dilation2d(x_of(None, 5, 6, 2), x_of(2, 2, 2), [1, 1, 2, 1], [1, 1, 1, 1], "SAME"), [None, 5, 3, 2]),
]


@pytest.mark.parametrize("build, expected", SHAPES)
def test_static_shapes(build, expected):
    with tf.Graph().as_default():
        assert build().shape.as_list() == expected


# what raises while a graph is built
REFUSED = [
    (lambda: tf.nn.conv2d(x_of(1, 5, 5, 3), x_of(2, 2, 2, 4), 1, "SAME"), ValueError),
    (lambda: tf.nn.conv2d(x_of(5, 5, 3), x_of(2, 2, 3, 4), 1, "SAME"), ValueError),
    (lambda: tf.nn.conv2d(x_of(1, 5, 5, 3), x_of(7, 2, 3, 4), 1, "VALID"), ValueError),
    (lambda: tf.nn.conv2d(x_of(1, 5, 5, 3), x_of(2, 2, 3, 4), 0, "SAME"), ValueError),
    (lambda: tf.nn.conv2d(x_of(1, 5, 5, 3), x_of(2, 2, 3, 4), 1, "FULL"), ValueError),
    (lambda: tf.nn.conv2d(x_of(1, 5, 5, 3), x_of(2, 2, 3, 4), 1), TypeError),
    (lambda: tf.nn.conv2d(x_of(1, 5, 5, 3, dtype=tf.int32), x_of(2, 2, 3, 4, dtype=tf.int32), 1, "SAME"), TypeError),
]


@pytest.mark.parametrize("build, error", REFUSED)
def test_refused_while_building(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


# build from placeholders of unknown shape, what is fed
WRONG_WHEN_RUN = [
    (lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), [IMAGE, np.zeros((2, 2, 3, 1), np.float32)]),
    (lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), [IMAGE[0], np.zeros((2, 2, 2, 1), np.float32)]),
    (lambda x, w: tf.nn.conv2d(x, w, 1, "VALID"), [IMAGE, np.zeros((9, 2, 2, 1), np.float32)]),
    (
        lambda x, w: tf.nn.depthwise_conv2d_native(x, w, [1, 1, 1, 1], "SAME"),
        [IMAGE, np.zeros((2, 2, 3, 1), np.float32)],
    ),
    (
        lambda s, g: tf.nn.conv2d_backprop_input(s, np.zeros((2, 2, 2, 3), np.float32), g, [1, 1, 1, 1], "SAME"),
        [np.array([1, 5, 5, 2], np.int32), np.zeros((1, 4, 4, 3), np.float32)],
    ),
]


@pytest.mark.parametrize("build, values", WRONG_WHEN_RUN)
def test_wrong_shapes_known_only_when_run(build, values):
    assert fails_when_run(build, values)


def test_old_and_new_argument_names():
    with tf.Graph().as_default():
        x, w = x_of(1, 4, 4, 2), x_of(2, 2, 2, 3)
        assert (
            tf.nn.conv2d(x, filters=w, strides=1, padding="SAME").shape
            == tf.nn.conv2d(x, filter=w, strides=1, padding="SAME").shape
        )
        with pytest.raises(ValueError, match="Cannot specify both"):
            tf.nn.conv2d(x, filter=w, filters=w, strides=1, padding="SAME")
        with pytest.raises(ValueError, match="Cannot specify both"):
            tf.nn.softmax(x, axis=1, dim=1)


@pytest.mark.parametrize("add", [tf.nn.bias_add, tf.add])
def test_a_convolution_and_its_bias_are_one_kernel_with_the_same_values(add):
    with tf.Graph().as_default(), tf.Session() as session:
        x, w, b = (tf.constant(RANDOM.normal(size=s), tf.float32) for s in ([2, 5, 6, 3], [3, 3, 3, 4], [4]))
        image = tf.placeholder_with_default(x, [None, 5, 6, 3])
        convolved = tf.nn.conv2d(image, w, 2, "SAME")
        biased = add(convolved, b)
        together = session.run(biased)
        apart, bias = session.run([convolved, b])
        np.testing.assert_allclose(together, apart + bias, atol=1e-5)


def test_sequences_are_images_of_height_one(sess):
    x, w = RANDOM.normal(size=(2, 7, 3)).astype(np.float32), RANDOM.normal(size=(3, 3, 4)).astype(np.float32)
    wanted = tf.nn.conv2d(x[:, None], w[None], [1, 1, 2, 1], "SAME")
    made = tf.nn.conv1d(x, w, 2, "SAME")
    assert made.shape.as_list() == [2, 4, 4]
    np.testing.assert_allclose(sess.run(made), sess.run(wanted)[:, 0], rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError):
        tf.nn.conv1d(x, w, 1, "SAME", data_format="CNW")


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_transposed_convolutions_are_gradients(sess, spatial):
    window = tf.constant(RANDOM.normal(size=(*[2] * spatial, 3, 4)), tf.float32)
    small = tf.constant(RANDOM.normal(size=(1, *[3] * spatial, 4)), tf.float32)
    large = tf.zeros([1, *[6] * spatial, 3])
    forward = {1: lambda x: tf.nn.conv1d(x, window, 2, "SAME"), 2: lambda x: tf.nn.conv2d(x, window, 2, "SAME"),
               3: lambda x: tf.nn.conv3d(x, window, [1, 2, 2, 2, 1], "SAME")}[spatial]  # fmt: skip
    wanted = tf.gradients(forward(large), large, small)[0]
    made = tf.nn.conv_transpose(small, window, large.shape.as_list(), 2)
    assert made.shape == large.shape
    np.testing.assert_allclose(*sess.run([made, wanted]), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("output_shape", [3, [1, 4]])
def test_shapes_that_are_no_image(output_shape):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.nn.conv_transpose(x_of(1, 4, 4, 3), x_of(2, 2, 1, 3), output_shape, 2)


def test_erosion_undoes_dilation_of_flat_images(sess):
    x = np.zeros([1, 5, 5, 1], np.float32)
    x[0, 2, 2, 0] = 1
    kernel = np.zeros([3, 3, 1], np.float32)
    grown = tf.nn.dilation2d(x, kernel, [1, 1, 1, 1], [1, 1, 1, 1], "SAME")
    shrunk = tf.nn.erosion2d(grown, kernel, [1, 1, 1, 1], [1, 1, 1, 1], "SAME")
    big, small = sess.run([grown, shrunk])
    assert big.sum() == 9 and small[0, 2, 2, 0] == 1


def test_transposed_sequences_and_gradients_by_name(sess):
    x, w = (
        tf.constant(RANDOM.normal(size=(1, 3, 4)), tf.float32),
        tf.constant(RANDOM.normal(size=(2, 3, 4)), tf.float32),
    )
    made = tf.nn.conv1d_transpose(x, w, [1, 6, 3], 2)
    large = tf.zeros([1, 6, 3])
    wanted = tf.gradients(tf.nn.conv1d(large, w, 2, "SAME"), large, x)[0]
    np.testing.assert_allclose(*sess.run([made, wanted]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("depthwise", [False, True])
def test_backward_functions_are_the_gradients(sess, depthwise):
    image, window = (
        tf.constant(RANDOM.normal(size=(1, 4, 4, 2)), tf.float32),
        tf.constant(RANDOM.normal(size=(2, 2, 2, 3)), tf.float32),
    )
    strides = [1, 1, 1, 1]
    if depthwise:
        y = tf.nn.depthwise_conv2d_native(image, window, strides, "SAME")
        back = tf.nn.depthwise_conv2d_native_backprop_input, tf.nn.depthwise_conv2d_native_backprop_filter
    else:
        y = tf.nn.conv2d(image, window, strides, "SAME")
        back = tf.nn.conv2d_backprop_input, tf.nn.conv2d_backprop_filter
    grad = tf.ones_like(y)
    made = [back[0]([1, 4, 4, 2], window, grad, strides=strides, padding="SAME"),
            back[1](image, [2, 2, 2, 3], grad, strides=strides, padding="SAME")]  # fmt: skip
    for found, wanted in zip(sess.run(made), sess.run(tf.gradients(y, [image, window]))):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
