"""Functions of matrices: exponential, logarithm, square root."""

import numpy as np
import pytest
import scipy.linalg

import everflow as tf

RANDOM = np.random.default_rng(7)


def square(shape):
    return RANDOM.normal(size=shape) + 3 * np.eye(shape[-1])


def positive(shape):
    x = square(shape)
    return x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1])


def evaluate(build, *values):
    """The result of a graph built of constants."""
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


@pytest.mark.parametrize(
    ("function", "reference"),
    [(tf.linalg.expm, scipy.linalg.expm), (tf.linalg.sqrtm, scipy.linalg.sqrtm), (tf.linalg.logm, scipy.linalg.logm)],
    ids=["expm", "sqrtm", "logm"],
)
def test_functions_of_matrices(function, reference):
    x = positive((2, 3, 3)) / 3
    if function is tf.linalg.logm:
        x = x.astype(np.complex128)
    np.testing.assert_allclose(evaluate(function, x), np.stack([reference(m) for m in x]), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("size", [1e-4, 0.1, 0.5, 1.5, 3.0, 20.0])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-9), (np.float32, 2e-4), (np.complex128, 1e-9)])
def test_the_exponential_of_small_and_large_matrices(size, dtype, rtol):
    x = RANDOM.normal(size=(3, 3)).astype(dtype)
    x = x * dtype(size) / np.abs(x).sum(0).max()
    np.testing.assert_allclose(evaluate(tf.linalg.expm, x), scipy.linalg.expm(x), rtol=rtol, atol=rtol)


def test_a_batch_takes_a_way_for_each_of_its_matrices():
    x = np.stack([np.eye(2) * s for s in (0.0, 0.01, 1.0, 30.0)]).reshape(2, 2, 2, 2)
    np.testing.assert_allclose(evaluate(tf.linalg.expm, x)[..., 0, 0], np.exp([[0.0, 0.01], [1.0, 30.0]]), rtol=1e-9)


def test_no_rows_and_shapes_that_only_the_run_tells():
    assert evaluate(tf.linalg.expm, np.zeros((0, 0))).shape == (0, 0)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float64, [None, None, None])
        assert sess.run(tf.linalg.expm(x), {x: np.zeros((2, 3, 3))}).tolist() == [np.eye(3).tolist()] * 2
        for function in (tf.linalg.sqrtm, tf.linalg.logm):
            assert function(tf.placeholder(tf.complex64, [None, 2, 2])).shape.as_list() == [None, 2, 2]


def test_the_exponential_of_whole_numbers_is_refused():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="int32"):
        tf.linalg.expm([[1, 2], [3, 4]])
