"""Factorizations and solvers: against numpy, and by their defining properties."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.default_rng(7)


SHAPES = [(1, 1), (3, 3), (2, 4, 4), (2, 1, 3, 3)]


def square(shape):
    return RANDOM.normal(size=shape) + 3 * np.eye(shape[-1])


def positive(shape):
    x = square(shape)
    return x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1])


def evaluate(build, *values):
    """The result of a graph built of constants."""
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


# name, function of a tensor, the same in numpy, what matrices it is for
UNARY = [
    ("cholesky", tf.linalg.cholesky, np.linalg.cholesky, positive),
    ("inv", tf.linalg.inv, np.linalg.inv, square),
    ("inv adjoint", lambda x: tf.linalg.inv(x, adjoint=True), lambda x: np.swapaxes(np.linalg.inv(x), -1, -2), square),
    ("det", tf.linalg.det, np.linalg.det, square),
    ("logdet", tf.linalg.logdet, lambda x: np.linalg.slogdet(x)[1], positive),
    ("sign", lambda x: tf.linalg.slogdet(x)[0], lambda x: np.linalg.slogdet(x)[0], square),
    ("log of absolute", lambda x: tf.linalg.slogdet(x)[1], lambda x: np.linalg.slogdet(x)[1], square),
    ("eigvalsh", tf.linalg.eigvalsh, np.linalg.eigvalsh, positive),
    (
        "singular values",
        lambda x: tf.linalg.svd(x, compute_uv=False),
        lambda x: np.linalg.svd(x, compute_uv=False),
        square,
    ),
    ("trace", tf.linalg.trace, lambda x: np.trace(x, axis1=-2, axis2=-1), square),
    ("adjoint", tf.linalg.adjoint, lambda x: np.swapaxes(x, -1, -2), square),
    ("pinv", tf.linalg.pinv, np.linalg.pinv, square),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("function", "reference", "draw"), [row[1:] for row in UNARY], ids=[row[0] for row in UNARY])
def test_value(function, reference, draw, shape):
    x = draw(shape)
    np.testing.assert_allclose(evaluate(function, x), reference(x), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(evaluate(function, x.astype(np.float32)), reference(x), rtol=2e-2, atol=2e-3)


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (2, 4, 3)], ids=str)
@pytest.mark.parametrize("full", [False, True])
def test_qr_and_svd_give_the_matrix_back(shape, full):
    x = RANDOM.normal(size=shape)
    q, r = evaluate(lambda t: tf.linalg.qr(t, full_matrices=full), x)
    np.testing.assert_allclose(q @ r, x, atol=1e-10)
    np.testing.assert_allclose(
        np.swapaxes(q, -1, -2) @ q,
        np.broadcast_to(np.eye(q.shape[-1]), (*x.shape[:-2], q.shape[-1], q.shape[-1])),
        atol=1e-10,
    )
    s, u, v = evaluate(lambda t: tf.linalg.svd(t, full_matrices=full), x)
    k = min(shape[-2:])
    assert u.shape[-1] == (shape[-2] if full else k)
    assert v.shape[-1] == (shape[-1] if full else k)
    np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ np.swapaxes(v[..., :k], -1, -2), x, atol=1e-10)


def test_eigenvectors():
    x = positive((3, 4, 4))
    values, vectors = evaluate(tf.linalg.eigh, x)
    assert (np.diff(values) >= 0).all()
    np.testing.assert_allclose(x @ vectors, vectors * values[..., None, :], atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3)], ids=str)
def test_lu(shape, dtype):
    x = RANDOM.normal(size=shape).astype(dtype)
    if dtype is np.complex128:
        x = x + 1j * RANDOM.normal(size=shape)
    packed, permutation = evaluate(tf.linalg.lu, x)
    lower, upper = np.tril(packed, -1) + np.eye(shape[-1]), np.triu(packed)
    rows = np.take_along_axis(x, permutation[..., None], -2)
    np.testing.assert_allclose(lower @ upper, rows, atol=1e-10)


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_solvers(adjoint, batch):
    a, b = square((*batch, 3, 3)), RANDOM.normal(size=(*batch, 3, 2))
    turned = np.swapaxes(a, -1, -2) if adjoint else a
    np.testing.assert_allclose(
        evaluate(lambda m, r: tf.linalg.solve(m, r, adjoint=adjoint), a, b), np.linalg.solve(turned, b), rtol=1e-8
    )
    for lower in (True, False):
        triangle = (np.tril if lower else np.triu)(a)
        wanted = np.linalg.solve(np.swapaxes(triangle, -1, -2) if adjoint else triangle, b)
        found = evaluate(lambda m, r, lower=lower: tf.linalg.triangular_solve(m, r, lower=lower, adjoint=adjoint), a, b)
        np.testing.assert_allclose(found, wanted, rtol=1e-8)
    p = positive((*batch, 3, 3))
    np.testing.assert_allclose(
        evaluate(tf.linalg.cholesky_solve, np.linalg.cholesky(p), b), np.linalg.solve(p, b), rtol=1e-7
    )


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5)], ids=str)
def test_least_squares(shape, fast):
    a, b = RANDOM.normal(size=shape), RANDOM.normal(size=(shape[0], 2))
    found = evaluate(lambda m, r: tf.linalg.lstsq(m, r, fast=fast), a, b)
    np.testing.assert_allclose(found, np.linalg.lstsq(a, b, rcond=None)[0], rtol=1e-6)
    if fast:
        ridge = evaluate(lambda m, r: tf.linalg.lstsq(m, r, l2_regularizer=0.3), a, b)
        np.testing.assert_allclose(ridge, np.linalg.solve(a.T @ a + 0.3 * np.eye(shape[1]), a.T @ b), rtol=1e-6)


# function, values, class of the error, part of its message
FAILURES = [
    (tf.linalg.cholesky, [-np.eye(2)], "Cholesky decomposition was not successful. The input might not be valid."),
    (tf.linalg.inv, [np.zeros((2, 2))], "Input is not invertible."),
    (tf.linalg.solve, [np.zeros((2, 2)), np.eye(2)], "Input matrix is not invertible."),
    (tf.linalg.triangular_solve, [np.zeros((2, 2)), np.eye(2)], "Input matrix is not invertible."),
    (tf.linalg.lu, [np.zeros((2, 2))], "Input is not invertible."),
]


@pytest.mark.parametrize(("function", "values", "message"), FAILURES)
def test_failures_at_run_time(function, values, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        evaluate(function, *values)


@pytest.mark.parametrize("function", [tf.linalg.cholesky, tf.linalg.inv, tf.linalg.det, tf.linalg.eigvalsh])
def test_bad_shapes_fail_at_build_time(function):
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Dimensions must be equal, but are (2 and 3|3 and 2)"):
            function(tf.ones([2, 3]))
        with pytest.raises(ValueError, match="must be at least rank 2"):
            function(tf.ones([2]))


def test_static_shapes():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 4, 3])
        assert [t.shape.as_list() for t in tf.linalg.qr(x)] == [[None, 4, 3], [None, 3, 3]]
        assert [t.shape.as_list() for t in tf.linalg.qr(x, full_matrices=True)] == [[None, 4, 4], [None, 4, 3]]
        assert [t.shape.as_list() for t in tf.linalg.svd(x)] == [[None, 3], [None, 4, 3], [None, 3, 3]]
        assert tf.linalg.det(tf.placeholder(tf.float32, [5, None, 3])).shape.as_list() == [5]
        assert tf.linalg.inv(tf.placeholder(tf.float32, [None, 3])).shape.as_list() == [3, 3]
        assert tf.linalg.cholesky(tf.placeholder(tf.float32)).shape.ndims is None
