"""Matrices from diagonals, diagonals from matrices, and bands."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.array.against_numpy import fed, run

pytestmark = pytest.mark.usefixtures("own_graph")


EMPTY = {
    "diag": (lambda: tf.matrix_diag(tf.zeros([2, 0])), (2, 0, 0)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_tensors(name):
    build, shape = EMPTY[name]
    assert run(build()).shape == shape


B = [[1, 2, 3], [4, 5, 6]]


RUN_TIME_ERRORS = {
    "do not match": lambda: tf.diag_part(fed(B)),
    "num_lower must be negative or less or equal": lambda: tf.matrix_band_part(
        fed(B), fed(np.int64(5)), fed(np.int64(0))
    ),
}


@pytest.mark.parametrize("message", RUN_TIME_ERRORS)
def test_what_does_not_fit_raises_when_it_runs(message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(RUN_TIME_ERRORS[message]())


def test_diagonals_other_than_the_main_one():
    made = tf.matrix_diag([[1, 2, 3], [4, 5, 0]], k=(0, 1), padding_value=9)
    square = tf.constant(np.arange(9).reshape(3, 3))
    assert run(made).tolist() == [[4, 1, 9], [9, 5, 2], [9, 9, 0]]
    assert run(tf.matrix_diag_part(square, k=1)).tolist() == [1, 5]
    assert run(tf.matrix_set_diag(square, [0, 0], k=-1)).tolist() == [[0, 1, 2], [0, 4, 5], [6, 0, 8]]


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (2, 3, 3), (2, 0, 3)])
def test_the_diagonal_and_what_replaces_it(shape):
    a = np.arange(np.prod(shape)).reshape(shape)
    part = np.diagonal(a, axis1=-2, axis2=-1)
    made = tf.matrix_diag_part(a), tf.matrix_set_diag(a, -part)
    assert [t.shape.as_list() for t in made] == [list(part.shape), list(shape)]
    found, replaced = run(*made)
    np.testing.assert_array_equal(found, part)
    off = ~np.eye(*shape[-2:], dtype=bool)
    np.testing.assert_array_equal(np.diagonal(replaced, axis1=-2, axis2=-1), -part)
    np.testing.assert_array_equal(replaced[..., off], a[..., off])


@pytest.mark.parametrize(("lower", "upper"), [(0, 0), (1, 0), (0, -1), (-1, 1), (-1, -1)])
@pytest.mark.parametrize("shape", [(3, 4), (2, 4, 3)])
def test_bands(lower, upper, shape):
    a = np.arange(1, 1 + np.prod(shape)).reshape(shape)
    i, j = np.indices(shape[-2:])
    inside = ((lower < 0) | (i - j <= lower)) & ((upper < 0) | (j - i <= upper))
    np.testing.assert_array_equal(run(tf.matrix_band_part(a, lower, upper)), a * inside)


def test_diagonals_of_tensors_of_higher_rank():
    a = np.arange(6.0).reshape(2, 3)
    spread = tf.diag(a)
    assert spread.shape.as_list() == [2, 3, 2, 3]
    found, back = run(spread, tf.diag_part(spread))
    np.testing.assert_array_equal(found.reshape(6, 6), np.diag(a.ravel()))
    np.testing.assert_array_equal(back, a)


def test_what_is_known_of_shapes():
    half = tf.placeholder(tf.float32, [None, 3])
    assert tf.matrix_diag(half).shape.as_list() == [None, 3, 3]
    assert tf.matrix_diag_part(tf.placeholder(tf.float32, [2, None, 3])).shape.as_list() == [2, None]
    assert tf.matrix_diag_part(tf.placeholder(tf.float32, [2, None, 0])).shape.as_list() == [2, 0]
    assert tf.diag_part(tf.placeholder(tf.float32, [2, None, None, 3])).shape.as_list() == [2, 3]
    whole = tf.matrix_set_diag(tf.placeholder(tf.float32, [None, 3, 4]), tf.placeholder(tf.float32, [5, None]))
    assert whole.shape.as_list() == [5, 3, 4]


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.matrix_diag(1.0),
        lambda: tf.matrix_diag_part([1.0]),
        lambda: tf.matrix_set_diag([[1.0, 2.0]], [1.0, 2.0]),
        lambda: tf.diag_part([1.0, 2.0]),
        lambda: tf.diag_part(tf.zeros([2, 3])),
        lambda: tf.diag(1.0),
    ],
)
def test_ranks_and_sizes_without_a_diagonal(build):
    with pytest.raises(ValueError):
        build()
