"""Crops that reach over the image, are turned around or a single pixel; glimpses at the edge."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.image import crops
from tests.kernels.feeding import fed

IMAGE = np.arange(20, dtype=np.float32).reshape(1, 4, 5, 1)


def cropped(sess, box, size, image=IMAGE, **options):
    return sess.run(tf.image.crop_and_resize(fed(image), fed([box]), fed([0]), fed(size), **options))[
        0, :, :, 0
    ].tolist()


def test_a_box_whose_corners_are_exchanged_turns_the_image(sess):
    whole = cropped(sess, [0.0, 0.0, 1.0, 1.0], [4, 5])
    assert whole == IMAGE[0, :, :, 0].tolist()
    assert cropped(sess, [1.0, 1.0, 0.0, 0.0], [4, 5]) == IMAGE[0, ::-1, ::-1, 0].tolist()


def test_a_crop_of_one_pixel_is_the_middle_of_its_box(sess):
    assert cropped(sess, [0.0, 0.0, 1.0, 1.0], [1, 1]) == [[9.5]]
    assert cropped(sess, [0.0, 0.0, 1.0, 1.0], [1, 1], method="nearest") == [[12.0]]


def test_what_lies_outside_is_filled(sess):
    found = cropped(sess, [0.0, 0.0, 2.0, 1.0], [2, 2], extrapolation_value=-7.0)
    assert found == [[0.0, 4.0], [-7.0, -7.0]]


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64, np.float16])
def test_crops_are_single_precision_whatever_the_image(sess, dtype):
    found = sess.run(tf.image.crop_and_resize(fed(IMAGE.astype(dtype)), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2]))
    assert found.dtype == np.float32 and found[0, :, :, 0].tolist() == [[0, 4], [15, 19]]


def test_no_boxes(sess):
    none = tf.image.crop_and_resize(fed(IMAGE), fed(np.zeros([0, 4], np.float32)), fed(np.zeros([0], np.int32)), [3, 2])
    assert sess.run(none).shape == (0, 3, 2, 1)


def test_gradients_of_overlapping_crops_add_up(sess):
    grad = tf.raw_ops.CropAndResizeGradImage(
        grads=fed(np.ones([2, 2, 2, 1], np.float32)),
        boxes=fed([[0.0, 0.0, 1.0, 1.0]] * 2),
        box_ind=fed([0, 0]),
        image_size=fed([1, 4, 5, 1]),
        T=tf.float32,
    )
    wanted = np.zeros([4, 5])
    wanted[[0, 0, 3, 3], [0, 4, 0, 4]] = 2
    np.testing.assert_array_equal(sess.run(grad)[0, :, :, 0], wanted)


@pytest.mark.parametrize(
    ("image", "boxes", "which", "size", "error"),
    [
        (IMAGE[0], [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2], tf.errors.InvalidArgumentError),
        (IMAGE, [0.0, 0.0, 1.0, 1.0], [0], [2, 2], tf.errors.InvalidArgumentError),
        (IMAGE, [[0.0, 0.0, 1.0]], [0], [2, 2], tf.errors.InvalidArgumentError),
        (IMAGE, [[0.0, 0.0, 1.0, 1.0]], [0, 0], [2, 2], tf.errors.InvalidArgumentError),
        (IMAGE, [[0.0, 0.0, 1.0, 1.0]], [0], [2, 0], tf.errors.InvalidArgumentError),
        (IMAGE, [[0.0, 0.0, 1.0, 1.0]], [0], [2], tf.errors.InvalidArgumentError),
        (IMAGE, [[0.0, 0.0, 1.0, 1.0]], [1], [2, 2], tf.errors.OutOfRangeError),
    ],
)
def test_crops_that_can_not_be(sess, image, boxes, which, size, error):
    crops = tf.image.crop_and_resize(fed(image), fed(boxes), fed(which), fed(size))
    with pytest.raises(error):
        sess.run(crops)


@pytest.mark.parametrize(
    ("offset", "options", "wanted"),
    [
        ([0.0, 0.0], {"centered": True}, [[6, 7], [11, 12]]),
        ([2.0, 2.0], {"centered": False, "normalized": False}, [[6, 7], [11, 12]]),
        ([0.0, 0.0], {"centered": False, "normalized": False, "noise": "zero"}, [[0, 0], [0, 0]]),
    ],
)
def test_glimpses(sess, offset, options, wanted):
    found = sess.run(
        tf.raw_ops.ExtractGlimpse(
            input=fed(IMAGE),
            size=fed([2, 2]),
            offsets=fed([offset]),
            **{"uniform_noise": False, "noise": "zero", **options},
        )
    )
    assert found[0, :, :, 0].tolist() == wanted


@pytest.mark.parametrize("noise", ["uniform", "gaussian"])
def test_noise_beyond_the_image_is_in_its_range(sess, noise):
    found = sess.run(
        tf.raw_ops.ExtractGlimpse(
            input=fed(IMAGE), size=fed([8, 8]), offsets=fed([[0.0, 0.0]]), uniform_noise=False, noise=noise
        )
    )
    assert found.shape == (1, 8, 8, 1) and found.min() >= 0 and found.max() <= 19
    assert len(np.unique(found)) > 10


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32, torch.int32])
@pytest.mark.parametrize("size", [[5, 9], [1, 1], [3, 1]])
def test_compiled_loops_give_the_same(both_ways, dtype, size):
    random = torch.Generator().manual_seed(1)
    image = (torch.rand((2, 11, 8, 3), generator=random) * 255).to(dtype)
    boxes = torch.rand((7, 4), generator=random) * 1.6 - 0.3
    which = torch.tensor([0, 1, 0, 1, 1, 0, 0], dtype=torch.int32)
    for method in ("bilinear", "nearest"):
        both_ways(
            lambda m=method: crops.crop_and_resize(
                image, boxes, which, torch.tensor(size), method=m, extrapolation_value=7.5
            )
        )
