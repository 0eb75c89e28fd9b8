"""What tests of linear operators share: matrices, and checks of an operator against the dense matrix it stands for.

A file of tests takes `@pytest.mark.parametrize("check", CHECKS)` with a table of operators: how to build one, its
matrix.
"""

import numpy as np

import everflow as tf

RANDOM = np.random.default_rng(11)
LO = tf.linalg
FULL = RANDOM.normal(size=(3, 3)) + 3 * np.eye(3)
SYMMETRIC = FULL @ FULL.T
BATCH = RANDOM.normal(size=(2, 3, 3)) + 3 * np.eye(3)
DIAG = np.array([1.5, -2.0, 0.7])


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8)


def turned(dense):
    return np.conj(np.swapaxes(dense, -1, -2))


def columns(dense):
    return RANDOM.normal(size=(*dense.shape[:-1], 2)).astype(dense.dtype)


def shapes(operator, dense, sess):
    assert operator.shape.as_list() == list(dense.shape)
    assert sess.run(operator.shape_tensor()).tolist() == list(dense.shape)
    assert sess.run(operator.domain_dimension_tensor()) == dense.shape[-1]
    assert operator.tensor_rank == dense.ndim
    close(sess.run(operator.to_dense()), dense)


def products(operator, dense, sess):
    x = columns(dense)
    close(sess.run(operator.matmul(x)), dense @ x)
    close(sess.run(operator.matmul(x, adjoint=True)), turned(dense) @ x)
    close(sess.run(operator.matmul(np.swapaxes(x, -1, -2), adjoint_arg=True)), dense @ x)
    close(sess.run(operator.matvec(x[..., 0])), (dense @ x)[..., 0])


def solutions(operator, dense, sess):
    x = columns(dense)
    close(sess.run(operator.solve(x)), np.linalg.solve(dense, x))
    close(sess.run(operator.solve(x, adjoint=True)), np.linalg.solve(turned(dense), x))
    close(sess.run(operator.solvevec(x[..., 0])), np.linalg.solve(dense, x)[..., 0])
    inverse = operator.inverse()
    if inverse.dtype == operator.dtype:  # Circulants come back as complex64.
        close(sess.run(inverse.matmul(x)), np.linalg.solve(dense, x))


def scalars_and_parts(operator, dense, sess):
    close(sess.run(operator.determinant()), np.linalg.det(dense))
    close(sess.run(operator.log_abs_determinant()), np.linalg.slogdet(dense)[1])
    close(sess.run(operator.trace()), np.trace(dense, axis1=-2, axis2=-1))
    close(sess.run(operator.diag_part()), np.diagonal(dense, axis1=-2, axis2=-1))
    close(sess.run(operator.add_to_tensor(np.ones(dense.shape, dense.dtype))), dense + 1)
    close(sess.run(operator.adjoint().to_dense()), turned(dense))


CHECKS = [shapes, products, solutions, scalars_and_parts]
