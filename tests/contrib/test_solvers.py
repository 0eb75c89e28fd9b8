"""tf.contrib.solvers beside numpy."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import solvers


def _matrix(rows, columns, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, [rows, columns])


def _evaluate(tensors):
    with tf.Session() as session:
        return session.run(tensors)


@pytest.mark.parametrize("preconditioned", [False, True])
@pytest.mark.parametrize("begun", [False, True])
def test_conjugate_gradients_solve_equations(preconditioned, begun):
    a = _matrix(5, 5)
    a = a.T @ a + np.eye(5)
    rhs = _matrix(5, 1)[:, 0]
    with tf.Graph().as_default():
        operator = solvers.util.create_operator(tf.constant(a))
        near = solvers.util.create_operator(tf.constant(np.diag(1 / np.diag(a)))) if preconditioned else None
        x = tf.constant(_matrix(5, 1, 2)[:, 0]) if begun else None
        found = _evaluate(solvers.linear_equations.conjugate_gradient(operator, tf.constant(rhs), near, x, tol=1e-10))
    np.testing.assert_allclose(found.x, np.linalg.solve(a, rhs), atol=1e-8)
    np.testing.assert_allclose(found.r, rhs - a @ found.x, atol=1e-8)
    assert found.i <= 6


def test_least_squares():
    a, rhs = _matrix(7, 4), _matrix(7, 1)[:, 0]
    with tf.Graph().as_default():
        found = _evaluate(
            solvers.least_squares.cgls(solvers.util.create_operator(tf.constant(a)), tf.constant(rhs), 1e-10)
        )
    np.testing.assert_allclose(found.x, np.linalg.lstsq(a, rhs, rcond=None)[0], atol=1e-8)


@pytest.mark.parametrize("known", [False, True])
def test_a_matrix_becomes_bidiagonal(known):
    a = _matrix(6, 4)
    with tf.Graph().as_default():
        matrix = tf.constant(a) if known else tf.placeholder_with_default(a, [None, None])
        state = solvers.lanczos.lanczos_bidiag(solvers.util.create_operator(matrix), 3)
        product = solvers.lanczos.bidiag_matmul(state.u, state.alpha, state.beta)
        adjoint = solvers.lanczos.bidiag_matmul(state.v, state.alpha, state.beta, adjoint_b=True)
        (u, v, _, _), product, adjoint = _evaluate([state, product, adjoint])
    np.testing.assert_allclose(u.T @ u, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(v.T @ v, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(a @ v, product, atol=1e-10)
    np.testing.assert_allclose(a.T @ u[:, :-1], adjoint, atol=1e-10)


def test_operators():
    with tf.Graph().as_default():
        matrix = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        operator, same = solvers.util.create_operator(matrix), solvers.util.identity_operator(matrix)
        x = tf.constant([[1.0], [1.0]])
        assert operator.shape == [3, 2] and same.apply(x) is x
        applied, (unit, length) = _evaluate([operator.apply(x), solvers.util.l2normalize(tf.constant([3.0, 4.0]))])
    np.testing.assert_array_equal(applied, [[3], [7], [11]])
    np.testing.assert_allclose(unit, [0.6, 0.8])
    assert length == 5
