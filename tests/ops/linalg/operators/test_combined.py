"""Operators made of others: adjoints, inverses, products and blocks."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.linalg.operators.against_dense import BATCH, CHECKS, DIAG, FULL, LO, close


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


def test_blocks_of_batches_broadcast(sess):
    operator = LO.LinearOperatorBlockDiag([LO.LinearOperatorFullMatrix(BATCH), LO.LinearOperatorDiag(DIAG)])
    assert operator.shape.as_list() == [2, 6, 6]
    dense = sess.run(operator.to_dense())
    close(dense[:, :3, :3], BATCH)
    close(dense[:, 3:, 3:], np.stack([np.diag(DIAG)] * 2))
    assert not dense[:, :3, 3:].any() and not dense[:, 3:, :3].any()


def test_products_of_three_that_are_not_square(sess):
    wide, tall = np.ones((2, 3)), np.ones((3, 4))
    operator = LO.LinearOperatorComposition([LO.LinearOperatorFullMatrix(m) for m in (wide, FULL, tall)])
    assert operator.shape.as_list() == [2, 4]
    close(sess.run(operator.to_dense()), wide @ FULL @ tall)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: LO.LinearOperatorComposition([]), ValueError),
        (lambda: LO.LinearOperatorBlockDiag([]), ValueError),
        (
            lambda: LO.LinearOperatorComposition(
                [LO.LinearOperatorDiag(DIAG), LO.LinearOperatorDiag(np.float32(DIAG))]
            ),
            TypeError,
        ),
        (
            lambda: (
                LO.LinearOperatorComposition([LO.LinearOperatorDiag(DIAG), LO.LinearOperatorDiag(np.ones(2))]).shape
            ),
            ValueError,
        ),
        (lambda: LO.LinearOperatorBlockDiag([LO.LinearOperatorFullMatrix(np.ones((2, 3)))]), ValueError),
        (lambda: LO.LinearOperatorInversion(LO.LinearOperatorFullMatrix(np.ones((2, 3)))), ValueError),
        (lambda: LO.LinearOperatorInversion(LO.LinearOperatorDiag(DIAG, is_non_singular=False)), ValueError),
        (
            lambda: LO.LinearOperatorAdjoint(LO.LinearOperatorDiag(DIAG, is_non_singular=True), is_non_singular=False),
            ValueError,
        ),
    ],
)
def test_parts_that_do_not_fit(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


def test_hints_go_from_parts_to_wholes():
    with tf.Graph().as_default():
        positive = LO.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True, is_self_adjoint=True)
        blocks = LO.LinearOperatorBlockDiag([positive, positive])
        assert blocks.is_positive_definite and blocks.is_self_adjoint and blocks.is_square
        adjoint = LO.LinearOperatorAdjoint(LO.LinearOperatorFullMatrix(FULL, is_non_singular=True))
        assert adjoint.is_non_singular and adjoint.operator.is_non_singular
        assert LO.LinearOperatorInversion(positive).is_positive_definite


def test_blocks_assert_what_each_operator_does(sess):
    blocks = LO.LinearOperatorBlockDiag([LO.LinearOperatorDiag([1.0, 0.0]), LO.LinearOperatorDiag([2.0, 3.0])])
    sess.run(blocks.assert_self_adjoint())
    for check in (blocks.assert_non_singular, blocks.assert_positive_definite):
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(check())
