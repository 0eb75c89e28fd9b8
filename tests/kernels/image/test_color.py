"""Colours at the corners of the cube, and images that have none."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.image import color
from tests.kernels.feeding import fed

RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize(
    ("rgb", "hsv"),
    [
        ([0, 0, 0], [0, 0, 0]),
        ([1, 1, 1], [0, 0, 1]),
        ([1, 0, 0], [0, 1, 1]),
        ([0, 1, 0], [1 / 3, 1, 1]),
        ([0, 0, 0.5], [2 / 3, 1, 0.5]),
        ([1, 0, 0.5], [11 / 12, 1, 1]),
        ([1, 1, 0], [1 / 6, 1, 1]),
    ],
)
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_corners_of_the_cube(sess, rgb, hsv, dtype):
    there = tf.image.rgb_to_hsv(fed(rgb, dtype))
    found, back = sess.run([there, tf.image.hsv_to_rgb(there)])
    np.testing.assert_allclose(found, hsv, atol=1e-6)
    np.testing.assert_allclose(back, rgb, atol=1e-6)


def test_a_turn_by_a_whole_circle_and_by_nothing(sess):
    image = RANDOM.rand(2, 3, 4, 3).astype(np.float32)
    for delta in (0.0, 1.0, -1.0):
        np.testing.assert_allclose(sess.run(tf.raw_ops.AdjustHue(images=fed(image), delta=delta)), image, atol=1e-5)
    turned = sess.run(tf.raw_ops.AdjustHue(images=fed(image), delta=1 / 3))
    np.testing.assert_allclose(turned, image[..., [2, 0, 1]], atol=1e-5)


def test_grey_stays_grey(sess):
    grey = np.repeat(RANDOM.rand(1, 2, 2, 1), 3, -1).astype(np.float32)
    hue, strong = sess.run(
        [tf.raw_ops.AdjustHue(images=fed(grey), delta=0.3), tf.raw_ops.AdjustSaturation(images=fed(grey), scale=5.0)]
    )
    np.testing.assert_allclose(hue, grey, atol=1e-6)
    np.testing.assert_allclose(strong, grey, atol=1e-6)


def test_contrast_is_that_of_each_image_and_channel(sess):
    images = RANDOM.rand(2, 3, 4, 5).astype(np.float32)
    mean = images.mean((1, 2), keepdims=True)
    found = sess.run(tf.raw_ops.AdjustContrastv2(images=fed(images), contrast_factor=2.0))
    np.testing.assert_allclose(found, (images - mean) * 2 + mean, atol=1e-5)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.image.rgb_to_hsv(fed([1.0, 2.0])), tf.errors.FailedPreconditionError),
        (lambda: tf.image.hsv_to_rgb(fed(1.0)), tf.errors.InvalidArgumentError),
        (lambda: tf.raw_ops.AdjustHue(images=fed([[1.0, 2.0, 3.0]]), delta=0.1), tf.errors.InvalidArgumentError),
        (
            lambda: tf.raw_ops.AdjustHue(images=fed(np.ones([2, 2, 2], np.float32)), delta=0.1),
            tf.errors.InvalidArgumentError,
        ),
        (
            lambda: tf.raw_ops.AdjustSaturation(images=fed(np.ones([2, 2, 3], np.float32)), scale=fed([1.0])),
            tf.errors.InvalidArgumentError,
        ),
        (lambda: tf.raw_ops.AdjustContrastv2(images=fed([1.0]), contrast_factor=2.0), tf.errors.InvalidArgumentError),
    ],
)
def test_images_without_colours(sess, build, error):
    found = build()
    with pytest.raises(error):
        sess.run(found)


def pictures():
    """Pixels of all kinds: random ones, grey ones, black, with two equal channels, beyond one and below zero."""
    image = RANDOM.rand(40, 50, 3).astype(np.float32)
    image[0] = image[0, :, :1]
    image[1] = 0
    image[2, :, 1] = image[2, :, 0]
    image[3, :, 2] = image[3, :, 1]
    image[4, :, 2] = image[4, :, 0]
    image[5] = RANDOM.randint(0, 3, (50, 3))
    image[6] = image[6] * 10 - 5
    image[7] = -0.0
    return torch.from_numpy(image)


@pytest.mark.parametrize("delta", [0.0, 0.1, -0.1, 0.5, -0.5, 1.0, -1.0, 0.99999, 1 / 3, 2.5, -7.25])
def test_hues_are_the_same_by_both_ways(both_ways, delta):
    image = pictures()
    both_ways(lambda: color.adjust_hue(image, torch.tensor(delta)))


@pytest.mark.parametrize("scale", [0.0, 0.5, 1.0, 1.5, 100.0, -1.0, float("inf"), float("nan")])
def test_saturations_are_the_same_by_both_ways(both_ways, scale):
    image = pictures()
    both_ways(lambda: color.adjust_saturation(image, torch.tensor(scale)))


def test_other_types_and_orders_and_what_is_no_number(both_ways):
    image = pictures()
    for given in (image.half(), image.permute(1, 0, 2), image[:0], image[None, :, :7]):
        both_ways(lambda given=given: color.adjust_hue(given, torch.tensor(0.2)))
        both_ways(lambda given=given: color.adjust_saturation(given, torch.tensor(0.7)))
    image[3, 4, 1] = float("nan")
    both_ways(lambda: color.adjust_hue(image, torch.tensor(0.2)))
    both_ways(lambda: color.adjust_saturation(image, torch.tensor(0.7)))


def test_hue_turns_in_yiq():
    image = np.linspace(0, 1, 24).reshape(2, 4, 3).astype("f")
    with tf.Graph().as_default(), tf.Session() as session:
        turned = tf.raw_ops.AdjustHsvInYiq(images=image, delta_h=0.3, scale_s=1.5, scale_v=0.8)
        np.testing.assert_allclose(session.run(turned)[0, 0], [-0.0226, 0.0471, 0.0651], atol=1e-4)
        same = tf.raw_ops.AdjustHsvInYiq(images=image, delta_h=0.0, scale_s=1.0, scale_v=1.0)
        np.testing.assert_allclose(session.run(same), image, atol=1e-6)
