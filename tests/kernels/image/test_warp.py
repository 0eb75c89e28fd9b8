"""Warped images, points between pixels, connected regions and matched pairs."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed

IMAGE = np.arange(1, 13, dtype=np.float32).reshape(1, 3, 4, 1)
SAME = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def warped(image, transform, size=(3, 4), interpolation="NEAREST"):
    return tf.raw_ops.ImageProjectiveTransformV2(
        images=fed(image), transforms=fed([transform]), output_shape=fed(list(size)), interpolation=interpolation
    )


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
def test_moves_by_whole_pixels(sess, dtype, interpolation):
    x = IMAGE.astype(dtype)
    moved = sess.run(warped(x, [1.0, 0.0, 1.0, 0.0, 1.0, -1.0, 0.0, 0.0], interpolation=interpolation))
    wanted = np.zeros_like(x)
    wanted[:, 1:, :3] = x[:, :2, 1:]
    assert moved.dtype == dtype
    np.testing.assert_array_equal(moved, wanted)


def test_between_pixels(sess):
    half = sess.run(warped(IMAGE, [1.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0], interpolation="BILINEAR"))
    assert half[0, 0, :, 0].tolist() == [1.5, 2.5, 3.5, 2.0]  # beyond the edge is zero
    assert sess.run(warped(IMAGE, SAME, size=(2, 6)))[0, :, :, 0].tolist() == [[1, 2, 3, 4, 0, 0], [5, 6, 7, 8, 0, 0]]


@pytest.mark.parametrize(
    ("image", "transforms", "size"),
    [(IMAGE[0], [SAME], [3, 4]), (IMAGE, [SAME[:7]], [3, 4]), (IMAGE, [SAME, SAME], [3, 4]), (IMAGE, [SAME], [0, 4])],
)
def test_warps_that_can_not_be(sess, image, transforms, size):
    found = tf.raw_ops.ImageProjectiveTransformV2(
        images=fed(image), transforms=fed(transforms), output_shape=fed(size), interpolation="NEAREST"
    )
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(found)


def test_points_and_their_gradients(sess):
    points = [[[0.0, 0.0], [1.5, 0.0], [0.0, 1.5], [3.5, 0.0], [-1.0, 0.0], [9.0, 9.0]]]
    found = sess.run(tf.raw_ops.Resampler(data=fed(IMAGE), warp=fed(points)))
    np.testing.assert_allclose(found[0, :, 0], [1, 2.5, 7, 2, 0, 0])
    image, inside = tf.constant(IMAGE), tf.constant([[[0.3, 0.4], [2.6, 1.2], [1.7, 0.9]]])
    made = tf.contrib.resampler.resampler(image, inside)
    assert tf.test.compute_gradient_error(image, [1, 3, 4, 1], made, [1, 3, 1]) < 1e-3
    assert tf.test.compute_gradient_error(inside, [1, 3, 2], made, [1, 3, 1]) < 2e-2


def test_points_that_can_not_be(sess):
    with pytest.raises(tf.errors.UnimplementedError):
        sess.run(tf.raw_ops.Resampler(data=fed(IMAGE[0]), warp=fed(np.zeros([1, 2], np.float32))))
    with pytest.raises(tf.errors.UnimplementedError):
        sess.run(tf.raw_ops.Resampler(data=fed(IMAGE), warp=fed(np.zeros([1, 3], np.float32))))
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.raw_ops.Resampler(data=fed(IMAGE), warp=fed(np.zeros([2, 2], np.float32))))


@pytest.mark.parametrize("dtype", ["int32", "bool", "string", "float32", "uint8"])
def test_regions_are_numbered(sess, dtype):
    image = np.array([[[1, 1, 0, 1], [0, 1, 0, 1], [1, 0, 0, 1]]])
    given = np.where(image, "a", "") if dtype == "string" else image.astype(dtype)
    found = sess.run(tf.contrib.image.connected_components(tf.constant(given, dtype)))
    assert found.tolist() == [[[1, 1, 0, 2], [0, 1, 0, 2], [3, 0, 0, 2]]]


def test_equal_neighbours_only(sess):
    found = sess.run(tf.contrib.image.connected_components(tf.constant([[[1, 2], [1, 1]], [[3, 3], [0, 3]]])))
    assert found.tolist() == [[[1, 2], [1, 1]], [[3, 3], [0, 3]]]


@pytest.mark.parametrize(
    ("valid", "top", "rows", "columns"),
    [(-1.0, -1, [1, 0, -1], [1, 0]), (1.0, -1, [1, -1, -1], [-1, 0]), (3.0, 1, [1, -1, -1], [-1, 0])],
)
def test_the_nearest_pairs_first(sess, valid, top, rows, columns):
    distances = [[0.5, 0.1], [0.3, 0.2], [0.9, 0.8]]
    by_row, by_column = sess.run(
        tf.raw_ops.BipartiteMatch(distance_mat=fed(distances), num_valid_rows=fed([valid]), top_k=top)
    )
    assert by_row.tolist() == rows and by_column.tolist() == columns
