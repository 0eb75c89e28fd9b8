"""The audio front end of small devices, number for number as TensorFlow's device code has it."""

import numpy as np
import pytest

import everflow as tf
from everflow.kernels import microfrontend
from everflow.lite.microfrontend import audio_microfrontend

TIMES = np.arange(1200)
SOUND = (np.sin(TIMES * 0.2) * 9000 + np.sin(TIMES * TIMES * 1e-3) * 4000).astype(np.int16)

# Settings, and the frames that TensorFlow 1.15.5 gives for SOUND.
FRAMES = [
    (
        {"num_channels": 8},
        [
            [665, 607, 663, 602, 648, 513, 530, 539],
            [622, 560, 568, 575, 657, 596, 511, 520],
            [595, 533, 0, 339, 620, 595, 649, 490],
            [577, 509, 0, 0, 472, 558, 654, 541],
            [560, 491, 0, 0, 0, 439, 629, 599],
            [546, 470, 0, 0, 0, 0, 578, 582],
        ],
    ),
    (
        {"num_channels": 8, "enable_pcan": False, "enable_log": False},
        [
            [65535, 65535, 47551, 27424, 3584, 83, 85, 152],
            [65535, 65535, 15196, 45383, 42793, 6676, 75, 180],
            [65535, 65535, 7, 3577, 46627, 44409, 4994, 159],
            [65535, 65535, 6, 3, 6344, 48712, 39610, 570],
            [65535, 65535, 6, 3, 4, 11932, 59596, 21638],
            [65535, 65535, 6, 4, 6, 13, 38357, 50152],
        ],
    ),
    (
        {"num_channels": 3, "left_context": 1, "right_context": 1, "frame_stride": 2, "zero_padding": True}
        | {"out_scale": 2, "out_type": tf.float32},
        [
            [0.0, 0.0, 0.0, 332.5, 302.5, 291.5, 310.0, 287.5, 328.0],
            [310.0, 287.5, 328.0, 297.0, 266.0, 321.0, 286.5, 230.0, 309.5],
            [286.5, 230.0, 309.5, 278.5, 0.0, 297.5, 274.0, 0.0, 282.5],
        ],
    ),
]


@pytest.mark.parametrize(("settings", "frames"), FRAMES, ids=["whole", "bare", "context"])
def test_frames(settings, frames):
    with tf.Graph().as_default(), tf.Session() as sess:
        found = audio_microfrontend(tf.constant(SOUND), **settings)
        assert found.shape == np.shape(frames)
        np.testing.assert_array_equal(sess.run(found), frames)


def test_copies_stand_before_the_first_and_after_the_last_frame():
    with tf.Graph().as_default(), tf.Session() as sess:
        plain, wide = (audio_microfrontend(SOUND, num_channels=2, left_context=n, right_context=n) for n in (0, 1))
        plain, wide = sess.run([plain, wide])
    np.testing.assert_array_equal(wide[0], np.concatenate([plain[0], plain[0], plain[1]]))
    np.testing.assert_array_equal(wide[-1], np.concatenate([plain[-2], plain[-1], plain[-1]]))


@pytest.mark.parametrize("count", [0, 300])
def test_too_little_sound_has_no_frames(count):
    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(audio_microfrontend(np.ones(count, np.int16), left_context=1)).shape == (0, 64)


def test_sounds_of_a_batch_follow_one_another():
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        found = sess.run(audio_microfrontend(np.stack([SOUND, SOUND])))
        whole = sess.run(audio_microfrontend(np.concatenate([SOUND, SOUND])))
        assert "Reshape" in {op.type for op in graph.get_operations()}
    np.testing.assert_array_equal(found, whole)


@pytest.mark.parametrize("size", [2, 8, 32, 512])
def test_the_whole_number_transform_is_near_the_real_one(size):
    signal = np.random.RandomState(size).randint(-30000, 30000, (5, size))
    real, imaginary = microfrontend.real_fft(signal)
    np.testing.assert_allclose(real + 1j * imaginary, np.fft.rfft(signal) / size, atol=8)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"upper_band_limit": 9000.0}, tf.errors.InternalError),
        ({"window_size": 0}, tf.errors.InternalError),
        ({"out_scale": 0}, tf.errors.InvalidArgumentError),
        ({"window_step": 0}, ValueError),
        ({"frame_stride": 0}, ValueError),
        ({"out_type": tf.int32}, TypeError),
    ],
)
def test_refusals(settings, error):
    with tf.Graph().as_default(), tf.Session() as sess, pytest.raises(error):
        sess.run(audio_microfrontend(tf.constant(SOUND), **settings))


def test_samples_are_int16():
    with tf.Graph().as_default(), pytest.raises(TypeError):
        audio_microfrontend(tf.constant([1, 2, 3]))
