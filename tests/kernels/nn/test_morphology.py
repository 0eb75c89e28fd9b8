"""Dilation and erosion of images: maxima over windows to which a filter is added."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.nn import morphology as nn_morphology
from tests.kernels.feeding import fed
from tests.kernels.nn.windows import collected

RANDOM = np.random.default_rng(0)
ONES = [1, 1, 1, 1]


def test_dilation2d():
    x, w = RANDOM.normal(size=(1, 5, 6, 2)), RANDOM.normal(size=(2, 3, 2))
    expected = collected(x, (2, 3), (2, 1), "SAME", lambda win: np.nanmax(win + w, (1, 2)))
    found = nn_morphology.dilation2d(
        torch.from_numpy(x), torch.from_numpy(w), strides=[1, 2, 1, 1], rates=ONES, padding="SAME"
    )
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("rates", [(1, 1), (2, 1)])
def test_gradients(sess, padding, rates):
    x, w = tf.constant(RANDOM.normal(size=(1, 6, 5, 2))), tf.constant(RANDOM.normal(size=(2, 2, 2)))
    y = tf.nn.dilation2d(x, w, strides=[1, 2, 1, 1], rates=[1, *rates, 1], padding=padding)
    shape = y.shape.as_list()
    assert tf.test.compute_gradient_error(x, x.shape.as_list(), y, shape) < 1e-6
    assert tf.test.compute_gradient_error(w, w.shape.as_list(), y, shape) < 1e-6


def test_of_equal_cells_the_first_takes_the_gradient(sess):
    x = tf.zeros([1, 2, 2, 1])
    grad = tf.raw_ops.Dilation2DBackpropInput(
        input=x, filter=tf.zeros([2, 2, 1]), out_backprop=[[[[3.0]]]], strides=ONES, rates=ONES, padding="VALID"
    )
    assert sess.run(grad).ravel().tolist() == [3.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint16, np.int64])
def test_whole_numbers(sess, dtype):
    x = np.arange(9, dtype=dtype).reshape(1, 3, 3, 1)
    largest = sess.run(tf.nn.dilation2d(fed(x), np.ones([2, 2, 1], dtype), ONES, ONES, "SAME"))
    assert largest.dtype == dtype and largest[0, :, :, 0].tolist() == [[5, 6, 6], [8, 9, 9], [8, 9, 9]]


def test_erosion_is_the_dilation_of_the_negative(sess):
    x = RANDOM.normal(size=(1, 4, 4, 1)).astype(np.float32)
    flat = np.zeros([2, 2, 1], np.float32)
    smallest = sess.run(tf.nn.erosion2d(fed(x), flat, ONES, ONES, "VALID"))
    windows = np.stack([x[:, i : i + 3, j : j + 3] for i in (0, 1) for j in (0, 1)])
    np.testing.assert_array_equal(smallest, windows.min(0))


@pytest.mark.parametrize(
    ("image", "window"), [((3, 3, 1), (2, 2, 1)), ((1, 3, 3, 1), (2, 2)), ((1, 3, 3, 1), (2, 2, 2))]
)
def test_what_does_not_fit(sess, image, window):
    found = tf.nn.dilation2d(fed(np.zeros(image)), fed(np.zeros(window)), ONES, ONES, "SAME")
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(found)
