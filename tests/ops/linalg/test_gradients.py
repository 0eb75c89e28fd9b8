"""Gradients of factorizations and solvers, against differences."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.default_rng(7)


def square(shape):
    return RANDOM.normal(size=shape) + 3 * np.eye(shape[-1])


# name, function, inputs
GRADIENTS = [
    ("cholesky", lambda x: tf.linalg.cholesky(x @ tf.transpose(x)), [square((3, 3))]),
    ("inv", tf.linalg.inv, [square((2, 3, 3))]),
    ("det", tf.linalg.det, [square((2, 3, 3))]),
    ("slogdet", lambda x: tf.linalg.slogdet(x)[1], [square((3, 3))]),
    ("solve", tf.linalg.solve, [square((3, 3)), RANDOM.normal(size=(3, 2))]),
    ("solve adjoint", lambda a, b: tf.linalg.solve(a, b, adjoint=True), [square((3, 3)), RANDOM.normal(size=(3, 2))]),
    ("triangular solve", tf.linalg.triangular_solve, [square((3, 3)), RANDOM.normal(size=(3, 2))]),
    (
        "triangular upper",
        lambda a, b: tf.linalg.triangular_solve(a, b, False, True),
        [square((3, 3)), RANDOM.normal(size=(3, 2))],
    ),
    ("lstsq tall", lambda a, b: tf.linalg.lstsq(a, b, 0.1), [RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(4, 2))]),
    ("lstsq wide", lambda a, b: tf.linalg.lstsq(a, b, 0.1), [RANDOM.normal(size=(3, 4)), RANDOM.normal(size=(3, 2))]),
    ("qr", lambda x: tf.concat(tf.linalg.qr(x), 0), [square((3, 3))]),
    ("eigenvalues", lambda x: tf.linalg.eigvalsh(x + tf.transpose(x)), [square((3, 3))]),
    ("eigenvectors", lambda x: tf.square(tf.linalg.eigh(x + tf.transpose(x))[1]), [square((3, 3))]),
    ("singular values", lambda x: tf.linalg.svd(x, compute_uv=False), [RANDOM.normal(size=(4, 3))]),
    ("singular vectors", lambda x: tf.square(tf.linalg.svd(x)[1]), [square((3, 3))]),
    ("sqrtm", lambda x: tf.linalg.sqrtm(x @ tf.transpose(x)), [square((3, 3))]),
    (
        "tridiagonal solve",
        lambda d, r: tf.linalg.tridiagonal_solve(d, r),
        [RANDOM.normal(size=(3, 4)) + [[0], [4], [0]], RANDOM.normal(size=(4, 2))],
    ),
    ("norm", lambda x: tf.norm(x, axis=1), [square((3, 3))]),
    ("expm", tf.linalg.expm, [square((2, 2)) / 4]),
]


@pytest.mark.parametrize(("function", "inputs"), [row[1:] for row in GRADIENTS], ids=[row[0] for row in GRADIENTS])
def test_gradient(function, inputs):
    with tf.Graph().as_default(), tf.Session():
        xs = [tf.constant(x) for x in inputs]
        y = function(*xs)
        shape = y.shape.as_list()
        for x, value in zip(xs, inputs, strict=True):
            assert tf.test.compute_gradient_error(x, value.shape, y, shape, x_init_value=value, delta=1e-5) < 1e-5


def test_graph_of_the_gradient_of_a_solve():
    with tf.Graph().as_default() as graph:
        a, b = tf.constant(np.eye(2)), tf.constant(np.ones((2, 1)))
        tf.gradients(tf.linalg.solve(a, b), [a, b])
        found = [(op.name, op.type) for op in graph.get_operations()]
    assert found[-3:] == [
        ("gradients/MatrixSolve_grad/MatrixSolve", "MatrixSolve"),
        ("gradients/MatrixSolve_grad/MatMul", "MatMul"),
        ("gradients/MatrixSolve_grad/Neg", "Neg"),
    ]


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: tf.linalg.svd(tf.concat([x, x], 0), full_matrices=True)[1], NotImplementedError),
        (lambda x: tf.linalg.qr(x, full_matrices=True)[0], NotImplementedError),
        (lambda x: tf.linalg.logm(tf.cast(x, tf.complex128)), LookupError),
    ],
)
def test_gradients_that_there_are_not(function, error):
    with tf.Graph().as_default(), pytest.raises(error):
        x = tf.constant(RANDOM.normal(size=(4, 3)) if error is NotImplementedError else square((3, 3)))
        y = function(x)
        tf.gradients(y, x, tf.ones_like(y))


def test_second_derivatives_of_a_determinant():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant([[2.0, 1.0], [1.0, 3.0]])
        (first,) = tf.gradients(tf.linalg.det(x), x)
        (second,) = tf.gradients(first[0, 0], x)
        np.testing.assert_allclose(sess.run(first), [[3, -1], [-1, 2]], atol=1e-5)
        np.testing.assert_allclose(sess.run(second), [[0, 0], [0, 1]], atol=1e-5)


def test_gradients_of_symmetric_factors_lie_in_the_lower_triangle():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(np.diag([1.0, 2.0, 4.0]) + 0.1)
        grad = sess.run(tf.gradients(tf.linalg.eigvalsh(x), x)[0])
        np.testing.assert_allclose(grad, np.tril(grad))
        np.testing.assert_allclose(np.diag(grad), np.ones(3), atol=1e-9)  # the sum of the eigenvalues is the trace
