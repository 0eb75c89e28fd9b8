"""Windows, frames, short time transforms and cosine transforms: against scipy, and by undoing each other."""

import numpy as np
import pytest
import scipy.fft
import scipy.signal

import everflow as tf

RANDOM = np.random.default_rng(9)


def evaluate(build, *values):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


@pytest.mark.parametrize(("name", "reference"), [("hann_window", "hann"), ("hamming_window", "hamming")])
@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("length", [2, 3, 8, 9])
def test_windows(name, reference, periodic, length):
    found = evaluate(lambda: getattr(tf.signal, name)(length, periodic=periodic))
    # An odd window is symmetric, whether it is asked to be periodic or not.
    wanted = scipy.signal.get_window(reference, length, fftbins=periodic and length % 2 == 0)
    np.testing.assert_allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize("pad_end", [True, False])
@pytest.mark.parametrize(("size", "length", "step"), [(9, 3, 2), (10, 4, 4), (7, 3, 5), (3, 5, 1), (8, 1, 3)])
@pytest.mark.parametrize("known", [True, False])
def test_frames(size, length, step, pad_end, known):
    x = RANDOM.normal(size=(2, size)).astype(np.float32)
    count = -(-size // step) if pad_end else max(0, 1 + (size - length) // step)
    padded = np.pad(x, [(0, 0), (0, length)], constant_values=7)
    wanted = (
        np.stack([padded[:, i * step : i * step + length] for i in range(count)], 1)
        if count
        else np.zeros((2, 0, length))
    )
    with tf.Graph().as_default(), tf.Session() as sess:
        signal = tf.placeholder(tf.float32, x.shape if known else [None, None])
        frames = tf.signal.frame(signal, length, step, pad_end=pad_end, pad_value=7)
        np.testing.assert_array_equal(sess.run(frames, {signal: x}), wanted)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_frames_of_any_axis(axis):
    x = RANDOM.normal(size=(6, 7, 8))
    found = evaluate(lambda t: tf.signal.frame(t, 3, 2, axis=axis), x)
    moved = np.moveaxis(x, axis, -1)
    wanted = np.stack([moved[..., i : i + 3] for i in range(0, moved.shape[-1] - 2, 2)], -2)
    axis = axis % 3
    np.testing.assert_array_equal(found, np.moveaxis(wanted, [-2, -1], [axis, axis + 1]))


@pytest.mark.parametrize(("frames", "length", "step"), [(4, 3, 1), (3, 4, 2), (5, 4, 4), (2, 2, 3), (4, 5, 2)])
def test_overlap_and_add(frames, length, step):
    x = RANDOM.normal(size=(2, frames, length))
    wanted = np.zeros((2, (frames - 1) * step + length))
    for i in range(frames):
        wanted[:, i * step : i * step + length] += x[:, i]
    np.testing.assert_allclose(evaluate(lambda t: tf.signal.overlap_and_add(t, step), x), wanted)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("n", [None, 3, 9])
def test_cosine_transforms(kind, norm, n):
    if kind == 4 or (kind == 1 and norm == "ortho"):
        with pytest.raises(ValueError):
            evaluate(lambda t: tf.signal.dct(t, type=kind, norm=norm), np.ones(4, np.float32))
        return
    x = RANDOM.normal(size=(2, 6)).astype(np.float32)
    found = evaluate(lambda t: tf.signal.dct(t, type=kind, norm=norm, n=n), x)
    np.testing.assert_allclose(found, scipy.fft.dct(x.astype(np.float64), kind, n, norm=norm), rtol=1e-4, atol=1e-4)
    if n is None:
        np.testing.assert_allclose(
            evaluate(lambda t: tf.signal.idct(t, type=kind, norm=norm), found) / (1 if norm else {1: 10}.get(kind, 12)),
            x,
            atol=1e-4,
        )


@pytest.mark.parametrize("step", [4, 8])
def test_short_time_transform_and_back(step):
    x = RANDOM.normal(size=64).astype(np.float32)
    found = evaluate(lambda t: tf.signal.stft(t, 16, step), x)
    window = scipy.signal.get_window("hann", 16)
    wanted = np.stack([np.fft.rfft(x[i : i + 16] * window) for i in range(0, 64 - 15, step)])
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)
    back = evaluate(
        lambda t: tf.signal.inverse_stft(t, 16, step, window_fn=tf.signal.inverse_stft_window_fn(step)), found
    )
    np.testing.assert_allclose(back[16:-16], x[16:-16], atol=1e-4)


def test_mel_scale():
    weights = evaluate(lambda: tf.signal.linear_to_mel_weight_matrix(5, 33, 8000, 125.0, 3800.0))
    assert weights.shape == (33, 5)
    assert (weights >= 0).all() and (weights[0] == 0).all() and weights.max() <= 1
    spectrograms = RANDOM.normal(size=(2, 3, 5)).astype(np.float32)
    found = evaluate(tf.signal.mfccs_from_log_mel_spectrograms, spectrograms)
    wanted = scipy.fft.dct(spectrograms.astype(np.float64), 2) / np.sqrt(10)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    for bad in [
        {"num_mel_bins": 0},
        {"sample_rate": 0.0},
        {"lower_edge_hertz": -1.0},
        {"upper_edge_hertz": 1e5},
        {"lower_edge_hertz": 4000.0},
    ]:
        with pytest.raises(ValueError):
            evaluate(lambda bad=bad: tf.signal.linear_to_mel_weight_matrix(**bad))


def test_gradient_of_a_spectrogram():
    x = RANDOM.normal(size=24).astype(np.float32)
    with tf.Graph().as_default(), tf.Session():
        signal = tf.constant(x)
        power = tf.square(tf.abs(tf.signal.stft(signal, 8, 4)))
        assert (
            tf.test.compute_gradient_error(signal, [24], power, power.shape.as_list(), x_init_value=x, delta=1e-2)
            < 0.05
        )
