"""Small convolutions in machine code beside the library's."""

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.nn import convolution_lowerings
from everflow.native.values import input_value

RANDOM = np.random.RandomState(0)


def both_ways(image, filters, strides, padding, dilations=(1, 1), data_format="NHWC", bias=False):
    """A convolution and its gradients by kernels and by machine code; how many kernels of convolutions are left."""
    feeds = RANDOM.randn(*image), RANDOM.randn(*filters), RANDOM.randn(filters[-1])
    shown = []
    for level in (tf.OptimizerOptions.OFF, tf.OptimizerOptions.ON_1):
        options = tf.GraphOptions(optimizer_options=tf.OptimizerOptions(global_jit_level=level))
        with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(graph_options=options)) as sess:
            x, w, b = (tf.placeholder(tf.float32, np.shape(value)) for value in feeds)
            y = tf.nn.conv2d(x, w, [1, *strides, 1], padding, data_format=data_format, dilations=[1, *dilations, 1])
            y = tf.tanh((tf.nn.bias_add(y, b) if bias else y) * 0.1)
            fetches = [y, *tf.gradients(y * y, [x, w])]
            shown.append(sess.run(fetches, dict(zip((x, w, b), feeds, strict=True))))
            text = sess.explain(fetches, [x, w, b]).partition("def plan")[2]
    for kernels, code in zip(*shown, strict=True):
        np.testing.assert_allclose(code, kernels, rtol=1e-4, atol=1e-4)
    return text.count("(Conv2D") + text.count("(_Conv2D")


@pytest.mark.parametrize(
    ("image", "filters", "strides", "padding"),
    [
        ([2, 7, 9, 3], [3, 2, 3, 4], [1, 1], "SAME"),
        ([2, 7, 9, 3], [5, 4, 3, 4], [2, 3], "SAME"),
        ([1, 8, 8, 2], [3, 3, 2, 5], [2, 2], "VALID"),
        ([3, 6, 1, 4], [4, 2, 4, 4], [2, 3], "SAME"),
        ([1, 9, 8, 1], [1, 2, 1, 1], [3, 3], "VALID"),
        ([2, 5, 6, 2], [1, 1, 2, 3], [1, 1], "SAME"),
        ([2, 8, 5, 2], [5, 2, 2, 3], [3, 2], [[0, 0], [2, 1], [2, 2], [0, 0]]),
        ([2, 3, 3, 2], [3, 3, 2, 2], [1, 1], "VALID"),
    ],
)
def test_a_convolution_and_its_gradients(image, filters, strides, padding):
    assert both_ways(image, filters, strides, padding) == 0
    assert both_ways(image, filters, strides, padding, bias=True) == 0


def test_what_is_left_to_the_library():
    """A filter whose taps lie apart has no gradient to its image here."""
    assert both_ways([1, 9, 9, 2], [2, 2, 2, 3], [1, 1], "SAME", dilations=(2, 3)) == 1
    large = input_value(0, "f4", [64, 32, 32, 16]), input_value(1, "f4", [3, 3, 16, 16])
    last, first = (convolution_lowerings.How([1] * 4, "SAME", [], form, [1] * 4) for form in ("NHWC", "NCHW"))
    assert convolution_lowerings.convolution(last, *large) is None
    groups = input_value(0, "f4", [1, 4, 4, 6]), input_value(1, "f4", [3, 3, 3, 6])
    assert convolution_lowerings.convolution(last, *groups) is None
    one = input_value(0, "f4", [1, 4, 4, 3]), input_value(1, "f4", [3, 3, 3, 6])
    assert convolution_lowerings.convolution(first, *one) is None
    assert convolution_lowerings.convolution(last, *one) is not None
    whole = input_value(0, "i4", [1, 4, 4, 3]), input_value(1, "i4", [3, 3, 3, 6])
    assert convolution_lowerings.convolution(last, *whole) is None


def test_a_transposed_convolution_is_machine_code():
    feeds = RANDOM.randn(2, 4, 5, 3), RANDOM.randn(5, 5, 2, 3)
    shown = []
    for level in (tf.OptimizerOptions.OFF, tf.OptimizerOptions.ON_1):
        options = tf.GraphOptions(optimizer_options=tf.OptimizerOptions(global_jit_level=level))
        with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(graph_options=options)) as sess:
            x, w = (tf.placeholder(tf.float32, value.shape) for value in feeds)
            y = tf.tanh(tf.nn.conv2d_transpose(x, w, [2, 8, 10, 2], [1, 2, 2, 1]) * 0.1)
            fetches = [y, *tf.gradients(y, [x, w])]
            shown.append(sess.run(fetches, dict(zip((x, w), feeds, strict=True))))
    for kernels, code in zip(*shown, strict=True):
        np.testing.assert_allclose(code, kernels, rtol=1e-4, atol=1e-4)
