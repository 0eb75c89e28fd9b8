"""Operators made of others: adjoints, inverses, products and blocks."""

import numpy as np
import pytest

from tests.ops.linalg.operators.against_dense import CHECKS, DIAG, FULL, LO


def blocks(*matrices):
    size = sum(m.shape[0] for m in matrices)
    result, at = np.zeros((size, size)), 0
    for m in matrices:
        result[at : at + len(m), at : at + len(m)] = m
        at += len(m)
    return result


# name, how to build, the dense matrix
OPERATORS = [
    ("adjoint", lambda: LO.LinearOperatorAdjoint(LO.LinearOperatorFullMatrix(FULL)), FULL.T),
    ("inversion", lambda: LO.LinearOperatorInversion(LO.LinearOperatorFullMatrix(FULL)), np.linalg.inv(FULL)),
    (
        "composition",
        lambda: LO.LinearOperatorComposition([LO.LinearOperatorFullMatrix(FULL), LO.LinearOperatorDiag(DIAG)]),
        FULL @ np.diag(DIAG),
    ),
    (
        "block diag",
        lambda: LO.LinearOperatorBlockDiag([LO.LinearOperatorFullMatrix(FULL), LO.LinearOperatorDiag(DIAG)]),
        blocks(FULL, np.diag(DIAG)),
    ),
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("build", "dense"), [row[1:] for row in OPERATORS], ids=[row[0] for row in OPERATORS])
def test_against_the_dense_matrix(sess, build, dense, check):
    check(build(), dense, sess)
