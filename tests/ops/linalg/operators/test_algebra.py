"""How kinds of operators combine into simple kinds."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.linalg.operators.against_dense import DIAG, FULL, LO, SYMMETRIC, close


def test_products_of_operators_simplify():
    with tf.Graph().as_default():
        diag = LO.LinearOperatorDiag(DIAG)
        identity = LO.LinearOperatorIdentity(3, dtype=tf.float64)
        assert isinstance(diag.matmul(diag), LO.LinearOperatorDiag)
        assert identity.matmul(diag) is diag
        assert isinstance(diag.matmul(LO.LinearOperatorFullMatrix(FULL)), LO.LinearOperatorComposition)
        assert isinstance(diag.inverse(), LO.LinearOperatorDiag)
        assert isinstance(diag.cholesky() if diag.is_positive_definite else diag.adjoint(), LO.LinearOperatorDiag)


def kinds():
    full = tf.linalg.LinearOperatorFullMatrix(SYMMETRIC, is_self_adjoint=True, is_positive_definite=True)
    diag = LO.LinearOperatorDiag(np.abs(DIAG), is_positive_definite=True)
    return {
        "full": (full, SYMMETRIC),
        "diag": (diag, np.diag(np.abs(DIAG))),
        "triangle": (LO.LinearOperatorLowerTriangular(FULL), np.tril(FULL)),
        "identity": (LO.LinearOperatorIdentity(3, dtype=tf.float64), np.eye(3)),
        "scaled": (
            LO.LinearOperatorScaledIdentity(3, tf.constant(2.0, tf.float64), is_positive_definite=True),
            2 * np.eye(3),
        ),
        "inversion": (LO.LinearOperatorInversion(full), np.linalg.inv(SYMMETRIC)),
        "adjoint": (LO.LinearOperatorAdjoint(LO.LinearOperatorFullMatrix(FULL)), FULL.T),
    }


NAMES = ["full", "diag", "triangle", "identity", "scaled", "inversion", "adjoint"]


@pytest.mark.parametrize("a", NAMES)
@pytest.mark.parametrize("b", NAMES)
def test_products_and_solutions_of_all_pairs(sess, a, b):
    (x, dense_x), (y, dense_y) = kinds()[a], kinds()[b]
    close(sess.run(x.matmul(y).to_dense()), dense_x @ dense_y)
    close(sess.run(x.solve(y).to_dense()), np.linalg.solve(dense_x, dense_y))


@pytest.mark.parametrize(
    ("a", "b", "product", "solution"),
    [
        ("diag", "diag", "Diag", "Diag"),
        ("diag", "scaled", "Diag", "Diag"),
        ("scaled", "diag", "Diag", "Diag"),
        ("scaled", "scaled", "Composition", "Composition"),
        ("diag", "triangle", "LowerTriangular", "LowerTriangular"),
        ("triangle", "diag", "LowerTriangular", "Composition"),
        ("identity", "triangle", "LowerTriangular", "LowerTriangular"),
        ("inversion", "full", "Composition", "Composition"),
    ],
)
def test_kinds_of_results(a, b, product, solution):
    with tf.Graph().as_default():
        x, y = kinds()[a][0], kinds()[b][0]
        assert type(x.matmul(y)).__name__ == f"LinearOperator{product}"
        assert type(x.solve(y)).__name__ == f"LinearOperator{solution}"


@pytest.mark.parametrize(
    ("kind", "expected"), [("diag", "Diag"), ("scaled", "ScaledIdentity"), ("full", "LowerTriangular")]
)
def test_factors(sess, kind, expected):
    operator, dense = kinds()[kind]
    factor = operator.cholesky()
    assert type(factor).__name__ == f"LinearOperator{expected}"
    close(sess.run(factor.to_dense()), np.linalg.cholesky(dense))


def test_what_is_undone_twice_is_itself():
    with tf.Graph().as_default():
        full = kinds()["full"][0]
        plain = LO.LinearOperatorFullMatrix(FULL)
        assert plain.adjoint().adjoint() is plain and plain.inverse().inverse() is plain
        assert full.adjoint() is full  # it is its own


def test_hints_of_products():
    with tf.Graph().as_default():
        certain, unknown = LO.LinearOperatorDiag(DIAG, is_non_singular=True), LO.LinearOperatorDiag(DIAG)
        singular = LO.LinearOperatorDiag([0.0, 1.0, 2.0], is_non_singular=False)
        assert certain.matmul(certain).is_non_singular is True
        assert certain.matmul(unknown).is_non_singular is None
        assert LO.LinearOperatorDiag(np.float32(DIAG)).matmul(singular).is_non_singular is False
