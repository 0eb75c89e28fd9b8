"""All first derivatives of all elements of a tensor."""

import numpy as np

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
