"""Convolutions over few positions go another way than those over many: one image and the same image many times must
agree.
"""

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.nn import patches as convolution_patches

GEOMETRIES = [
    ((6, 5), (3, 3), 1, 1, "SAME"),
    ((7, 8), (3, 2), 2, 1, "SAME"),
    ((9, 9), (5, 3), 1, 1, "VALID"),
    ((8, 8), (3, 3), 1, 2, "SAME"),
    ((6, 6), (1, 1), 1, 1, "SAME"),
    ((6, 6), (1, 1), 2, 1, "VALID"),
    ((7, 7), (3, 3), 2, 1, [[0, 0], [2, 1], [0, 1], [0, 0]]),
    ((4, 4), (4, 4), 1, 1, "VALID"),
]


def results(channels, out, size, window, stride, dilation, padding):
    """A convolution, one with a bias, and the gradients of the first."""
    rng = np.random.RandomState(0)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2, *size, channels])
        w = tf.placeholder(tf.float32, [*window, channels, out])
        y = tf.nn.conv2d(x, w, [1, stride, stride, 1], padding, dilations=[1, dilation, dilation, 1])
        biased = tf.nn.bias_add(tf.nn.conv2d(x, w, [1, stride, stride, 1], padding), tf.range(float(out)))
        weight = tf.constant(np.cos(np.arange(np.prod(y.shape.as_list()))).reshape(y.shape.as_list()), tf.float32)
        feed = {x: rng.randn(*x.shape.as_list()), w: rng.randn(*w.shape.as_list())}
        return sess.run([y, biased, *tf.gradients(y * weight, [x, w])], feed)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_both_ways_agree(geometry, monkeypatch):
    sizes = (128, 160) if geometry[1] == (1, 1) else (48, 64)
    few = results(*sizes, *geometry)
    monkeypatch.setattr(convolution_patches, "suits", lambda *_: False)
    for one, other in zip(few, results(*sizes, *geometry), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("channels", [1, 2, 3])
@pytest.mark.parametrize("geometry", GEOMETRIES[:-1], ids=str)  # the last covers whole rows, and goes a way of its own
def test_gradients_of_images_of_few_channels(geometry, channels, monkeypatch):
    made = []
    gradient = convolution_patches.image_gradient
    monkeypatch.setattr(convolution_patches, "image_gradient", lambda *args: made.append(args) or gradient(*args))
    mine = results(channels, 16, *geometry)
    assert len(made) == 1
    monkeypatch.setattr(convolution_patches, "suits_image", lambda *_: False)
    for one, other in zip(mine, results(channels, 16, *geometry), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    assert len(made) == 1


def test_only_where_positions_are_few_and_filters_large(monkeypatch):
    taken = []
    forward = convolution_patches.forward
    monkeypatch.setattr(convolution_patches, "forward", lambda *args: taken.append(args[1].shape) or forward(*args))
    with tf.Graph().as_default(), tf.Session() as sess:
        large = tf.zeros([3, 3, 64, 64])
        sess.run(
            [
                tf.nn.conv2d(tf.random_normal([2, 6, 6, 64]), large, 1, "SAME"),
                tf.nn.conv2d(tf.random_normal([8, 20, 20, 64]), large, 1, "SAME"),
            ]
        )
        sess.run(tf.nn.conv2d(tf.random_normal([2, 6, 6, 4]), tf.zeros([3, 3, 4, 4]), 1, "SAME"))
    assert [tuple(shape) for shape in taken] == [(3, 3, 64, 64)]
