"""Fourier transforms of what is empty, too short, or of few dimensions."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed


@pytest.mark.parametrize(("op", "rank"), [(tf.raw_ops.FFT, 1), (tf.raw_ops.IFFT2D, 2), (tf.raw_ops.FFT3D, 3)])
def test_dimensions_must_be_there(sess, op, rank):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"rank of at least {rank}"):
        sess.run(op(input=fed(np.zeros([2] * (rank - 1), np.complex64))))


def test_an_empty_batch_stays_empty(sess):
    empty = np.zeros([0, 4], np.complex64)
    assert sess.run(tf.raw_ops.FFT(input=fed(empty))).shape == (0, 4)
    assert sess.run(tf.raw_ops.RFFT(input=fed(empty.real), fft_length=[4])).shape == (0, 3)
    assert sess.run(tf.raw_ops.IRFFT(input=fed(empty), fft_length=[6])).shape == (0, 6)


@pytest.mark.parametrize("length", [1, 2, 5, 6])
def test_a_shorter_length_takes_the_beginning(sess, length):
    x = np.random.RandomState(0).randn(2, 6).astype(np.float32)
    found = sess.run(tf.raw_ops.RFFT(input=fed(x), fft_length=[length]))
    np.testing.assert_allclose(found, np.fft.rfft(x[:, :length]), atol=1e-5)
    back = sess.run(tf.raw_ops.IRFFT(input=fed(found), fft_length=[length]))
    np.testing.assert_allclose(back, x[:, :length], atol=1e-5)


def test_a_longer_length_is_refused(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have length of at least 8 but got: 6"):
        sess.run(tf.raw_ops.RFFT(input=fed(np.zeros([2, 6], np.float32)), fft_length=[8]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have length of at least 5 but got: 4"):
        sess.run(tf.raw_ops.IRFFT(input=fed(np.zeros([2, 4], np.complex64)), fft_length=[8]))


def test_the_last_of_several_dimensions_is_the_halved_one(sess):
    x = np.random.RandomState(1).randn(2, 4, 6).astype(np.float32)
    planes, volume = sess.run(
        [tf.raw_ops.RFFT2D(input=fed(x), fft_length=[3, 6]), tf.raw_ops.RFFT3D(input=fed(x), fft_length=[2, 4, 5])]
    )
    np.testing.assert_allclose(planes, np.fft.rfft2(x[:, :3]), atol=1e-4)
    np.testing.assert_allclose(volume, np.fft.rfftn(x[:, :, :5]), atol=1e-4)
    np.testing.assert_allclose(sess.run(tf.raw_ops.IRFFT3D(input=volume, fft_length=[2, 4, 5])), x[:, :, :5], atol=1e-5)
