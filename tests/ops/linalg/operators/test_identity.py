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


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: LO.LinearOperatorIdentity(-1), ValueError),
        (lambda: LO.LinearOperatorIdentity([2]), ValueError),
        (lambda: LO.LinearOperatorIdentity(2.5), TypeError),
        (lambda: LO.LinearOperatorIdentity(2, batch_shape=3), ValueError),
        (lambda: LO.LinearOperatorIdentity(2, is_self_adjoint=False), ValueError),
        (lambda: LO.LinearOperatorScaledIdentity(2, 1.0, is_square=False), ValueError),
        (lambda: LO.LinearOperatorZeros(2, is_self_adjoint=False), ValueError),
        (lambda: LO.LinearOperatorZeros(2, is_square=False), ValueError),
        (lambda: LO.LinearOperatorZeros(2, num_columns=3), ValueError),
        (lambda: LO.LinearOperatorZeros(2, is_non_singular=True), ValueError),
    ],
)
def test_what_is_no_identity(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


def test_batches_of_multiples(sess):
    operator = LO.LinearOperatorScaledIdentity(2, tf.constant([2.0, 3.0]))
    assert operator.shape.as_list() == [2, 2, 2]
    assert sess.run(operator.to_dense())[:, 0, 0].tolist() == [2, 3]
    assert sess.run(operator.determinant()).tolist() == [4, 9] and sess.run(operator.trace()).tolist() == [4, 6]
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(LO.LinearOperatorScaledIdentity(2, tf.constant(0.0)).assert_non_singular())


def test_sizes_that_only_the_run_tells(sess):
    rows = tf.placeholder(tf.int32, [])
    operator = LO.LinearOperatorIdentity(rows, batch_shape=[2])
    assert operator.shape.as_list() == [2, None, None]
    assert sess.run(operator.to_dense(), {rows: 3}).shape == (2, 3, 3)


def test_zeros_of_any_shape(sess):
    operator = LO.LinearOperatorZeros(2, 3, batch_shape=[4], is_square=False, is_self_adjoint=False)
    assert operator.shape.as_list() == [4, 2, 3]
    assert not sess.run(operator.matmul(np.ones((4, 3, 1), np.float32))).any()
    square = LO.LinearOperatorZeros(2)
    assert sess.run(square.trace()) == 0 and not sess.run(square.diag_part()).any()
    for check in (square.assert_non_singular, square.assert_positive_definite):
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(check())


@pytest.mark.parametrize("build", [tf.linalg.LinearOperatorIdentity, tf.linalg.LinearOperatorZeros])
def test_proper_shapes_are_checked_when_run(sess, build):
    rows = tf.placeholder(tf.int32)
    operator = build(rows, assert_proper_shapes=True)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(operator.to_dense(), {rows: -2})
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(operator.matmul(tf.placeholder_with_default(tf.ones([2, 1]), None)), {rows: 3})
    with pytest.raises(TypeError):
        build(tf.Variable(3))
