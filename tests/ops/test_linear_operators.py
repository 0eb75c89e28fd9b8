"""Each linear operator against the dense matrix that it stands for."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.default_rng(11)
LO = tf.linalg
FULL = RANDOM.normal(size=(3, 3)) + 3 * np.eye(3)
SYMMETRIC = FULL @ FULL.T
BATCH = RANDOM.normal(size=(2, 3, 3)) + 3 * np.eye(3)
DIAG = np.array([1.5, -2.0, 0.7])
SPECTRUM = np.array([4.0, 1.0, 0.5, 1.0]) + 0j


def circulant(column):
    return np.stack([np.roll(column, k) for k in range(len(column))], -1)


def kron(*matrices):
    result = np.ones((1, 1))
    for matrix in matrices:
        result = np.kron(result, matrix)
    return result


def blocks(*matrices):
    size = sum(m.shape[0] for m in matrices)
    result, at = np.zeros((size, size)), 0
    for m in matrices:
        result[at : at + len(m), at : at + len(m)] = m
        at += len(m)
    return result


U, V, D = RANDOM.normal(size=(3, 2)), RANDOM.normal(size=(3, 2)), np.array([0.5, 0.8])

# name, how to build, the dense matrix
OPERATORS = [
    ("identity", lambda: LO.LinearOperatorIdentity(3, dtype=tf.float64), np.eye(3)),
    (
        "identity of a batch",
        lambda: LO.LinearOperatorIdentity(3, batch_shape=[2], dtype=tf.float64),
        np.broadcast_to(np.eye(3), (2, 3, 3)),
    ),
    ("scaled identity", lambda: LO.LinearOperatorScaledIdentity(3, tf.constant(2.5, tf.float64)), 2.5 * np.eye(3)),
    ("diag", lambda: LO.LinearOperatorDiag(DIAG), np.diag(DIAG)),
    ("lower triangle", lambda: LO.LinearOperatorLowerTriangular(FULL), np.tril(FULL)),
    ("full", lambda: LO.LinearOperatorFullMatrix(FULL), FULL),
    (
        "full positive definite",
        lambda: LO.LinearOperatorFullMatrix(SYMMETRIC, is_self_adjoint=True, is_positive_definite=True),
        SYMMETRIC,
    ),
    ("full batch", lambda: LO.LinearOperatorFullMatrix(BATCH), BATCH),
    ("adjoint", lambda: LO.LinearOperatorAdjoint(LO.LinearOperatorFullMatrix(FULL)), FULL.T),
    ("inversion", lambda: LO.LinearOperatorInversion(LO.LinearOperatorFullMatrix(FULL)), np.linalg.inv(FULL)),
    ("householder", lambda: LO.LinearOperatorHouseholder(DIAG), np.eye(3) - 2 * np.outer(DIAG, DIAG) / (DIAG @ DIAG)),
    (
        "composition",
        lambda: LO.LinearOperatorComposition([LO.LinearOperatorFullMatrix(FULL), LO.LinearOperatorDiag(DIAG)]),
        FULL @ np.diag(DIAG),
    ),
    (
        "kronecker",
        lambda: LO.LinearOperatorKronecker([LO.LinearOperatorFullMatrix(FULL), LO.LinearOperatorDiag(DIAG)]),
        kron(FULL, np.diag(DIAG)),
    ),
    (
        "block diag",
        lambda: LO.LinearOperatorBlockDiag([LO.LinearOperatorFullMatrix(FULL), LO.LinearOperatorDiag(DIAG)]),
        blocks(FULL, np.diag(DIAG)),
    ),
    (
        "low rank update",
        lambda: LO.LinearOperatorLowRankUpdate(LO.LinearOperatorFullMatrix(FULL), U, D, V),
        FULL + U @ np.diag(D) @ V.T,
    ),
    (
        "toeplitz",
        lambda: LO.LinearOperatorToeplitz(col=np.array([4.0, 1, 2]), row=np.array([4.0, -1, 0.5])),
        np.array([[4, -1, 0.5], [1, 4, -1], [2, 1, 4]]),
    ),
    (
        "circulant",
        lambda: LO.LinearOperatorCirculant(SPECTRUM, input_output_dtype=tf.complex128),
        circulant(np.fft.ifft(SPECTRUM)),
    ),
]


@pytest.fixture(params=OPERATORS, ids=[row[0] for row in OPERATORS])
def case(request):
    _, build, dense = request.param
    with tf.Graph().as_default(), tf.Session() as sess:
        yield build(), dense, sess


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8)


def test_shapes_and_dense(case):
    operator, dense, sess = case
    assert operator.shape.as_list() == list(dense.shape)
    assert sess.run(operator.shape_tensor()).tolist() == list(dense.shape)
    assert sess.run(operator.domain_dimension_tensor()) == dense.shape[-1]
    assert operator.tensor_rank == dense.ndim
    close(sess.run(operator.to_dense()), dense)


def test_products(case):
    operator, dense, sess = case
    x = RANDOM.normal(size=(*dense.shape[:-1], 2)).astype(dense.dtype)
    turned = np.conj(np.swapaxes(dense, -1, -2))
    close(sess.run(operator.matmul(x)), dense @ x)
    close(sess.run(operator.matmul(x, adjoint=True)), turned @ x)
    close(sess.run(operator.matmul(np.swapaxes(x, -1, -2), adjoint_arg=True)), dense @ x)
    close(sess.run(operator.matvec(x[..., 0])), (dense @ x)[..., 0])


def test_solutions(case):
    operator, dense, sess = case
    x = RANDOM.normal(size=(*dense.shape[:-1], 2)).astype(dense.dtype)
    turned = np.conj(np.swapaxes(dense, -1, -2))
    close(sess.run(operator.solve(x)), np.linalg.solve(dense, x))
    close(sess.run(operator.solve(x, adjoint=True)), np.linalg.solve(turned, x))
    close(sess.run(operator.solvevec(x[..., 0])), np.linalg.solve(dense, x)[..., 0])
    inverse = operator.inverse()
    if inverse.dtype == operator.dtype:  # Circulants come back as complex64.
        close(sess.run(inverse.matmul(x)), np.linalg.solve(dense, x))


def test_scalars_and_parts(case):
    operator, dense, sess = case
    close(sess.run(operator.determinant()), np.linalg.det(dense))
    close(sess.run(operator.log_abs_determinant()), np.linalg.slogdet(dense)[1])
    close(sess.run(operator.trace()), np.trace(dense, axis1=-2, axis2=-1))
    close(sess.run(operator.diag_part()), np.diagonal(dense, axis1=-2, axis2=-1))
    close(sess.run(operator.add_to_tensor(np.ones(dense.shape, dense.dtype))), dense + 1)
    close(sess.run(operator.adjoint().to_dense()), np.conj(np.swapaxes(dense, -1, -2)))


def test_products_of_operators_simplify():
    with tf.Graph().as_default():
        diag = LO.LinearOperatorDiag(DIAG)
        identity = LO.LinearOperatorIdentity(3, dtype=tf.float64)
        assert isinstance(diag.matmul(diag), LO.LinearOperatorDiag)
        assert identity.matmul(diag) is diag
        assert isinstance(diag.matmul(LO.LinearOperatorFullMatrix(FULL)), LO.LinearOperatorComposition)
        assert isinstance(diag.inverse(), LO.LinearOperatorDiag)
        assert isinstance(diag.cholesky() if diag.is_positive_definite else diag.adjoint(), LO.LinearOperatorDiag)


def test_cholesky():
    with tf.Graph().as_default(), tf.Session() as sess:
        operator = LO.LinearOperatorFullMatrix(SYMMETRIC, is_self_adjoint=True, is_positive_definite=True)
        factor = operator.cholesky()
        assert isinstance(factor, LO.LinearOperatorLowerTriangular)
        close(sess.run(factor.to_dense()), np.linalg.cholesky(SYMMETRIC))
        with pytest.raises(ValueError, match="Cannot take the Cholesky decomposition"):
            LO.LinearOperatorFullMatrix(FULL).cholesky()


def test_assertions():
    with tf.Graph().as_default(), tf.Session() as sess:
        operator = LO.LinearOperatorDiag([1.0, 0.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Singular operator"):
            sess.run(operator.assert_non_singular())
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(LO.LinearOperatorDiag([1.0, -1.0]).assert_positive_definite())
        with pytest.raises(tf.errors.InvalidArgumentError, match="Matrix was not equal to its adjoint"):
            sess.run(LO.LinearOperatorFullMatrix(FULL).assert_self_adjoint())
        sess.run(LO.LinearOperatorFullMatrix(SYMMETRIC).assert_self_adjoint())


def test_zeros():
    with tf.Graph().as_default(), tf.Session() as sess:
        zeros = LO.LinearOperatorZeros(3, dtype=tf.float64)
        close(sess.run(zeros.matmul(FULL)), np.zeros((3, 3)))
        close(sess.run(zeros.determinant()), 0)


def test_circulants_of_more_dimensions():
    spectrum = (RANDOM.uniform(size=(2, 3)) + 1).astype(np.complex128)
    with tf.Graph().as_default(), tf.Session() as sess:
        operator = LO.LinearOperatorCirculant2D(spectrum, input_output_dtype=tf.complex128)
        x = RANDOM.normal(size=(6, 2)) + 0j
        moved = np.fft.ifft2(spectrum[..., None] * np.fft.fft2(x.reshape(2, 3, 2), axes=(0, 1)), axes=(0, 1))
        close(sess.run(operator.matmul(x)), moved.reshape(6, 2))


def test_hints_that_contradict():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="A positive definite matrix always has is_non_singular=True"):
            LO.LinearOperatorFullMatrix(FULL, is_positive_definite=True, is_non_singular=False)
        with pytest.raises(ValueError, match="A Householder operator always has is_positive_definite=False"):
            LO.LinearOperatorHouseholder(DIAG, is_positive_definite=True)
        parts = [LO.LinearOperatorDiag(DIAG, is_non_singular=True)] * 2
        for whole in (LO.LinearOperatorComposition, LO.LinearOperatorBlockDiag, LO.LinearOperatorKronecker):
            assert whole(parts).is_non_singular
            with pytest.raises(ValueError, match="of operators that have it always has is_non_singular=True"):
                whole(parts, is_non_singular=False)
        with pytest.raises(ValueError, match="must have at least 2 dimensions"):
            LO.LinearOperatorFullMatrix(DIAG)


def test_gradients_flow_through():
    with tf.Graph().as_default(), tf.Session():
        matrix = tf.constant(FULL)
        y = LO.LinearOperatorFullMatrix(matrix).solve(np.ones((3, 1)))
        assert tf.test.compute_gradient_error(matrix, [3, 3], y, [3, 1], x_init_value=FULL, delta=1e-6) < 1e-6
