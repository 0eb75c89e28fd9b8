"""Resizing: exact tables for simple cases, every type, and arguments that can't be."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.image import resize
from everflow.kernels.image.resize import nearest_indices
from tests.kernels.feeding import fed

LINE = np.float32([0, 10, 20, 30]).reshape(1, 1, 4, 1)


@pytest.mark.parametrize(
    ("op", "options", "width", "wanted"),
    [
        ("ResizeBilinear", {}, 8, [0, 5, 10, 15, 20, 25, 30, 30]),
        ("ResizeBilinear", {"align_corners": True}, 7, [0, 5, 10, 15, 20, 25, 30]),
        ("ResizeBilinear", {"half_pixel_centers": True}, 2, [5, 25]),
        ("ResizeNearestNeighbor", {}, 2, [0, 20]),
        ("ResizeNearestNeighbor", {"align_corners": True}, 2, [0, 30]),
        ("ResizeNearestNeighbor", {"half_pixel_centers": True}, 2, [10, 30]),
        ("ResizeArea", {}, 2, [5, 25]),
        ("ResizeArea", {}, 3, [2.5, 15, 27.5]),
        ("ResizeBicubic", {}, 4, [0, 10, 20, 30]),
        ("ResizeBicubic", {"align_corners": True}, 4, [0, 10, 20, 30]),
    ],
)
def test_values(sess, op, options, width, wanted):
    found = sess.run(getattr(tf.raw_ops, op)(images=fed(LINE), size=fed([1, width]), **options))
    np.testing.assert_allclose(found.ravel(), wanted, atol=1e-4)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "int32", "float16", "float32", "float64"])
@pytest.mark.parametrize("op", ["ResizeBilinear", "ResizeArea", "ResizeBicubic"])
def test_results_are_single_precision(sess, op, dtype):
    found = sess.run(getattr(tf.raw_ops, op)(images=fed(LINE.astype(dtype)), size=[1, 2]))
    assert found.dtype == np.float32


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "int32", "float16", "float64"])
def test_the_nearest_pixel_keeps_its_type(sess, dtype):
    found = sess.run(tf.raw_ops.ResizeNearestNeighbor(images=fed(LINE.astype(dtype)), size=[2, 2]))
    assert found.dtype == dtype and found.ravel().tolist() == [0, 20, 0, 20]


def test_gradients_of_the_nearest_are_counted_where_they_came_from(sess):
    grad = sess.run(
        tf.raw_ops.ResizeNearestNeighborGrad(grads=fed(np.ones([1, 2, 8, 1], np.float32)), size=fed([1, 4]))
    )
    assert grad.ravel().tolist() == [4, 4, 4, 4]


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("half", [False, True])
def test_indices_stay_inside(align, half):
    for small in (1, 2, 3, 7):
        for large in (1, 2, 5, 100):
            places = nearest_indices(small, large, align, half)
            assert len(places) == large and 0 <= int(places.min()) <= int(places.max()) < small
            assert places.tolist() == sorted(places.tolist())


@pytest.mark.parametrize(
    "kernel_type", ["lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"]
)
@pytest.mark.parametrize("antialias", [False, True])
def test_a_constant_image_stays_constant_however_it_is_sampled(sess, kernel_type, antialias):
    image = np.full([1, 6, 8, 2], 3.5, np.float32)
    found = tf.raw_ops.ScaleAndTranslate(
        images=image,
        size=[3, 12],
        scale=[0.5, 1.5],
        translation=[0.0, 0.0],
        kernel_type=kernel_type,
        antialias=antialias,
    )
    np.testing.assert_allclose(sess.run(found), 3.5, rtol=1e-5)


def test_what_is_moved_out_of_the_image_is_zero(sess):
    moved = tf.raw_ops.ScaleAndTranslate(
        images=LINE, size=[1, 4], scale=[1.0, 1.0], translation=[0.0, 2.0], kernel_type="triangle"
    )
    np.testing.assert_allclose(sess.run(moved).ravel(), [0, 0, 0, 10], atol=1e-5)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.raw_ops.ResizeBilinear(images=fed(LINE[0]), size=[1, 2]), "input must be 4-dimensional"),
        (lambda: tf.raw_ops.ResizeBilinear(images=fed(LINE), size=fed([1, 2, 3])), "shape_t must have two elements"),
        (lambda: tf.raw_ops.ResizeArea(images=fed(LINE), size=fed([[1, 2]])), "shape_t must be 1-dimensional"),
        (lambda: tf.raw_ops.ResizeBicubic(images=fed(LINE), size=fed([0, 2])), "output dimensions must be positive"),
        (
            lambda: tf.raw_ops.ResizeNearestNeighbor(
                images=fed(LINE), size=[1, 2], align_corners=True, half_pixel_centers=True
            ),
            "align_corners must be False",
        ),
        (lambda: tf.raw_ops.ResizeBilinear(images=fed(LINE[:, :, :0]), size=[1, 2]), "must be of non-zero size"),
        (
            lambda: tf.raw_ops.ScaleAndTranslate(
                images=LINE, size=[1, 2], scale=fed([1.0, 0.0]), translation=[0.0, 0.0]
            ),
            "Scale must be greater than zero",
        ),
        (
            lambda: tf.raw_ops.ScaleAndTranslate(
                images=LINE, size=[1, 2], scale=[1.0, 1.0], translation=[0.0, 0.0], kernel_type="none"
            ),
            "Unrecognized kernel type",
        ),
    ],
)
def test_what_can_not_be(sess, build, message):
    found = build()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(found)


def test_bytes_that_stand_for_floats_are_rounded(sess):
    image = np.uint8([0, 5]).reshape(1, 1, 2, 1)
    found = tf.raw_ops.QuantizedResizeBilinear(
        images=tf.bitcast(image, tf.quint8), size=[1, 4], min=tf.constant(-1.0), max=tf.constant(1.0)
    )
    resized, low, high = sess.run([tf.bitcast(found.resized_images, tf.uint8), found.out_min, found.out_max])
    assert resized.ravel().tolist() in ([0, 2, 5, 5], [0, 3, 5, 5]) and (low, high) == (-1, 1)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32, torch.int16])
@pytest.mark.parametrize("shape", [(2, 13, 9, 3), (1, 1, 1, 1), (3, 5, 40, 4)])
@pytest.mark.parametrize("size", [[7, 20], [1, 1], [13, 9], [40, 3]])
def test_compiled_loops_give_the_same(both_ways, dtype, shape, size):
    images = (torch.rand(shape, generator=torch.Generator().manual_seed(1)) * 255).to(dtype)
    wanted = torch.tensor(size)
    for corners, half in ((False, False), (True, False), (False, True)):
        for method in (resize.resize_bilinear, resize.resize_bicubic):
            both_ways(lambda m=method, c=corners, h=half: m(images, wanted, align_corners=c, half_pixel_centers=h))
            both_ways(
                lambda m=method, c=corners, h=half: m(
                    images.mT.mT[:, ::2], wanted, align_corners=c, half_pixel_centers=h
                )
            )
    for corners in (False, True):
        both_ways(lambda c=corners: resize.resize_area(images, wanted, align_corners=c))


@pytest.mark.parametrize(
    ("op", "options", "bits"),
    [
        ("ResizeBilinear", {}, [1101603987, 1113512812, 1115366546, 1107258806]),
        ("ResizeBilinear", {"half_pixel_centers": True}, [1103607517, 1114041781, 1116262985, 1106425560]),
        ("ResizeBicubic", {}, [1099734951, 1114932977, 1116403966, 1107975913]),
        ("ResizeBicubic", {"half_pixel_centers": True}, [1100558964, 1114971055, 1116727777, 1105073977]),
        ("ResizeArea", {}, [1103582552, 1113587713, 1116569600, 1105504940]),
    ],
)
def test_bits_are_those_of_tensorflow(sess, op, options, bits):
    pixels = (np.arange(12) * 37 % 101).astype(np.float32).reshape(1, 3, 4, 1)
    found = sess.run(getattr(tf.raw_ops, op)(images=fed(pixels), size=[2, 7], **options))
    assert found.reshape(-1)[[1, 4, 8, 12]].view(np.int32).tolist() == bits
