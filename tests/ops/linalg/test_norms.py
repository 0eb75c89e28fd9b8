"""Norms, ranks and pseudo-inverses."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.default_rng(7)


def evaluate(build, *values):
    """The result of a graph built of constants."""
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


@pytest.mark.parametrize("order", ["euclidean", "fro", 1, 2, 3.5, np.inf])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keep", [True, False])
def test_norms(order, axis, keep):
    x = RANDOM.normal(size=(3, 4))
    if order == 3.5 and axis == (0, 1):
        with pytest.raises(ValueError, match="'ord' must be a supported matrix norm"):
            evaluate(lambda t: tf.norm(t, ord=order, axis=axis), x)
        return
    if order == "fro" and isinstance(axis, int):
        with pytest.raises(ValueError, match="'ord' must be a supported vector norm"):
            evaluate(lambda t: tf.norm(t, ord=order, axis=axis), x)
        return
    if axis is None:
        if order == "fro":
            return
        values, wanted_axis = x.reshape(-1), 0
    else:
        values, wanted_axis = x, axis
    wanted = np.linalg.norm(
        values, {"euclidean": None}.get(order, order), axis=wanted_axis, keepdims=keep and axis is not None
    )
    found = evaluate(lambda t: tf.norm(t, ord=order, axis=axis, keepdims=keep), x)
    assert found.shape == ((1, 1) if keep and axis is None else wanted.shape)
    np.testing.assert_allclose(np.squeeze(found), np.squeeze(wanted), rtol=1e-8)


@pytest.mark.parametrize("axis", [(0, 1), (2, 0), (-1, -2), [0, 2]])
def test_spectral_norms_over_any_two_axes(axis):
    x = RANDOM.normal(size=(2, 3, 4))
    found = evaluate(lambda t: tf.norm(t, ord=2, axis=axis), x)
    np.testing.assert_allclose(found, np.linalg.norm(x, 2, axis=tuple(axis)), rtol=1e-7)


@pytest.mark.parametrize(
    "options",
    [
        {"ord": "max"},
        {"ord": -1},
        {"axis": (0, 0)},
        {"axis": (0, 1, 2)},
        {"axis": "x"},
        {"keepdims": True, "keep_dims": True},
    ],
)
def test_norms_that_there_are_not(options):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.norm(tf.ones([2, 3, 4]), **options)


def test_complex_vectors_have_real_lengths():
    x = np.array([3 + 4j, 12j])
    found = evaluate(lambda t: tf.norm(t), x)
    np.testing.assert_allclose(np.real(found), 13)
    unit, size = evaluate(lambda t: tf.linalg.normalize(t), np.array([3.0, 4.0]))
    np.testing.assert_allclose(unit, [0.6, 0.8])
    np.testing.assert_allclose(size, [5.0])


def test_ranks_and_tolerances():
    x = np.stack([np.diag([1.0, 1e-3, 0.0]), np.eye(3), np.zeros((3, 3))])
    assert evaluate(tf.linalg.matrix_rank, x).tolist() == [2, 3, 0]
    assert evaluate(lambda t: tf.linalg.matrix_rank(t, tol=0.1), x).tolist() == [1, 3, 0]
    with tf.Graph().as_default(), tf.Session() as sess:
        free = tf.placeholder(tf.float64)
        assert sess.run(tf.linalg.matrix_rank(free), {free: x}).tolist() == [2, 3, 0]
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(tf.linalg.matrix_rank(free, validate_args=True), {free: [1.0]})


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 3, 2)])
def test_pseudo_inverses(shape):
    x = RANDOM.normal(size=shape)
    found = evaluate(tf.linalg.pinv, x)
    np.testing.assert_allclose(found, np.linalg.pinv(x), atol=1e-9)
    cut = evaluate(lambda t: tf.linalg.pinv(t, rcond=0.5), np.diag([1.0, 0.1]))
    np.testing.assert_allclose(cut, np.diag([1.0, 0.0]))


@pytest.mark.parametrize("function", [tf.linalg.pinv, tf.linalg.matrix_rank])
def test_matrices_of_floats_are_wanted(function):
    with tf.Graph().as_default():
        with pytest.raises(TypeError):
            function(tf.constant([[1, 2]]))
        with pytest.raises(ValueError):
            function(tf.constant([1.0]))
