"""Matrices that are constant along diagonals."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.linalg.operators.against_dense import CHECKS, LO

# name, how to build, the dense matrix
OPERATORS = [
    (
        "toeplitz",
        lambda: LO.LinearOperatorToeplitz(col=np.array([4.0, 1, 2]), row=np.array([4.0, -1, 0.5])),
        np.array([[4, -1, 0.5], [1, 4, -1], [2, 1, 4]]),
    ),
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("build", "dense"), [row[1:] for row in OPERATORS], ids=[row[0] for row in OPERATORS])
def test_against_the_dense_matrix(sess, build, dense, check):
    check(build(), dense, sess)


def test_batches_and_single_precision(sess):
    columns, row = np.float32([[1, 2], [3, 4]]), np.float32([[1, 5], [3, 5]])
    operator = LO.LinearOperatorToeplitz(col=columns, row=row)
    assert operator.shape.as_list() == [2, 2, 2] and operator.dtype == tf.float32
    np.testing.assert_allclose(sess.run(operator.to_dense()), [[[1, 5], [2, 1]], [[3, 5], [4, 3]]], rtol=1e-5)
    assert sess.run(operator.trace()).tolist() == [2, 6]


def test_rows_and_columns_are_vectors():
    with tf.Graph().as_default():
        for options in (
            {"col": 1.0, "row": [1.0]},
            {"col": [1.0], "row": 1.0},
            {"col": [1.0], "row": [1.0], "is_square": False},
        ):
            with pytest.raises(ValueError):
                LO.LinearOperatorToeplitz(**options)
