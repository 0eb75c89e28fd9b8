"""Gradients of patches: every pixel gets as much as the patches that hold it."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.array.against_numpy import run

pytestmark = pytest.mark.usefixtures("own_graph")


def counted(size, window, stride, rate, padding):
    """How many windows of one dimension hold each place."""
    reach = (window - 1) * rate + 1
    steps = -(-size // stride) if padding == "SAME" else max(0, (size - reach) // stride + 1)
    before = max(0, (steps - 1) * stride + reach - size) // 2 if padding == "SAME" else 0
    counts = np.zeros(size)
    for start in range(steps):
        for w in range(window):
            place = start * stride + w * rate - before
            if 0 <= place < size:
                counts[place] += 1
    return counts


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("window", "stride", "rate"), [((2, 3), (1, 2), (1, 1)), ((2, 2), (3, 1), (2, 1))])
def test_images(window, stride, rate, padding, known):
    value = np.ones([2, 5, 6, 3])
    x = tf.placeholder(tf.float64, value.shape if known else [None] * 4)
    patches = tf.extract_image_patches(x, [1, *window, 1], [1, *stride, 1], [1, *rate, 1], padding)
    grad = tf.gradients(patches, x)[0]
    rows, columns = (counted(n, w, s, r, padding) for n, w, s, r in zip((5, 6), window, stride, rate))
    wanted = np.broadcast_to(np.outer(rows, columns)[None, :, :, None], value.shape)
    np.testing.assert_array_equal(run(grad, feed={x: value}), wanted)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_volumes(padding):
    x = tf.placeholder(tf.float64, [None, 3, 4, 5, 1])
    patches = tf.extract_volume_patches(x, [1, 2, 1, 3, 1], [1, 1, 2, 2, 1], padding)
    grad = run(tf.gradients(patches, x)[0], feed={x: np.ones([2, 3, 4, 5, 1])})
    sides = [counted(n, w, s, 1, padding) for n, w, s in zip((3, 4, 5), (2, 1, 3), (1, 2, 2))]
    np.testing.assert_array_equal(grad[1, ..., 0], np.einsum("i,j,k->ijk", *sides))
