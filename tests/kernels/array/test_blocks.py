"""Blocks of pixels moved between space, batch and depth, in every format; patches against loops."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.array import blocks


def fed(value):
    return tf.placeholder_with_default(value, [None] * np.ndim(value))


IMAGE = np.arange(2 * 4 * 6 * 3).reshape(2, 4, 6, 3)


@pytest.mark.parametrize("dtype", ["float32", "uint16", "int64", "bool"])
def test_space_to_batch_and_back(sess, dtype):
    x = IMAGE.astype(dtype)
    sizes, pads = [2, 3], [[1, 1], [0, 3]]
    apart = tf.space_to_batch_nd(fed(x), sizes, pads)
    there, back = sess.run([apart, tf.batch_to_space_nd(apart, sizes, pads)])
    assert there.shape == (12, 3, 3, 3)
    padded = np.pad(x, [(0, 0), (1, 1), (0, 3), (0, 0)], "constant")
    for row in range(2):
        for column in range(3):
            np.testing.assert_array_equal(there[(row * 3 + column) * 2 :][:2], padded[:, row::2, column::3])
    np.testing.assert_array_equal(back, x)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW", "NCHW_VECT_C"])
def test_depth_to_space_undoes_space_to_depth(data_format):
    """TensorFlow has kernels for the channels first only where there is a GPU: so by the kernels' own functions."""
    shape = {"NHWC": (1, 4, 6, 4), "NCHW": (1, 4, 4, 6), "NCHW_VECT_C": (1, 2, 4, 6, 4)}[data_format]
    x = torch.arange(int(np.prod(shape))).reshape(shape)
    deep = blocks.space_to_depth(x, block_size=2, data_format=data_format)
    channels = {"NHWC": 3, "NCHW": 1, "NCHW_VECT_C": 1}[data_format]
    assert deep.shape[channels] == 4 * shape[channels]
    assert torch.equal(blocks.depth_to_space(deep, block_size=2, data_format=data_format), x)


def test_the_depth_of_a_block_goes_row_by_row(sess):
    x = fed([[[[1], [2], [5], [6]], [[3], [4], [7], [8]]]])
    assert sess.run(tf.space_to_depth(x, 2)).tolist() == [[[[1, 2, 3, 4], [5, 6, 7, 8]]]]


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("size", "stride", "rate"), [((2, 3), (1, 2), (1, 1)), ((2, 2), (2, 1), (2, 3))])
def test_patches_of_images(sess, padding, size, stride, rate):
    found = sess.run(tf.image.extract_image_patches(fed(IMAGE), [1, *size, 1], [1, *stride, 1], [1, *rate, 1], padding))
    reach = [(s - 1) * r + 1 for s, r in zip(size, rate)]
    pads = [(0, 0)] * 2
    if padding == "SAME":
        totals = [max((-(-n // s) - 1) * s + k - n, 0) for n, s, k in zip((4, 6), stride, reach)]
        pads = [(t // 2, t - t // 2) for t in totals]
    padded = np.pad(IMAGE, [(0, 0), *pads, (0, 0)])
    counts = [(n - k) // s + 1 for n, k, s in zip(padded.shape[1:3], reach, stride)]
    assert found.shape == (2, *counts, size[0] * size[1] * 3)
    for i in range(counts[0]):
        for j in range(counts[1]):
            a, b = i * stride[0], j * stride[1]
            window = padded[:, a : a + reach[0] : rate[0], b : b + reach[1] : rate[1]]
            np.testing.assert_array_equal(found[:, i, j], window.reshape(2, -1))


def test_patches_of_volumes(sess):
    x = np.arange(27.0).reshape(1, 3, 3, 3, 1)
    found = sess.run(tf.extract_volume_patches(fed(x), [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID"))
    assert found.shape == (1, 2, 2, 2, 8)
    np.testing.assert_array_equal(found[0, 1, 0, 1], x[0, 1:, :2, 1:, 0].ravel())


def two(numbers):
    """A vector of two numbers that only the run knows."""
    return tf.placeholder_with_default(numbers, [2])


def test_how_many_axes_are_cut_into_blocks_is_known(sess):
    for cut in (tf.space_to_batch_nd, tf.batch_to_space_nd):
        with pytest.raises(ValueError, match="known size"):
            cut(fed(IMAGE), fed([2, 2]), fed([[0, 0], [0, 0]]))


@pytest.mark.parametrize(
    "build",
    [
        lambda x: tf.space_to_batch_nd(x, two([3, 2]), [[0, 0], [0, 0]]),
        lambda x: tf.space_to_batch_nd(x, two([0, 2]), [[0, 0], [0, 0]]),
        lambda x: tf.space_to_batch_nd(x, two([2, 2]), fed([[0, 0]])),
        lambda x: tf.space_to_batch_nd(x, two([2, 2]), fed([[0, -2], [0, 0]])),
        lambda x: tf.batch_to_space_nd(x, two([2, 3]), [[0, 0], [0, 0]]),
        lambda x: tf.batch_to_space_nd(x, two([2, 1]), fed([[4, 5], [0, 0]])),
        lambda x: tf.space_to_depth(x, 5),
        lambda x: tf.depth_to_space(x, 2),
    ],
)
def test_blocks_that_do_not_fit(sess, build):
    found = build(fed(IMAGE))
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(found)
