"""Projective transforms, warps and regions of contrib.image, and the resampler: by hand, by undoing, and gradients."""

import numpy as np
import pytest
from scipy import ndimage

import everflow as tf
from everflow.contrib import image as contrib_image
from everflow.contrib import resampler as contrib_resampler

RANDOM = np.random.default_rng(12)
IMAGE = RANDOM.normal(size=(1, 6, 7, 2)).astype(np.float32)


def evaluate(build, *values):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


@pytest.mark.parametrize("move", [(0, 0), (1, 2), (-2, 1), (9, 0)])
def test_translation(move):
    dx, dy = move
    found = evaluate(lambda x: contrib_image.translate(x, [dx, dy]), IMAGE)
    np.testing.assert_allclose(found[0], ndimage.shift(IMAGE[0], (dy, dx, 0), order=0), atol=1e-6)


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
def test_rotation_by_quarters(turns, interpolation):
    square = IMAGE[:, :, :6]
    found = evaluate(lambda x: contrib_image.rotate(x, turns * np.pi / 2, interpolation), square)
    np.testing.assert_allclose(found[0], np.rot90(square[0], turns), atol=1e-4)


def test_transforms_compose_and_invert():
    with tf.Graph().as_default(), tf.Session() as sess:
        first = contrib_image.angles_to_projective_transforms([0.3], 6.0, 7.0)
        back = contrib_image.angles_to_projective_transforms([-0.3], 6.0, 7.0)
        found = sess.run(contrib_image.compose_transforms(first, back))
        np.testing.assert_allclose(found, [[1, 0, 0, 0, 1, 0, 0, 0]], atol=1e-5)
        matrix = sess.run(contrib_image.flat_transforms_to_matrices(first))
        np.testing.assert_allclose(
            sess.run(contrib_image.matrices_to_flat_transforms(matrix)), sess.run(first), rtol=1e-5
        )


@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
def test_gradient_of_a_transform(interpolation):
    # The gradient is the image of the inverse transform: exact for moves by whole pixels.
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(IMAGE)
        y = contrib_image.translate(x, [1.0, 2.0], interpolation)
        assert tf.test.compute_gradient_error(x, IMAGE.shape, y, IMAGE.shape, x_init_value=IMAGE, delta=1e-2) < 1e-3


def test_warp_by_a_flow():
    flow = np.zeros((1, 6, 7, 2), np.float32)
    flow[..., 0], flow[..., 1] = 1, -2
    found = evaluate(contrib_image.dense_image_warp, IMAGE, flow)
    np.testing.assert_allclose(found[:, 1:, :5], IMAGE[:, :5, 2:], atol=1e-5)
    # Beyond the edge its nearest pixel is read.
    np.testing.assert_allclose(found[:, 0, :5], IMAGE[:, 0, 2:], atol=1e-5)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_splines_go_through_their_points(order):
    points, values = RANDOM.normal(size=(1, 6, 2)), RANDOM.normal(size=(1, 6, 3))
    found = evaluate(lambda p, v: contrib_image.interpolate_spline(p, v, p, order), points, values)
    np.testing.assert_allclose(found, values, atol=1e-3)


def test_sparse_warp_takes_points_to_points():
    points = np.array([[[2.0, 2.0], [3.0, 5.0], [4.0, 1.0]]], np.float32)
    warped, flow = evaluate(
        lambda i, p: contrib_image.sparse_image_warp(i, p, p + [[[1.0, 0.0]]], num_boundary_points=1), IMAGE, points
    )
    assert warped.shape == IMAGE.shape
    np.testing.assert_allclose([flow[0, int(y) + 1, int(x)] for y, x in points[0]], [[1, 0]] * 3, atol=1e-3)


def test_connected_components():
    picture = np.array([[1, 1, 0, 2], [0, 1, 0, 2], [3, 0, 0, 2]])
    found = evaluate(contrib_image.connected_components, picture)
    assert found.tolist() == [[1, 1, 0, 2], [0, 1, 0, 2], [3, 0, 0, 2]]


def test_bipartite_match():
    distances = np.array([[0.5, 0.1], [0.2, 0.9]], np.float32)
    rows, columns = evaluate(lambda d: contrib_image.bipartite_match(d, 2), distances)
    assert rows.tolist() == [1, 0] and columns.tolist() == [1, 0]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_resampler(kind):
    data = RANDOM.normal(size=(2, 5, 6, 3)).astype(kind)
    warp = RANDOM.uniform(0.5, 3.5, size=(2, 4, 2)).astype(kind)
    found = evaluate(contrib_resampler.resampler, data, warp)
    for batch in range(2):
        for channel in range(3):
            wanted = ndimage.map_coordinates(data[batch, ..., channel].astype(np.float64), warp[batch].T[::-1], order=1)
            np.testing.assert_allclose(found[batch, :, channel], wanted, atol=1e-5)


def test_gradient_of_the_resampler():
    data, warp = RANDOM.normal(size=(1, 4, 4, 2)), np.array([[[0.4, 1.3], [2.2, 0.6]]])
    with tf.Graph().as_default(), tf.Session():
        x, w = tf.constant(data), tf.constant(warp)
        y = contrib_resampler.resampler(x, w)
        for tensor, value in ((x, data), (w, warp)):
            assert (
                tf.test.compute_gradient_error(tensor, value.shape, y, [1, 2, 2], x_init_value=value, delta=1e-5) < 1e-6
            )


def test_bad_shapes():
    with tf.Graph().as_default():
        with pytest.raises(TypeError, match="Images should have rank between 2 and 4"):
            contrib_image.rotate(tf.ones([3]), 1.0)
        with pytest.raises(TypeError, match="Angles should have rank 0 or 1"):
            contrib_image.rotate(tf.ones([3, 3]), tf.ones([2, 2]))
