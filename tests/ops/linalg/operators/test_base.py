"""What all operators have: hints, assertions, factors and gradients."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.linalg.operators.against_dense import DIAG, FULL, LO, SYMMETRIC, close


def test_cholesky():
    with tf.Graph().as_default(), tf.Session() as sess:
        operator = LO.LinearOperatorFullMatrix(SYMMETRIC, is_self_adjoint=True, is_positive_definite=True)
        factor = operator.cholesky()
        assert isinstance(factor, LO.LinearOperatorLowerTriangular)
        close(sess.run(factor.to_dense()), np.linalg.cholesky(SYMMETRIC))
        with pytest.raises(ValueError, match="Cannot take the Cholesky decomposition"):
            LO.LinearOperatorFullMatrix(FULL).cholesky()


def test_assertions():
    with tf.Graph().as_default(), tf.Session() as sess:
        operator = LO.LinearOperatorDiag([1.0, 0.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Singular operator"):
            sess.run(operator.assert_non_singular())
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(LO.LinearOperatorDiag([1.0, -1.0]).assert_positive_definite())
        with pytest.raises(tf.errors.InvalidArgumentError, match="Matrix was not equal to its adjoint"):
            sess.run(LO.LinearOperatorFullMatrix(FULL).assert_self_adjoint())
        sess.run(LO.LinearOperatorFullMatrix(SYMMETRIC).assert_self_adjoint())


def test_hints_that_contradict():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="A positive definite matrix always has is_non_singular=True"):
            LO.LinearOperatorFullMatrix(FULL, is_positive_definite=True, is_non_singular=False)
        with pytest.raises(ValueError, match="A Householder operator always has is_positive_definite=False"):
            LO.LinearOperatorHouseholder(DIAG, is_positive_definite=True)
        parts = [LO.LinearOperatorDiag(DIAG, is_non_singular=True)] * 2
        for whole in (LO.LinearOperatorComposition, LO.LinearOperatorBlockDiag, LO.LinearOperatorKronecker):
            assert whole(parts).is_non_singular
            with pytest.raises(ValueError, match="of operators that have it always has is_non_singular=True"):
                whole(parts, is_non_singular=False)
        with pytest.raises(ValueError, match="must have at least 2 dimensions"):
            LO.LinearOperatorFullMatrix(DIAG)


def test_gradients_flow_through():
    with tf.Graph().as_default(), tf.Session():
        matrix = tf.constant(FULL)
        y = LO.LinearOperatorFullMatrix(matrix).solve(np.ones((3, 1)))
        assert tf.test.compute_gradient_error(matrix, [3, 3], y, [3, 1], x_init_value=FULL, delta=1e-6) < 1e-6
