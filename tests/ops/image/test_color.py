"""Colour spaces and adjustments: against formulas, and by going there and back."""

import colorsys

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.default_rng(6)


PICTURE = RANDOM.uniform(size=(4, 5, 3)).astype(np.float32)


def evaluate(build, *values):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


def by_pixel(function, image):
    return np.apply_along_axis(lambda pixel: function(*pixel), -1, image.astype(np.float64))


@pytest.mark.parametrize(
    ("there", "back"), [("rgb_to_hsv", "hsv_to_rgb"), ("rgb_to_yiq", "yiq_to_rgb"), ("rgb_to_yuv", "yuv_to_rgb")]
)
def test_there_and_back(there, back):
    found = evaluate(lambda x: getattr(tf.image, back)(getattr(tf.image, there)(x)), PICTURE)
    np.testing.assert_allclose(found, PICTURE, atol=2e-4)


def test_hue_saturation_value():
    np.testing.assert_allclose(
        evaluate(tf.image.rgb_to_hsv, PICTURE), by_pixel(colorsys.rgb_to_hsv, PICTURE), atol=1e-6
    )
    np.testing.assert_allclose(
        evaluate(tf.image.hsv_to_rgb, PICTURE), by_pixel(colorsys.hsv_to_rgb, PICTURE), atol=1e-6
    )
    grey = np.full((2, 3), 0.25, np.float32)
    np.testing.assert_array_equal(
        evaluate(tf.image.rgb_to_hsv, grey), np.broadcast_to(np.float32([0, 0, 0.25]), (2, 3))
    )


@pytest.mark.parametrize("delta", [-0.7, -0.1, 0.0, 0.3, 1.0])
def test_hue(delta):
    def turned(r, g, b):
        h, s, v = colorsys.rgb_to_hsv(r, g, b)
        return colorsys.hsv_to_rgb((h + delta) % 1, s, v)

    np.testing.assert_allclose(
        evaluate(lambda x: tf.image.adjust_hue(x, delta), PICTURE), by_pixel(turned, PICTURE), atol=1e-5
    )


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0, 3.0])
def test_saturation_and_contrast(factor):
    def scaled(r, g, b):
        h, s, v = colorsys.rgb_to_hsv(r, g, b)
        return colorsys.hsv_to_rgb(h, min(1, s * factor), v)

    np.testing.assert_allclose(
        evaluate(lambda x: tf.image.adjust_saturation(x, factor), PICTURE), by_pixel(scaled, PICTURE), atol=1e-5
    )
    mean = PICTURE.mean((0, 1))
    np.testing.assert_allclose(
        evaluate(lambda x: tf.image.adjust_contrast(x, factor), PICTURE), (PICTURE - mean) * factor + mean, atol=1e-5
    )


def test_brightness_and_gamma():
    np.testing.assert_allclose(
        evaluate(lambda x: tf.image.adjust_brightness(x, 0.2), PICTURE), PICTURE + 0.2, rtol=1e-6
    )
    bright = evaluate(lambda x: tf.image.adjust_brightness(x, 0.2), np.array([[[250, 10, 0]]], np.uint8))
    assert bright.tolist() == [[[255, 61, 51]]]
    np.testing.assert_allclose(
        evaluate(lambda x: tf.image.adjust_gamma(x, 2.0, 1.5), PICTURE), 1.5 * PICTURE**2, rtol=1e-5
    )
    with pytest.raises(ValueError, match="Gamma should be a non-negative real number"):
        evaluate(lambda x: tf.image.adjust_gamma(x, -1.0), PICTURE)


def test_grayscale():
    grey = evaluate(tf.image.rgb_to_grayscale, PICTURE)
    np.testing.assert_allclose(grey[..., 0], PICTURE @ [0.2989, 0.587, 0.114], rtol=1e-5)
    np.testing.assert_array_equal(evaluate(tf.image.grayscale_to_rgb, grey), np.repeat(grey, 3, -1))


# Clipping has no kernel for integers of 16 bits.
CANNOT_SATURATE = {("int16", "uint8"), ("uint16", "uint8"), ("int16", "uint16"), ("uint16", "int16")}


@pytest.mark.parametrize("source", ["uint8", "int16", "uint16", "float32", "float64"])
@pytest.mark.parametrize("target", ["uint8", "int16", "uint16", "float32"])
@pytest.mark.parametrize("saturate", [True, False])
def test_changes_of_type(source, target, saturate):
    x = (
        np.array([0, 0.25, 0.999], source)
        if source.startswith("float")
        else np.array([0, 1, np.iinfo(source).max], source)
    )
    if saturate and (source, target) in CANNOT_SATURATE:
        with pytest.raises(TypeError):
            evaluate(lambda t: tf.image.convert_image_dtype(t, target, saturate=True), x)
        return
    found = evaluate(lambda t: tf.image.convert_image_dtype(t, target, saturate=saturate), x)
    assert found.dtype == np.dtype(target)
    share = x.astype(np.float64) / (1 if source.startswith("float") else np.iinfo(source).max)
    if target.startswith("float"):
        np.testing.assert_allclose(found, share, atol=1e-6)
    else:
        np.testing.assert_allclose(found / np.iinfo(target).max, share, atol=1.5 / min(255, np.iinfo(target).max))


def test_seeded_brightness_is_that_of_tensorflow():
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(5)
        y = tf.image.random_brightness(tf.zeros([1, 1, 1]), 0.3, seed=3)
        found = [float(sess.run(y)[0, 0, 0]) for _ in range(3)]
    np.testing.assert_allclose(found, [-0.12679297, -0.03149945, 0.003363997], rtol=1e-5)


# name, arguments that it refuses
REFUSED = [
    ("random_brightness", [-1.0]),
    ("random_contrast", [1.5, 0.5]),
    ("random_contrast", [-1.0, 0.5]),
    ("random_hue", [0.6]),
    ("random_hue", [-0.1]),
    ("random_saturation", [0.7, 0.5]),
    ("random_saturation", [-0.1, 0.5]),
    ("random_jpeg_quality", [50, 5]),
    ("random_jpeg_quality", [-1, 5]),
]


@pytest.mark.parametrize(("name", "arguments"), REFUSED)
def test_refused_ranges(name, arguments):
    with pytest.raises(ValueError):
        evaluate(lambda x: getattr(tf.image, name)(x, *arguments), PICTURE)


@pytest.mark.parametrize("name", ["rgb_to_hsv", "hsv_to_rgb"])
def test_three_channels(name):
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Dimension must be 3 but is 4"):
        getattr(tf.image, name)(tf.ones([2, 4]))


def test_images_have_no_strings_or_complex_numbers():
    for dtype in (tf.string, tf.complex64, tf.bool):
        with pytest.raises(AttributeError, match="floating point or integer"):
            tf.image.convert_image_dtype(tf.constant([1], tf.uint8), dtype)
