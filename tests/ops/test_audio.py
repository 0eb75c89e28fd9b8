"""Sound: WAV files there and back and broken ones, spectrograms, cepstral coefficients."""

import struct

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.default_rng(0)


def evaluate(build, *values):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


@pytest.mark.parametrize("channels", [1, 2])
def test_wav_there_and_back(channels):
    sound = RANDOM.uniform(-1, 1, size=(50, channels)).astype(np.float32)
    data = evaluate(lambda t: tf.audio.encode_wav(t, 16000), sound)
    assert data[:4] == b"RIFF" and len(data) == 44 + 100 * channels
    audio, rate = evaluate(tf.audio.decode_wav, data)
    assert rate == 16000
    np.testing.assert_allclose(audio, sound, atol=1 / 32767)


def test_wav_clips():
    data = evaluate(lambda t: tf.audio.encode_wav(t, 8000), np.array([[2.0], [-2.0]], np.float32))
    assert struct.unpack("<2h", data[44:]) == (32767, -32768)


@pytest.mark.parametrize(("samples", "channels"), [(20, 1), (80, 1), (50, 2), (-1, -1)])
def test_desired_shape(samples, channels):
    sound = RANDOM.uniform(-1, 1, size=(50, 1)).astype(np.float32)
    data = evaluate(lambda t: tf.audio.encode_wav(t, 16000), sound)
    audio, _ = evaluate(lambda d: tf.audio.decode_wav(d, desired_channels=channels, desired_samples=samples), data)
    rows = 50 if samples == -1 else samples
    assert audio.shape == (rows, max(1, channels))
    kept = min(rows, 50)
    np.testing.assert_allclose(audio[:kept, 0], sound[:kept, 0], atol=1 / 32767)
    assert not audio[kept:].any()


# where the file is changed, to what, part of the message
BROKEN = [
    (0, b"RIFX", "Header mismatch: Expected RIFF but found RIFX"),
    (8, b"WAVY", "Header mismatch: Expected WAVE but found WAVY"),
    (20, b"\x03\x00", "Bad audio format for WAV: Expected 1 \\(PCM\\), but got3"),
    (34, b"\x08\x00", "Can only read 16-bit WAV files, but received 8"),
]


@pytest.mark.parametrize(("at", "change", "message"), BROKEN)
def test_broken_files(at, change, message):
    data = evaluate(lambda t: tf.audio.encode_wav(t, 16000), np.zeros((4, 1), np.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        evaluate(tf.audio.decode_wav, data[:at] + change + data[at + len(change) :])


@pytest.mark.parametrize("squared", [True, False])
def test_spectrogram(squared):
    sound = RANDOM.normal(size=(100, 2)).astype(np.float32)
    found = evaluate(
        lambda t: tf.raw_ops.AudioSpectrogram(input=t, window_size=20, stride=10, magnitude_squared=squared), sound
    )
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(20) / 20)
    frames = np.stack([sound[i : i + 20] * window[:, None] for i in range(0, 81, 10)])
    wanted = np.abs(np.fft.rfft(frames, 32, axis=1)).transpose(2, 0, 1)
    np.testing.assert_allclose(found, wanted**2 if squared else wanted, rtol=1e-3, atol=1e-3)


def test_cepstral_coefficients():
    spectrogram = RANDOM.uniform(size=(1, 3, 257)).astype(np.float32)
    found = evaluate(lambda t: tf.raw_ops.Mfcc(spectrogram=t, sample_rate=16000, dct_coefficient_count=7), spectrogram)
    assert found.shape == (1, 3, 7) and np.isfinite(found).all()
