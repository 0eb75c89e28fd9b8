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
