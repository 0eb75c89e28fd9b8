"""Products of Kronecker."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.linalg.operators.against_dense import BATCH, CHECKS, DIAG, FULL, LO, RANDOM, close


def kron(*matrices):
    result = np.ones((1, 1))
    for matrix in matrices:
        result = np.kron(result, matrix)
    return result


# name, how to build, the dense matrix
OPERATORS = [
    (
        "kronecker",
        lambda: LO.LinearOperatorKronecker([LO.LinearOperatorFullMatrix(FULL), LO.LinearOperatorDiag(DIAG)]),
        kron(FULL, np.diag(DIAG)),
    ),
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("build", "dense"), [row[1:] for row in OPERATORS], ids=[row[0] for row in OPERATORS])
def test_against_the_dense_matrix(sess, build, dense, check):
    check(build(), dense, sess)


def test_three_factors_and_batches(sess):
    factors = [BATCH, np.diag([2.0, 3.0]), np.array([[1.0, 2.0], [0.0, 1.0]])]
    operator = LO.LinearOperatorKronecker([LO.LinearOperatorFullMatrix(f) for f in factors])
    dense = np.stack([kron(b, *factors[1:]) for b in BATCH])
    assert operator.shape.as_list() == [2, 12, 12]
    x = RANDOM.normal(size=(2, 12, 2))
    close(sess.run(operator.matmul(x)), dense @ x)
    close(sess.run(operator.solve(x)), np.linalg.solve(dense, x))
    close(sess.run(operator.determinant()), np.linalg.det(dense))


def test_factors_that_are_not_square(sess):
    wide = LO.LinearOperatorFullMatrix(RANDOM.normal(size=(2, 3)))
    operator = LO.LinearOperatorKronecker([wide, LO.LinearOperatorDiag(DIAG)])
    assert operator.shape.as_list() == [6, 9] and operator.is_square is False
    dense = sess.run(operator.to_dense())
    assert dense.shape == (6, 9)
    x = RANDOM.normal(size=(9, 2))
    close(sess.run(operator.matmul(x)), dense @ x)
    with pytest.raises(NotImplementedError):
        operator.determinant()


def test_factors_of_one_type():
    with tf.Graph().as_default():
        with pytest.raises(TypeError):
            LO.LinearOperatorKronecker([LO.LinearOperatorDiag(DIAG), LO.LinearOperatorDiag(np.float32(DIAG))])
        with pytest.raises(ValueError):
            LO.LinearOperatorKronecker([])
