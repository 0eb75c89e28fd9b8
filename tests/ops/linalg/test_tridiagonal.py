"""Tridiagonal systems and products."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.default_rng(7)


def evaluate(build, *values):
    """The result of a graph built of constants."""
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


@pytest.mark.parametrize("pivoting", [True, False])
@pytest.mark.parametrize("form", ["compact", "sequence", "matrix"])
def test_tridiagonal(form, pivoting):
    n = 5
    up, low, middle = RANDOM.normal(size=n), RANDOM.normal(size=n), RANDOM.normal(size=n) + 4
    dense = np.diag(middle) + np.diag(up[:-1], 1) + np.diag(low[1:], -1)
    rhs = RANDOM.normal(size=(n, 2))
    diagonals = {"compact": np.stack([up, middle, low]), "sequence": [up, middle, low], "matrix": dense}[form]

    def given():
        return [tf.constant(d) for d in diagonals] if form == "sequence" else tf.constant(diagonals)

    solved = evaluate(
        lambda r: tf.linalg.tridiagonal_solve(given(), r, diagonals_format=form, partial_pivoting=pivoting), rhs
    )
    np.testing.assert_allclose(solved, np.linalg.solve(dense, rhs), rtol=1e-7)
    np.testing.assert_allclose(
        evaluate(lambda r: tf.linalg.tridiagonal_matmul(given(), r, diagonals_format=form), rhs), dense @ rhs, rtol=1e-7
    )


COMPACT = np.array([[1.0, 2.0, 0.0], [4.0, 5.0, 6.0], [0.0, 1.0, 2.0]])
DENSE = np.array([[4.0, 1, 0], [1, 5, 2], [0, 2, 6]])


def test_one_right_hand_side_and_turned_ones():
    rhs = RANDOM.normal(size=(3, 2))
    wanted = np.linalg.solve(DENSE, rhs)
    np.testing.assert_allclose(evaluate(lambda r: tf.linalg.tridiagonal_solve(COMPACT, r), rhs[:, 0]), wanted[:, 0])
    turned = evaluate(lambda r: tf.linalg.tridiagonal_solve(COMPACT, r, transpose_rhs=True), rhs.T)
    np.testing.assert_allclose(turned, wanted.T)


def test_conjugates():
    rhs = RANDOM.normal(size=(3, 2)) + 1j * RANDOM.normal(size=(3, 2))
    found = evaluate(lambda d, r: tf.linalg.tridiagonal_solve(d, r, conjugate_rhs=True), COMPACT + 0j, rhs)
    np.testing.assert_allclose(found, np.linalg.solve(DENSE, rhs.conj()))


def test_side_diagonals_may_be_one_shorter():
    diagonals = [COMPACT[0][:2], COMPACT[1], COMPACT[2][1:]]
    found = evaluate(lambda r: tf.linalg.tridiagonal_solve(diagonals, r, diagonals_format="sequence"), np.ones(3))
    np.testing.assert_allclose(found, np.linalg.solve(DENSE, np.ones(3)))


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.linalg.tridiagonal_solve(COMPACT, np.ones(3), diagonals_format="none"),
        lambda: tf.linalg.tridiagonal_solve(COMPACT[0], np.ones(3)),
        lambda: tf.linalg.tridiagonal_solve(COMPACT[:2], np.ones(3)),
        lambda: tf.linalg.tridiagonal_solve(COMPACT, np.ones((2, 3, 1, 1))),
        lambda: tf.linalg.tridiagonal_solve(COMPACT, np.ones(4)),
        lambda: tf.linalg.tridiagonal_solve([COMPACT[0]], np.ones(3), diagonals_format="sequence"),
        lambda: tf.linalg.tridiagonal_solve([np.ones(1), *COMPACT[1:]], np.ones(3), diagonals_format="sequence"),
        lambda: tf.linalg.tridiagonal_solve(np.ones((2, 3)), np.ones(3), diagonals_format="matrix"),
        lambda: tf.linalg.tridiagonal_matmul(COMPACT, np.ones((3, 1)), diagonals_format="none"),
    ],
)
def test_what_does_not_fit(build):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        build()


def test_without_pivoting_a_zero_stops_it():
    singular = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    with pytest.raises(tf.errors.InvalidArgumentError):
        evaluate(lambda r: tf.linalg.tridiagonal_solve(singular, r, partial_pivoting=False), np.ones(2))
    assert np.isfinite(evaluate(lambda r: tf.linalg.tridiagonal_solve(singular, r), np.ones(2))).all()


def test_whole_matrices_may_be_arrays(sess):
    matrix = np.diag([1.0, 2.0, 3.0]) + np.diag([4.0, 5.0], 1) + np.diag([6.0, 7.0], -1)
    found = sess.run(tf.linalg.tridiagonal_matmul(matrix, np.eye(3), diagonals_format="matrix"))
    np.testing.assert_allclose(found, matrix)
