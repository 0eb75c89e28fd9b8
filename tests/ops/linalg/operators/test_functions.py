"""Functions of matrices that are given a linear operator."""

import numpy as np
import pytest

import everflow as tf

A = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)


def full(**hints):
    return tf.linalg.LinearOperatorFullMatrix(A, **hints)


@pytest.mark.parametrize(
    ("compute", "value"),
    [
        (lambda: tf.matmul(full(), A), A @ A),
        (lambda: tf.matmul(A, full()), A @ A),
        (lambda: tf.matmul(A, full(), adjoint_a=True, adjoint_b=True), A @ A),
        (lambda: tf.matmul(full(), full()).to_dense(), A @ A),
        (lambda: tf.linalg.solve(full(), A), np.eye(2)),
        (lambda: tf.linalg.inv(full()).to_dense(), np.linalg.inv(A)),
        (lambda: tf.linalg.inv(full(), adjoint=True).to_dense(), np.linalg.inv(A)),
        (lambda: tf.linalg.det(full()), np.linalg.det(A)),
        (lambda: tf.linalg.trace(full()), 7.0),
        (lambda: tf.linalg.diag_part(full()), np.diag(A)),
        (lambda: tf.linalg.adjoint(full()).to_dense(), A),
        (
            lambda: tf.linalg.cholesky(full(is_positive_definite=True, is_self_adjoint=True)).to_dense(),
            np.linalg.cholesky(A),
        ),
    ],
)
def test_the_operator_answers(sess, compute, value):
    np.testing.assert_allclose(sess.run(compute()), value, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "compute",
    [
        lambda: tf.matmul(full(), A, transpose_a=True),
        lambda: tf.matmul(full(), A, a_is_sparse=True),
        lambda: tf.linalg.solve(A, full()),
        lambda: tf.matrix_diag_part(full(), k=1),
    ],
)
def test_what_operators_cannot_answer(compute):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        compute()


def test_other_refusals_stay(sess):
    with pytest.raises(TypeError):
        tf.linalg.svd(full())
    with pytest.raises(ValueError):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))


def test_the_attempt_leaves_its_name_behind():
    with tf.Graph().as_default() as graph:
        tf.matmul(full(), A)
        assert graph.get_operations()[-1].name == "LinearOperatorFullMatrix_1/MatMul"
        assert tf.matmul(A, A).op.name == "MatMul_1"
