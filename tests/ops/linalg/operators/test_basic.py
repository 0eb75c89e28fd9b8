"""Diagonal, triangular and full matrices, and reflections."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.linalg.operators.against_dense import BATCH, CHECKS, DIAG, FULL, LO, SYMMETRIC, close

# name, how to build, the dense matrix
OPERATORS = [
    ("diag", lambda: LO.LinearOperatorDiag(DIAG), np.diag(DIAG)),
    ("lower triangle", lambda: LO.LinearOperatorLowerTriangular(FULL), np.tril(FULL)),
    ("full", lambda: LO.LinearOperatorFullMatrix(FULL), FULL),
    (
        "full positive definite",
        lambda: LO.LinearOperatorFullMatrix(SYMMETRIC, is_self_adjoint=True, is_positive_definite=True),
        SYMMETRIC,
    ),
    ("full batch", lambda: LO.LinearOperatorFullMatrix(BATCH), BATCH),
    ("householder", lambda: LO.LinearOperatorHouseholder(DIAG), np.eye(3) - 2 * np.outer(DIAG, DIAG) / (DIAG @ DIAG)),
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("build", "dense"), [row[1:] for row in OPERATORS], ids=[row[0] for row in OPERATORS])
def test_against_the_dense_matrix(sess, build, dense, check):
    check(build(), dense, sess)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: LO.LinearOperatorDiag(1.0), ValueError),
        (lambda: LO.LinearOperatorFullMatrix([1.0]), ValueError),
        (lambda: LO.LinearOperatorFullMatrix([[1]]), TypeError),
        (lambda: LO.LinearOperatorLowerTriangular([1.0]), ValueError),
        (lambda: LO.LinearOperatorHouseholder(1.0), ValueError),
        (lambda: LO.LinearOperatorHouseholder([1.0], is_self_adjoint=False), ValueError),
    ],
)
def test_what_is_no_matrix(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


def test_reflections_undo_themselves(sess):
    operator = LO.LinearOperatorHouseholder(DIAG)
    close(sess.run(operator.matmul(operator.to_dense())), np.eye(3))
    assert sess.run(operator.determinant()) == -1 and sess.run(operator.trace()) == 1
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(operator.assert_positive_definite())


def test_complex_diagonals(sess):
    operator = LO.LinearOperatorDiag(np.array([1 + 2j, 3.0]))
    close(sess.run(operator.matmul(np.eye(2) + 0j, adjoint=True)), np.diag([1 - 2j, 3]))
    close(sess.run(operator.log_abs_determinant()), np.log(abs(1 + 2j) * 3))
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(operator.assert_self_adjoint())


def test_shapes_that_are_not_square(sess):
    operator = LO.LinearOperatorFullMatrix(np.ones((2, 3)))
    assert operator.is_square is False and operator.range_dimension == 2 and operator.domain_dimension == 3
    close(sess.run(operator.matvec(np.ones(3))), [3, 3])
    for method in (operator.determinant, operator.log_abs_determinant, operator.inverse):
        with pytest.raises((NotImplementedError, ValueError)):
            method()


def test_arguments_of_other_types_and_sizes(sess):
    operator = LO.LinearOperatorDiag(DIAG)
    with pytest.raises((TypeError, ValueError)):
        operator.matmul(tf.ones([3, 1], tf.float32))
    with pytest.raises(ValueError):
        operator.matmul(tf.ones([2, 1], tf.float64))
    with pytest.raises(ValueError):
        operator.matmul(LO.LinearOperatorDiag(np.ones(2)))


def test_only_the_lower_triangle_counts(sess):
    operator = LO.LinearOperatorLowerTriangular(np.array([[1.0, 99.0], [2.0, 3.0]]))
    close(sess.run(operator.to_dense()), [[1, 0], [2, 3]])
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(LO.LinearOperatorLowerTriangular(np.array([[0.0, 0.0], [2.0, 3.0]])).assert_non_singular())
