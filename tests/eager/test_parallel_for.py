"""`tf.vectorized_map` in eager mode."""

import numpy as np

import everflow as tf


def test_vectorized_map():
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_array_equal(
        tf.vectorized_map(lambda a: a * 2.0 + tf.reduce_sum(a), tf.constant(rows)).numpy(),
        rows * 2 + rows.sum(1)[:, None],
    )
