"""Circulant matrices of one and more dimensions."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.linalg.operators.against_dense import CHECKS, LO, RANDOM, close

SPECTRUM = np.array([4.0, 1.0, 0.5, 1.0]) + 0j


def circulant(column):
    return np.stack([np.roll(column, k) for k in range(len(column))], -1)


# name, how to build, the dense matrix
OPERATORS = [
    (
        "circulant",
        lambda: LO.LinearOperatorCirculant(SPECTRUM, input_output_dtype=tf.complex128),
        circulant(np.fft.ifft(SPECTRUM)),
    ),
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("build", "dense"), [row[1:] for row in OPERATORS], ids=[row[0] for row in OPERATORS])
def test_against_the_dense_matrix(sess, build, dense, check):
    check(build(), dense, sess)


def test_circulants_of_more_dimensions():
    spectrum = (RANDOM.uniform(size=(2, 3)) + 1).astype(np.complex128)
    with tf.Graph().as_default(), tf.Session() as sess:
        operator = LO.LinearOperatorCirculant2D(spectrum, input_output_dtype=tf.complex128)
        x = RANDOM.normal(size=(6, 2)) + 0j
        moved = np.fft.ifft2(spectrum[..., None] * np.fft.fft2(x.reshape(2, 3, 2), axes=(0, 1)), axes=(0, 1))
        close(sess.run(operator.matmul(x)), moved.reshape(6, 2))


def test_real_spectra_of_symmetric_kernels(sess):
    spectrum = tf.constant([4.0, 1.0, 1.0])
    operator = LO.LinearOperatorCirculant(tf.cast(spectrum, tf.complex64), input_output_dtype=tf.float32)
    assert operator.dtype == tf.float32
    dense = sess.run(operator.to_dense())
    np.testing.assert_allclose(dense, dense.T, atol=1e-6)
    np.testing.assert_allclose(np.linalg.eigvalsh(dense), [1, 1, 4], rtol=1e-5)
    np.testing.assert_allclose(sess.run(operator.convolution_kernel()), dense[:, 0], atol=1e-6)


def test_assertions_of_the_spectrum(sess):
    sess.run(LO.LinearOperatorCirculant(np.array([4.0, 1.0, 1.0 + 0j])).assert_hermitian_spectrum())
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(LO.LinearOperatorCirculant(np.array([4.0, 1j, 1j])).assert_hermitian_spectrum())
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(LO.LinearOperatorCirculant(np.array([4.0, 0, 1 + 0j])).assert_non_singular())
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(LO.LinearOperatorCirculant(np.array([4.0, -1, 1 + 0j])).assert_positive_definite())


def test_blocks_of_three_dimensions(sess):
    spectrum = (RANDOM.uniform(size=(2, 2, 3)) + 1).astype(np.complex128)
    operator = LO.LinearOperatorCirculant3D(spectrum, input_output_dtype=tf.complex128)
    assert operator.shape.as_list() == [12, 12] and operator.block_depth == 3
    dense = sess.run(operator.to_dense())
    close(sess.run(operator.determinant()), np.linalg.det(dense))
    close(sess.run(operator.trace()), np.trace(dense))
    close(dense[:, 0], np.fft.ifftn(spectrum).ravel())


@pytest.mark.parametrize(
    "build", [lambda: LO.LinearOperatorCirculant(1.0 + 0j), lambda: LO.LinearOperatorCirculant2D([1.0 + 0j])]
)
def test_spectra_of_too_few_dimensions(build):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        build()


def test_a_real_spectrum_is_transformed_as_a_complex_one(sess):
    operator = LO.LinearOperatorCirculant([4.0, 1.0, 2.0])
    assert operator.spectrum.dtype == tf.float32 and operator.is_self_adjoint
    wanted = np.fft.ifft([4.0, 1.0, 2.0])
    np.testing.assert_allclose(sess.run(operator.convolution_kernel()), wanted, atol=1e-6)
    np.testing.assert_allclose(sess.run(operator.to_dense())[:, 0], wanted, atol=1e-6)
    np.testing.assert_allclose(sess.run(operator.trace()), 7.0, rtol=1e-6)
