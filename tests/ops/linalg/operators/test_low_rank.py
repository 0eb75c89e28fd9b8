"""An operator plus a product of thin matrices."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.linalg.operators.against_dense import CHECKS, FULL, LO, RANDOM, SYMMETRIC, close

U, V, D = RANDOM.normal(size=(3, 2)), RANDOM.normal(size=(3, 2)), np.array([0.5, 0.8])


# name, how to build, the dense matrix
OPERATORS = [
    (
        "low rank update",
        lambda: LO.LinearOperatorLowRankUpdate(LO.LinearOperatorFullMatrix(FULL), U, D, V),
        FULL + U @ np.diag(D) @ V.T,
    ),
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("build", "dense"), [row[1:] for row in OPERATORS], ids=[row[0] for row in OPERATORS])
def test_against_the_dense_matrix(sess, build, dense, check):
    check(build(), dense, sess)


@pytest.mark.parametrize("positive", [True, None])
@pytest.mark.parametrize("diagonal", [True, False])
def test_symmetric_updates(sess, diagonal, positive):
    base = LO.LinearOperatorFullMatrix(SYMMETRIC, is_self_adjoint=True, is_positive_definite=True)
    update = np.abs(D) if diagonal else None
    operator = LO.LinearOperatorLowRankUpdate(base, U, update, is_diag_update_positive=positive)
    dense = SYMMETRIC + U @ np.diag(np.abs(D) if diagonal else [1, 1]) @ U.T
    known = positive or not diagonal
    assert operator.is_positive_definite is (True if known else None)
    close(sess.run(operator.to_dense()), dense)
    close(sess.run(operator.solve(FULL)), np.linalg.solve(dense, FULL))
    close(sess.run(operator.log_abs_determinant()), np.linalg.slogdet(dense)[1])


def test_batches_broadcast(sess):
    base = LO.LinearOperatorFullMatrix(FULL)
    operator = LO.LinearOperatorLowRankUpdate(base, np.stack([U, V]), D)
    assert operator.shape.as_list() == [2, 3, 3] and sess.run(operator.shape_tensor()).tolist() == [2, 3, 3]
    close(sess.run(operator.to_dense()), [FULL + w @ np.diag(D) @ w.T for w in (U, V)])


def test_hints_that_contradict_an_update():
    with tf.Graph().as_default():
        base = LO.LinearOperatorFullMatrix(SYMMETRIC, is_self_adjoint=True, is_positive_definite=True)
        for hint in ("is_self_adjoint", "is_positive_definite"):
            with pytest.raises(ValueError):
                LO.LinearOperatorLowRankUpdate(base, U, **{hint: False})


@pytest.mark.parametrize(
    ("base", "u", "others"),
    [
        ([3], [4, 1], {}),
        ([3], [3, 1], {"v": np.ones([4, 1])}),
        ([3], [3, 1], {"diag_update": np.ones([2])}),
        ([2, 3], [3, 3, 1], {}),
        ([2, 3], [2, 3, 1], {"diag_update": np.ones([3, 1])}),
    ],
)
def test_shapes_that_do_not_fit(base, u, others):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorDiag(np.ones(base)), np.ones(u), **others)


@pytest.mark.parametrize(
    ("hints", "others", "known"),
    [
        ({"is_positive_definite": True}, {}, (True, True)),
        ({}, {}, (True, None)),
        ({"is_positive_definite": True}, {"diag_update": [2.0]}, (True, None)),
        ({"is_positive_definite": True}, {"diag_update": [2.0], "is_diag_update_positive": True}, (True, True)),
        ({"is_positive_definite": True}, {"v": np.ones([2, 1], np.float32)}, (None, None)),
    ],
)
def test_what_follows_for_the_sum(hints, others, known):
    with tf.Graph().as_default():
        base = tf.linalg.LinearOperatorDiag([1.0, 2.0], **hints)
        made = tf.linalg.LinearOperatorLowRankUpdate(base, np.ones([2, 1], np.float32), **others)
        assert (made.is_self_adjoint, made.is_positive_definite) == known
        with pytest.raises(ValueError):
            tf.linalg.LinearOperatorLowRankUpdate(base, np.ones([2, 1], np.float32), is_diag_update_positive=False)
