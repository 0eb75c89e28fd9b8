"""Solvers whose batch dimensions broadcast, and checks of arguments."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.linalg.operators import broadcasting
from tests.ops.linalg.operators.against_dense import RANDOM, close

A = RANDOM.normal(size=(2, 1, 3, 3)) + 3 * np.eye(3)
B = RANDOM.normal(size=(4, 3, 2))
WIDE = RANDOM.normal(size=(5, 2, 4, 3, 2))


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("b", [B, WIDE], ids=["as many dimensions", "more"])
@pytest.mark.parametrize("adjoint", [False, True])
def test_solvers(sess, b, adjoint, known):
    a, rhs = (tf.constant(v) if known else tf.placeholder_with_default(v, [None] * v.ndim) for v in (A, b))
    turned = np.swapaxes(A, -1, -2) if adjoint else A
    close(sess.run(broadcasting.matrix_solve(a, rhs, adjoint=adjoint)), np.linalg.solve(turned, b))
    lower = np.swapaxes(np.tril(A), -1, -2) if adjoint else np.tril(A)
    found = sess.run(broadcasting.matrix_triangular_solve(a, rhs, lower=True, adjoint=adjoint))
    close(found, np.linalg.solve(lower, b))


def test_by_factors(sess):
    positive = A @ np.swapaxes(A, -1, -2)
    close(sess.run(broadcasting.cholesky_solve(np.linalg.cholesky(positive), B)), np.linalg.solve(positive, B))


def test_one_factorization_serves_all_columns(sess):
    made = broadcasting.matrix_solve(np.eye(3), np.ones((5, 3, 2)))
    solve = next(op for op in made.graph.get_operations() if op.type == "MatrixSolve")
    assert solve.inputs[0].shape.rank == 2 and sess.run(made).shape == (5, 3, 2)


def test_batches_of_matrices(sess):
    one, two = broadcasting.broadcast_matrix_batch_dims([np.ones((2, 1, 3, 4)), np.ones((5, 6, 7))])
    assert (one.shape.as_list(), two.shape.as_list()) == ([2, 5, 3, 4], [2, 5, 6, 7])
    alone = tf.ones([2, 2])
    assert broadcasting.broadcast_matrix_batch_dims([alone]) == [alone]
    with pytest.raises(ValueError):
        broadcasting.broadcast_matrix_batch_dims([np.ones((2, 3, 4)), np.ones((5, 6, 7))])


@pytest.mark.parametrize("shift", [0, 1, 2, -1, -2, 5])
@pytest.mark.parametrize("known", [True, False])
def test_rotated_dimensions(sess, shift, known):
    x = np.zeros((2, 3, 4))
    given = tf.constant(x) if known else tf.placeholder_with_default(x, None)
    wanted = np.transpose(x, [(i - shift) % 3 for i in range(3)]).shape
    assert sess.run(broadcasting.rotate_transpose(given, shift)).shape == wanted


def test_assertions_of_entries(sess):
    sess.run(broadcasting.assert_no_entries_with_modulus_zero([1.0, -2.0]))
    sess.run(broadcasting.assert_zero_imag_part([1.0 + 0j]))
    assert broadcasting.assert_zero_imag_part([1.0]).type == "NoOp"
    with pytest.raises(tf.errors.InvalidArgumentError, match="zero"):
        sess.run(broadcasting.assert_no_entries_with_modulus_zero(tf.placeholder_with_default([1.0, 0.0], [2]), "zero"))
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(broadcasting.assert_zero_imag_part(tf.placeholder_with_default([1j], [1])))


def test_hints_that_a_kind_settles():
    assert broadcasting.settled("It", "is_square", None) and broadcasting.settled("It", "is_square", True)
    assert broadcasting.settled("It", "is_square", None, fact=False) is False
    with pytest.raises(ValueError, match="It always has is_square=True"):
        broadcasting.settled("It", "is_square", False)


def test_variables_are_read_when_they_are_used(sess):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    assert broadcasting.keep_variable(v, "v") is v and isinstance(broadcasting.keep_variable([1.0], "v"), tf.Tensor)
    operator = tf.linalg.LinearOperatorDiag(v)
    sess.run(v.initializer)
    trace = operator.trace()
    assert sess.run(trace) == 3.0
    sess.run(v.assign([5.0, 6.0]))
    assert sess.run(trace) == 11.0


@pytest.mark.parametrize("extra, columns, is_reshaped", [(2, 5, False), (2, 3, True), (1, 3, False)])
def test_batches_become_columns_only_where_that_helps(extra, columns, is_reshaped):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        matrix = tf.constant(np.eye(4, dtype=np.float32) * 2)
        solved = broadcasting.matrix_solve(matrix, tf.ones([extra, 4, columns]))
        assert ("MatrixSolveWithBroadcast/Reshape" in [op.name for op in graph.get_operations()]) == is_reshaped
        np.testing.assert_allclose(sess.run(solved), np.full([extra, 4, columns], 0.5))
