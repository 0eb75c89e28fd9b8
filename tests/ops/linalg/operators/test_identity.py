"""The identity, its multiples, and zeros."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.linalg.operators.against_dense import CHECKS, FULL, LO, close

# name, how to build, the dense matrix
OPERATORS = [
    ("identity", lambda: LO.LinearOperatorIdentity(3, dtype=tf.float64), np.eye(3)),
    (
        "identity of a batch",
        lambda: LO.LinearOperatorIdentity(3, batch_shape=[2], dtype=tf.float64),
        np.broadcast_to(np.eye(3), (2, 3, 3)),
    ),
    ("scaled identity", lambda: LO.LinearOperatorScaledIdentity(3, tf.constant(2.5, tf.float64)), 2.5 * np.eye(3)),
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("build", "dense"), [row[1:] for row in OPERATORS], ids=[row[0] for row in OPERATORS])
def test_against_the_dense_matrix(sess, build, dense, check):
    check(build(), dense, sess)


def test_zeros():
    with tf.Graph().as_default(), tf.Session() as sess:
        zeros = LO.LinearOperatorZeros(3, dtype=tf.float64)
        close(sess.run(zeros.matmul(FULL)), np.zeros((3, 3)))
        close(sess.run(zeros.determinant()), 0)
