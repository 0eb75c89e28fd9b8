"""Static shapes of ops that slide windows, with any size unknown, and windows that can't be."""

import itertools

import numpy as np
import pytest

import everflow as tf
from tests.ops.nn.graphs import x_of


def conv(size=9, window=3, stride=1, padding="SAME", dilation=1):
    made = tf.nn.conv2d(
        x_of(1, size, 9, 1), x_of(window, 3, 1, 1), [1, stride, 1, 1], padding, dilations=[1, dilation, 1, 1]
    )
    return made.shape.as_list()[1]


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_sizes_are_those_of_a_run(sess, padding):
    for size, window, stride, dilation in itertools.product((5, 8), (1, 2, 3), (1, 2, 3), (1, 2)):
        if stride > 1 and dilation > 1:
            continue
        image = tf.constant(np.zeros((1, size, 4, 1), np.float32))
        made = tf.nn.conv2d(
            image, tf.zeros([window, 1, 1, 1]), [1, stride, 1, 1], padding, dilations=[1, dilation, 1, 1]
        )
        assert made.shape.as_list() == list(sess.run(made).shape)


def test_what_is_not_known():
    with tf.Graph().as_default():
        assert conv(size=None) is None and conv(window=None, padding="VALID") is None
        assert conv(window=None, padding="SAME", stride=2) == 5  # the window doesn't matter


@pytest.mark.parametrize(
    "build",
    [
        lambda: conv(stride=0),
        lambda: conv(dilation=0),
        lambda: conv(size=2, padding="VALID"),
        lambda: tf.nn.conv2d(x_of(1, 4, 4, 1), x_of(2, 2, 1, 1), 1, [[0, 0], [-1, 0], [0, 0], [0, 0]]),
        lambda: tf.nn.conv2d(x_of(1, 4, 4, 1), x_of(2, 2, 1, 1), 1, [[1, 0], [0, 0], [0, 0], [0, 0]]),
        lambda: tf.nn.conv2d(x_of(1, 4, 4, 3), x_of(2, 2, 2, 1), 1, "SAME"),
        lambda: tf.nn.conv3d(x_of(1, 4, 4, 4, 4), x_of(2, 2, 2, 2, 1), [1] * 5, "SAME"),
        lambda: tf.nn.depthwise_conv2d_native(x_of(1, 4, 4, 3), x_of(2, 2, 2, 1), [1] * 4, "SAME"),
        lambda: tf.nn.max_pool(x_of(1, 2, 2, 1), 3, 1, "VALID"),
        lambda: tf.nn.dilation2d(x_of(1, 4, 4, 3), x_of(2, 2, 2), [1] * 4, [1] * 4, "SAME"),
    ],
)
def test_windows_that_cannot_be(build):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        build()


def test_channels_in_groups():
    with tf.Graph().as_default():
        assert tf.nn.conv2d(x_of(1, 4, 4, 4), x_of(2, 2, 2, 6), 1, "SAME").shape.as_list() == [1, 4, 4, 6]
        with pytest.raises(ValueError):
            tf.nn.conv2d(x_of(1, 4, 4, 4), x_of(2, 2, 2, 5), 1, "SAME")


def test_gradients_have_the_shapes_they_are_for():
    with tf.Graph().as_default():
        raw, image, window, out = tf.raw_ops, x_of(2, 5, 5, 3), x_of(2, 2, 3, 4), x_of(2, 5, 5, 4)
        options = {"strides": [1, 1, 1, 1], "padding": "SAME"}
        sizes = tf.constant([2, 5, 5, 3])
        assert raw.Conv2DBackpropInput(
            input_sizes=sizes, filter=window, out_backprop=out, **options
        ).shape.as_list() == [2, 5, 5, 3]
        made = raw.Conv2DBackpropFilter(input=image, filter_sizes=[2, 2, 3, 4], out_backprop=out, **options)
        assert made.shape.as_list() == [2, 2, 3, 4]
        pool = {"ksize": [1, 2, 2, 1], **options}
        assert raw.MaxPoolGrad(orig_input=image, orig_output=image, grad=image, **pool).shape.as_list() == [2, 5, 5, 3]


def test_windows_that_only_the_run_tells():
    with tf.Graph().as_default():
        image, window = x_of(2, 5, 5, 3), tf.placeholder(tf.int32, [4])
        made = tf.raw_ops.MaxPoolV2(input=image, ksize=window, strides=[1, 1, 1, 1], padding="VALID")
        assert made.shape.rank is None
        made = tf.raw_ops.MaxPoolV2(input=image, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID")
        assert made.shape.as_list() == [2, 4, 4, 3]
