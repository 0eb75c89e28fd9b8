"""Activations and their gradients, biases, and the largest entries of rows."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize(
    "rows",
    [
        RANDOM.randn(30, 100).astype(np.float32),
        RANDOM.randint(-5, 5, (3, 4, 100)).astype(np.float32),
        RANDOM.randint(-50, 50, 300).astype(np.int32),
        np.where(RANDOM.rand(4, 64) > 0.5, 0.0, -0.0).astype(np.float32),
        np.float32([[np.inf, -np.inf, 1e-35, -1e-35] * 20]),
        np.array([[2**31 - 1, -(2**31)] * 30], np.int32),
        RANDOM.randn(5, 70),
        RANDOM.randn(2, 3, 5000).astype(np.float32),
        RANDOM.randint(-5, 5, (2, 4100)).astype(np.float32),
        RANDOM.randint(0, 3, (2, 4096)),
        np.where(np.arange(9000) < 10, 1.0, -np.inf)[None],
    ],
)
def test_equal_values_keep_their_order(sess, rows):
    length = rows.shape[-1]
    for k in (1, 3, length // 2, length):
        values, indices = sess.run(tf.nn.top_k(rows, k))
        wanted = np.argsort(-rows.astype(np.float64), -1, kind="stable")[..., :k]
        np.testing.assert_array_equal(indices, wanted)
        np.testing.assert_array_equal(values, np.take_along_axis(rows, wanted, -1))
    np.testing.assert_array_equal(sess.run(tf.sort(rows, direction="DESCENDING")), np.sort(rows)[..., ::-1])


def test_a_row_whose_sum_is_too_large_is_still_judged(sess):
    predictions = np.float32([[3e38, 2e38, 1e38], [np.inf, 1, 2], [1, 2, 3], [np.nan, 1, 2]])
    assert sess.run(tf.nn.in_top_k(predictions, [1, 1, 2, 1], 2)).tolist() == [True, False, True, False]
