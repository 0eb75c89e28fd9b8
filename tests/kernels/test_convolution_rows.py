"""Filters that cover whole rows, as those over sentences do, against sums of products written out."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize(
    ("image", "window", "stride", "padding"),
    [
        ((2, 7, 5, 1), (3, 5, 1, 4), 1, "VALID"),
        ((2, 8, 5, 3), (3, 5, 3, 4), 2, "VALID"),
        ((3, 9, 4, 2), (2, 4, 2, 3), 1, [[0, 0], [1, 2], [0, 0], [0, 0]]),
    ],
)
def test_values_and_gradients(image, window, stride, padding):
    x, w = RANDOM.randn(*image), RANDOM.randn(*window)
    above, below = (0, 0) if padding == "VALID" else padding[1]
    rows = np.pad(x, [(0, 0), (above, below), (0, 0), (0, 0)])
    starts = range(0, rows.shape[1] - window[0] + 1, stride)
    expected = np.stack([np.einsum("nhwc,hwco->no", rows[:, i : i + window[0]], w) for i in starts], 1)[:, :, None]
    by_x, by_w = np.zeros_like(rows), np.zeros_like(w)
    for place, i in enumerate(starts):
        slope = 2 * expected[:, place, 0]
        by_x[:, i : i + window[0]] += np.einsum("no,hwco->nhwc", slope, w)
        by_w += np.einsum("nhwc,no->hwco", rows[:, i : i + window[0]], slope)
    with tf.Graph().as_default(), tf.Session() as sess:
        image_tensor, filter_tensor = tf.constant(x), tf.constant(w)
        y = tf.nn.conv2d(image_tensor, filter_tensor, strides=[1, stride, 1, 1], padding=padding)
        got = sess.run([y, *tf.gradients(y * y, [image_tensor, filter_tensor])])
    for result, wanted in zip(got, [expected, by_x[:, above : above + image[1]], by_w], strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-9)
