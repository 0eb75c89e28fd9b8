"""Reductions of slices."""

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401


def _evaluate(*tensors):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(tensors)


def test_slices_are_reduced():
    from tensorflow.contrib.reduce_slice_ops.python.ops import reduce_slice_ops as slices

    data, ends = tf.constant(np.arange(12.0).reshape(4, 3)), tf.constant([[0, 2], [1, 9], [3, 3]])
    found = _evaluate(
        slices.reduce_slice_sum(data, ends, 0),
        slices.reduce_slice_prod(data, ends, 0),
        slices.reduce_slice_max(data, tf.constant([0, 2, 3]), 1),
        slices.reduce_slice_min(tf.constant([5, 2, 3]), ends, 0),
    )
    np.testing.assert_array_equal(found[0], [[3, 5, 7], [18, 21, 24], [0, 0, 0]])
    np.testing.assert_array_equal(found[1], [[0, 4, 10], [162, 280, 440], [1, 1, 1]])
    np.testing.assert_array_equal(found[2], [[1, 2], [4, 5], [7, 8], [10, 11]])
    assert found[3].tolist() == [2, 2, np.iinfo(np.int32).max]
    with pytest.raises(ValueError, match="no axis 5"):
        slices.reduce_slice_sum(data, ends, 5)
