"""Stereograms: the C library's numbers, and dots that repeat where the two eyes see one point."""

import ctypes
import ctypes.util

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.image import stereograms

OPTIONS = {"output_image_shape": [120, 40, 1], "output_data_window": [90, 24], "convergence_dots_size": 0}


def hidden(depths, **options):
    return tf.raw_ops.SingleImageRandomDotStereograms(depth_values=np.float32(depths), **{**OPTIONS, **options})


def test_numbers_are_those_of_the_c_library():
    library = ctypes.CDLL(ctypes.util.find_library("c"))
    library.srand(1)
    wanted = [library.rand() for _ in range(500)]
    stream = stereograms._CRandom()
    assert np.concatenate([stream.take(1), stream.take(2), stream.take(497)]).tolist() == wanted


def test_a_flat_scene_repeats_at_one_distance(sess):
    image = sess.run(hidden(np.zeros([4, 4]), normalize=False, eye_separation=0.5, dots_per_inch=72))
    assert image.shape == (40, 120, 1) and image.dtype == np.uint8
    distance = int(stereograms._separation(0.0, 0.3333, 36))
    np.testing.assert_array_equal(image[:, distance:], image[:, :-distance])
    assert len(np.unique(image)) > 2


def test_nearer_points_repeat_sooner():
    far, near = (float(stereograms._separation(depth, 0.3333, 180.0)) for depth in (0.0, 1.0))
    assert near < far


@pytest.mark.parametrize(("colors", "shape", "values"), [(2, (40, 120, 1), {0, 255}), (300, (40, 120, 3), None)])
def test_colours(sess, colors, shape, values):
    image = sess.run(hidden(np.eye(4), number_colors=colors))
    assert image.shape == shape
    assert values is None or set(np.unique(image).tolist()) == values


def test_two_dots_to_look_at_first(sess):
    image = sess.run(hidden(np.zeros([2, 2]), convergence_dots_size=4, eye_separation=0.5, dots_per_inch=72))
    black = (image[..., 0] == 0).astype(int)
    windows = sum(black[i : 37 + i, j : 117 + j] for i in range(4) for j in range(4))
    assert (windows == 16).sum() >= 2


def test_depths_are_a_matrix(sess):
    depths = tf.placeholder_with_default(np.zeros([2, 2, 1], np.float32), None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a matrix"):
        sess.run(tf.raw_ops.SingleImageRandomDotStereograms(depth_values=depths))
