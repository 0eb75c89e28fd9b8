"""Resizing with every method, coordinate convention and shape, and its gradients."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.default_rng(2)
METHOD = tf.image.ResizeMethod
PICTURE = np.array([[1.0, 5, 2], [7, 3, 9]], np.float32).reshape(1, 2, 3, 1)

# method, align_corners, PICTURE at 3 x 4
KNOWN = [
    (METHOD.BILINEAR, False, [[1, 4, 3.5, 2], [5, 4, 5.16667, 6.66667], [7, 4, 6, 9]]),
    (METHOD.BILINEAR, True, [[1, 3.66667, 4, 2], [4, 4, 4.5, 5.5], [7, 4.33333, 5, 9]]),
    (METHOD.NEAREST_NEIGHBOR, False, [[1, 1, 5, 2], [1, 1, 5, 2], [7, 7, 3, 9]]),
    (METHOD.NEAREST_NEIGHBOR, True, [[1, 5, 5, 2], [7, 3, 3, 9], [7, 3, 3, 9]]),
    (
        METHOD.BICUBIC,
        False,
        [[1, 4.41016, 3.875, 1.68359], [5.11323, 3.63089, 5.07469, 7.13308], [7.66667, 3.14714, 5.81944, 10.51606]],
    ),
    (METHOD.BICUBIC, True, [[1, 4.07548, 4.50106, 2], [4, 3.83333, 4.47169, 5.5], [7, 3.59118, 4.44233, 9]]),
    (METHOD.AREA, False, [[1, 3.66667, 4, 2], [4, 4, 4.5, 5.5], [7, 4.33333, 5, 9]]),
    (METHOD.AREA, True, [[1, 3, 5, 2], [1, 3, 5, 2], [7, 5, 3, 9]]),
]

# method, antialias, PICTURE at 3 x 4, where pixels have their centers at halves
KNOWN_AT_CENTERS = [
    (
        "lanczos3",
        True,
        [
            [-0.1925, 3.75112, 4.2369, 0.72587],
            [4.03379, 3.79054, 4.62249, 5.6066],
            [8.26008, 3.82995, 5.00808, 10.48734],
        ],
    ),
    (
        "lanczos5",
        False,
        [
            [-0.42804, 3.8052, 4.32998, 0.43652],
            [4.06838, 3.73037, 4.65675, 5.59457],
            [8.5648, 3.65554, 4.98352, 10.75262],
        ],
    ),
    (
        "gaussian",
        False,
        [[1.65382, 3.53581, 3.91081, 2.638], [4, 4.02768, 4.55586, 5.38621], [6.34618, 4.51954, 5.20092, 8.13442]],
    ),
    (
        "mitchellcubic",
        True,
        [[0.97861, 3.56774, 3.98126, 1.96478], [4, 3.94846, 4.57358, 5.49078], [7.02139, 4.32919, 5.1659, 9.01678]],
    ),
    ("bilinear", False, [[1, 3.5, 3.875, 2], [4, 4, 4.5625, 5.5], [7, 4.5, 5.25, 9]]),
    ("bilinear", True, [[1, 3.5, 3.875, 2], [4, 4, 4.5625, 5.5], [7, 4.5, 5.25, 9]]),
    (
        "bicubic",
        False,
        [[0.36818, 3.69413, 4.10832, 1.35108], [4, 3.89476, 4.55987, 5.57836], [7.63182, 4.09539, 5.01142, 9.80563]],
    ),
    (
        "bicubic",
        True,
        [[0.36882, 3.69417, 4.1084, 1.35183], [4, 3.89476, 4.55987, 5.57836], [7.63119, 4.09536, 5.01134, 9.80489]],
    ),
    ("nearest", False, [[1, 5, 5, 2], [7, 3, 3, 9], [7, 3, 3, 9]]),
    ("area", False, [[1, 3.66667, 4, 2], [4, 4, 4.5, 5.5], [7, 4.33333, 5, 9]]),
]


def evaluate(build, *values):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


@pytest.mark.parametrize(("method", "align", "wanted"), KNOWN)
def test_values(method, align, wanted):
    found = evaluate(lambda x: tf.image.resize_images(x, [3, 4], method, align_corners=align), PICTURE)
    np.testing.assert_allclose(found[0, ..., 0], wanted, atol=1e-4)


@pytest.mark.parametrize(("method", "antialias", "wanted"), KNOWN_AT_CENTERS)
def test_values_of_version_two(method, antialias, wanted):
    found = evaluate(lambda x: tf.compat.v2.image.resize(x, [3, 4], method, antialias=antialias), PICTURE)
    np.testing.assert_allclose(found[0, ..., 0], wanted, atol=1e-4)


@pytest.mark.parametrize("method", [METHOD.BILINEAR, METHOD.NEAREST_NEIGHBOR, METHOD.BICUBIC, METHOD.AREA])
@pytest.mark.parametrize("align", [True, False])
def test_the_same_size_changes_nothing(method, align):
    x = RANDOM.integers(0, 255, size=(2, 3, 5, 2)).astype(np.uint8)
    found = evaluate(lambda t: tf.image.resize_images(t, [3, 5], method, align_corners=align), x)
    np.testing.assert_array_equal(found, x)
    assert found.dtype == np.uint8  # The node itself is left out: no method has made floats of it.


@pytest.mark.parametrize("method", [METHOD.BILINEAR, METHOD.BICUBIC, METHOD.AREA])
def test_constant_images_stay_constant(method):
    x = np.full((1, 5, 4, 2), 3.25, np.float32)
    for size in ([2, 3], [9, 7], [1, 1], [5, 8]):
        np.testing.assert_allclose(
            evaluate(lambda t, size=size: tf.image.resize_images(t, size, method), x), 3.25, rtol=1e-6
        )


@pytest.mark.parametrize("kind", ["uint8", "int8", "int16", "int32", "int64", "float16", "float64"])
def test_types(kind):
    x = PICTURE.astype(kind)
    assert evaluate(lambda t: tf.image.resize_bilinear(t, [3, 4]), x).dtype == np.float32
    assert evaluate(lambda t: tf.image.resize_nearest_neighbor(t, [3, 4]), x).dtype == x.dtype


@pytest.mark.parametrize("method", ["bilinear", "bicubic"])
@pytest.mark.parametrize("convention", [{}, {"align_corners": True}, {"half_pixel_centers": True}], ids=str)
@pytest.mark.parametrize("size", [[2, 3], [6, 7]], ids=str)
def test_gradient(method, convention, size):
    value = RANDOM.normal(size=(1, 4, 5, 2)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(value)
        y = getattr(tf.image, f"resize_{method}")(x, size, **convention)
        assert (
            tf.test.compute_gradient_error(x, value.shape, y, y.shape.as_list(), x_init_value=value, delta=1e-2) < 1e-3
        )


@pytest.mark.parametrize("kind", ["lanczos3", "gaussian", "triangle", "box", "keyscubic"])
def test_gradient_of_scale_and_translate(kind):
    value = RANDOM.normal(size=(1, 4, 5, 1)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(value)
        y = tf.raw_ops.ScaleAndTranslate(
            images=x, size=[3, 6], scale=[0.7, 1.3], translation=[0.2, -0.4], kernel_type=kind
        )
        assert tf.test.compute_gradient_error(x, value.shape, y, [1, 3, 6, 1], x_init_value=value, delta=1e-2) < 1e-3


def test_aspect_ratio_and_rank():
    with tf.Graph().as_default(), tf.Session() as sess:
        image = tf.placeholder(tf.float32, [4, 8, 3])
        kept = tf.image.resize_images(image, [6, 6], preserve_aspect_ratio=True)
        assert kept.shape.as_list() == [3, 6, 3]
        unknown = tf.placeholder(tf.float32, [None, None, None, 3])
        size = tf.image.resize_images(unknown, [6, 6], preserve_aspect_ratio=True)
        assert sess.run(size, {unknown: np.ones((2, 4, 8, 3))}).shape == (2, 3, 6, 3)
        assert tf.image.resize_images(unknown, [6, 5]).shape.as_list() == [None, 6, 5, 3]


def test_bad_arguments():
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(ValueError, match="'images' contains no shape."):
            tf.image.resize_images(tf.placeholder(tf.float32), [2, 2])
        with pytest.raises(ValueError, match="'images' must have either 3 or 4 dimensions."):
            tf.image.resize_images(tf.ones([3, 3]), [2, 2])
        with pytest.raises(ValueError, match=r"must be a vector \[height, width\]"):
            tf.image.resize_images(tf.ones([3, 3, 1]), [2, 2, 2])
        with pytest.raises(ValueError, match="Resize method is not implemented."):
            tf.image.resize_images(tf.ones([3, 3, 1]), [2, 2], method=9)
        size = tf.placeholder(tf.int32, [2])
        with pytest.raises(tf.errors.InvalidArgumentError, match="output dimensions must be positive"):
            sess.run(tf.image.resize_bilinear(tf.ones([1, 3, 3, 1]), size), {size: [0, 2]})
        with pytest.raises(ValueError, match="Shape must be rank 4"):
            tf.image.resize_bilinear(tf.ones([3, 3, 1]), [2, 2])


@pytest.mark.parametrize("target", [(3, 9), (8, 2), (5, 6)])
def test_pads_and_crops(target):
    x = RANDOM.normal(size=(5, 6, 2)).astype(np.float32)
    found = evaluate(lambda t: tf.image.resize_image_with_crop_or_pad(t, *target), x)
    assert found.shape == (*target, 2)
    top, left = (max(0, (a - b) // 2) for a, b in zip(target, x.shape))
    height, width = (min(a, b) for a, b in zip(target, x.shape))
    rows, columns = ((max(0, b - a) // 2) for a, b in zip(target, x.shape))
    wanted = np.zeros_like(found)
    wanted[top : top + height, left : left + width] = x[rows : rows + height, columns : columns + width]
    np.testing.assert_array_equal(found, wanted)


def test_resize_with_pad_keeps_the_ratio():
    x = np.ones((4, 8, 1), np.float32)
    found = evaluate(lambda t: tf.image.resize_image_with_pad(t, 6, 6), x)[..., 0]
    assert found.shape == (6, 6)
    assert (found.sum(1) > 0).tolist() == [False, True, True, True, False, False]
