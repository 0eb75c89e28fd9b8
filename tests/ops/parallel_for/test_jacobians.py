"""All first derivatives of all elements of a tensor."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.parallel_for.jacobians import batch_jacobian, jacobian
from tests.ops.parallel_for.agreement import ROWS, evaluated


def test_jacobians():
    with tf.Graph().as_default():
        x, w = tf.placeholder(tf.float32, [None, 2]), tf.constant([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]])
        y = tf.square(tf.matmul(x, w))
        fetches = [
            jacobian(y, x),
            jacobian(y, [x], use_pfor=False)[0],
            batch_jacobian(y, x),
            batch_jacobian(y, x, use_pfor=False),
        ]
        whole, whole_by_loop, batch, batch_by_loop = evaluated(fetches, {x: ROWS})
        assert jacobian(x, [x, w])[1] is None
    expected = (
        2 * (ROWS @ [[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]])[:, :, None] * np.array([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]]).T
    )
    np.testing.assert_allclose(batch, expected)
    np.testing.assert_allclose(batch_by_loop, expected)
    np.testing.assert_allclose(whole, whole_by_loop)
    np.testing.assert_allclose(np.einsum("bibj->bij", whole), expected)


def test_shapes_that_are_known_and_pieces_at_a_time():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 3])
        y = tf.stack([x * x, -x])
        made = [jacobian(y, x, parallel_iterations=n) for n in (None, 5)]
        assert made[0].shape.as_list() == [2, 2, 3, 2, 3]
        found = evaluated(made, {x: np.ones([2, 3])})
    np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(found[0].reshape(12, 6), np.concatenate([2 * np.eye(6), -np.eye(6)]))


def test_batches_of_other_sizes():
    with tf.Graph().as_default():
        x = tf.ones([2, 3])
        with pytest.raises(ValueError):
            batch_jacobian(tf.ones([4, 1]), x)
        assert batch_jacobian(tf.ones([2, 2]), x) is None
        y = tf.placeholder(tf.float32, [None, 3])
        made = batch_jacobian(y[:1] * 2.0, y)
        with pytest.raises(tf.errors.InvalidArgumentError):
            evaluated(made, {y: np.ones([2, 3])})


def test_batches_of_unknown_shape():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32)
        found = batch_jacobian(x * x, x)
        assert sess.run(found, {x: [[1.0, 2.0]]}).tolist() == [[[2, 0], [0, 4]]]
