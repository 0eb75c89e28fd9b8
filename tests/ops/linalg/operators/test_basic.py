"""Diagonal, triangular and full matrices, and reflections."""

import numpy as np
import pytest

from tests.ops.linalg.operators.against_dense import BATCH, CHECKS, DIAG, FULL, LO, SYMMETRIC

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
