"""WAV files byte by byte, and spectra of waves that are known."""

import struct

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed

WAVE = np.float32([[0.0, 0.5], [-1.0, 1.0], [0.25, -0.25]])


def wav(samples, rate=8000, channels=1, extra=b"", form=1, bits=16, format_size=16):
    body = np.asarray(samples, "<i2").tobytes()
    frame = channels * 2
    header = struct.pack("<HHIIHH", form, channels, rate, rate * frame, frame, bits) + b"\0" * (format_size - 16)
    chunks = b"fmt " + struct.pack("<I", format_size) + header + extra + b"data" + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def decoded(sess, data, **options):
    found = sess.run(tf.audio.decode_wav(fed(data), **options))
    return found.audio, found.sample_rate


def test_there_and_back(sess):
    audio, rate = decoded(sess, sess.run(tf.audio.encode_wav(fed(WAVE), 16000)))
    assert rate == 16000
    np.testing.assert_allclose(audio, np.clip(WAVE, -1, 32767 / 32768), atol=1e-4)


@pytest.mark.parametrize(
    ("samples", "channels", "wanted"),
    [
        (-1, -1, [[0.5], [-0.5]]),
        (1, -1, [[0.5]]),
        (3, -1, [[0.5], [-0.5], [0.0]]),
        (-1, 2, [[0.5, 0.5], [-0.5, -0.5]]),
    ],
)
def test_more_and_fewer_than_there_are(sess, samples, channels, wanted):
    data = wav([16384, -16384])
    found, _ = decoded(sess, data, desired_samples=samples, desired_channels=channels)
    assert found.tolist() == wanted


def test_other_chunks_are_passed_over(sess):
    extra = b"LIST" + struct.pack("<I", 4) + b"abcd"
    assert decoded(sess, wav([16384], extra=extra, format_size=18))[0].tolist() == [[0.5]]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "Data too short"),
        (b"RIFX" + wav([1])[4:], "Header mismatch: Expected RIFF but found RIFX"),
        (wav([1], form=3), "Bad audio format for WAV"),
        (wav([1], bits=8), "Can only read 16-bit WAV files"),
        (wav([1])[:-1], "Data too short"),
        (wav([1])[:36], "No data chunk found|Data too short"),
    ],
)
def test_files_that_are_none(sess, data, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        decoded(sess, data)


def test_sounds_that_can_not_be_written(sess):
    for audio, rate in ((WAVE[0], 8000), (WAVE[:0], 8000), (WAVE, [8000])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(tf.audio.encode_wav(fed(np.float32(audio)), fed(rate)))


@pytest.mark.parametrize("squared", [False, True])
def test_a_pure_tone_has_one_peak(sess, squared):
    wave = np.sin(2 * np.pi * np.arange(256) * 8 / 64).astype(np.float32)[:, None]
    found = sess.run(tf.raw_ops.AudioSpectrogram(input=fed(wave), window_size=64, stride=32, magnitude_squared=squared))
    assert found.shape == (1, 7, 33) and (found.argmax(-1) == 8).all()
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(64) / 64)
    power = np.abs(np.fft.rfft(wave[:64, 0] * window)) ** (2 if squared else 1)
    np.testing.assert_allclose(found[0, 0], power, rtol=1e-3, atol=1e-2)


def test_too_few_samples_for_a_window(sess):
    assert sess.run(
        tf.raw_ops.AudioSpectrogram(input=fed(np.zeros([10, 2], np.float32)), window_size=64, stride=32)
    ).shape == (2, 0, 33)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.raw_ops.AudioSpectrogram(input=fed(np.zeros([10, 2], np.float32)), window_size=1, stride=1))


def test_coefficients_of_a_louder_sound_differ_in_the_first_only(sess):
    spectrum = np.random.RandomState(0).rand(1, 2, 129).astype(np.float32) + 0.5
    quiet, loud = (
        sess.run(tf.raw_ops.Mfcc(spectrogram=fed(s), sample_rate=fed(8000), dct_coefficient_count=5))
        for s in (spectrum, 4 * spectrum)
    )
    assert quiet.shape == (1, 2, 5)
    np.testing.assert_allclose((loud - quiet)[..., 1:], 0, atol=1e-3)
    assert (loud[..., 0] > quiet[..., 0] + 1).all()
