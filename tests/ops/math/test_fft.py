"""Fourier transforms against numpy, in every rank and with lengths that crop and pad; and their gradients."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.default_rng(5)
RANKS = [1, 2, 3]


def evaluate(build, *values):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


def of_rank(family, rank):
    return getattr(tf.signal, family + ("" if rank == 1 else f"{rank}d"))


def complex_values(shape):
    return RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_complex_transforms(rank, dtype, batch):
    x = complex_values((*batch, 4, 3, 5)[-rank - len(batch) :] if not batch else (*batch, *(4, 3, 5)[:rank])).astype(
        dtype
    )
    axes = tuple(range(-rank, 0))
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype is np.complex64 else {"rtol": 1e-9, "atol": 1e-9}
    for family, reference in {"fft": np.fft.fftn, "ifft": np.fft.ifftn}.items():
        found = evaluate(of_rank(family, rank), x)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, reference(x, axes=axes), **close)


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("change", [None, -1, 0, 2])
def test_real_transforms(rank, change):
    sizes = (4, 6, 5)[:rank]
    x = RANDOM.normal(size=(2, *sizes)).astype(np.float32)
    axes = tuple(range(1, rank + 1))
    length = None if change is None else [size + change for size in sizes]
    wanted = np.fft.rfftn(x, s=length, axes=axes)
    found = evaluate(lambda t: of_rank("rfft", rank)(t, fft_length=length), x)
    assert found.dtype == np.complex64
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    back = evaluate(lambda t: of_rank("irfft", rank)(t, fft_length=length), wanted.astype(np.complex64))
    np.testing.assert_allclose(back, np.fft.irfftn(wanted, s=length, axes=axes), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("size", [1, 4, 5])
def test_shifts(size):
    x = np.arange(size * 3.0).reshape(size, 3)
    for axes in (None, 0, 1, (0, 1), -1):
        np.testing.assert_array_equal(
            evaluate(lambda t, axes=axes: tf.signal.fftshift(t, axes), x), np.fft.fftshift(x, axes)
        )
        np.testing.assert_array_equal(
            evaluate(lambda t, axes=axes: tf.signal.ifftshift(t, axes), x), np.fft.ifftshift(x, axes)
        )


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("length", [None, 7])
def test_gradients(rank, length):
    sizes = (4, 5, 3)[:rank]
    lengths = None if length is None else [length] * rank
    value = RANDOM.normal(size=sizes).astype(np.float32)
    weights = RANDOM.normal(size=sizes).astype(np.float32)
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(value)
        spectrum = of_rank("rfft", rank)(x, lengths) if rank < 3 else of_rank("fft", rank)(tf.complex(x, weights))
        y = tf.abs(spectrum) ** 2 if rank == 3 else of_rank("irfft", rank)(spectrum * (1 + 0.5j), lengths)
        error = tf.test.compute_gradient_error(x, sizes, y, y.shape.as_list(), x_init_value=value, delta=1e-2)
        assert error < 0.1


def test_static_shapes():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 7])
        assert tf.signal.rfft(x).shape.as_list() == [None, 4]
        assert tf.signal.rfft(x, [10]).shape.as_list() == [None, 6]
        assert tf.signal.rfft(x, tf.placeholder(tf.int32, [1])).shape.as_list() == [None, None]
        assert tf.signal.irfft(tf.placeholder(tf.complex64, [3, 5])).shape.as_list() == [3, 8]
        with pytest.raises(ValueError, match="must be at least rank 2"):
            tf.signal.fft2d(tf.placeholder(tf.complex64, [3]))


def test_names_of_nodes():
    with tf.Graph().as_default() as graph:
        tf.signal.rfft(tf.ones([4]))
        tf.signal.fft(tf.ones([4], tf.complex64), name="mine")
        assert [(op.name, op.type) for op in graph.get_operations()] == [
            ("ones", "Const"),
            ("rfft/Const", "Const"),
            ("rfft", "RFFT"),
            ("ones_1", "Const"),
            ("mine", "FFT"),
        ]


def test_lengths_that_are_too_long_are_padded_by_the_op_itself():
    with tf.Graph().as_default(), tf.Session() as sess:
        length = tf.placeholder(tf.int32, [1])
        y = tf.signal.rfft(tf.constant([1.0, 2.0, 3.0]), length)
        np.testing.assert_allclose(sess.run(y, {length: [5]}), np.fft.rfft([1, 2, 3], 5), rtol=1e-5)


def test_lengths_of_another_shape_are_refused():
    for length in ([2, 2], [[2]]):
        with tf.Graph().as_default(), pytest.raises(ValueError):
            tf.signal.rfft([1.0, 2.0], length)
