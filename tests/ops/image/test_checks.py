"""What image functions check of their arguments, while building or when run."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.image import checks


def test_conditions_hold_now_or_are_asserted(sess):
    assert checks.require(True, "message") == []
    with pytest.raises(ValueError, match="message"):
        checks.require(False, "message")
    holds = tf.placeholder(tf.bool, [])
    [check] = checks.require(holds, "message")
    sess.run(check, {holds: True})
    with pytest.raises(tf.errors.InvalidArgumentError, match="message"):
        sess.run(check, {holds: False})


@pytest.mark.parametrize("shape", [[3], [2, 3], [0, 3, 3], [2, 3, 4, 0]])
def test_shapes_that_are_no_image(shape):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        checks.at_least_3d_checks(tf.zeros(shape))


def test_what_is_known_is_not_checked_again(sess):
    assert checks.at_least_3d_checks(tf.zeros([2, 3, 3])) == []
    free = tf.placeholder(tf.float32, [None, 3, 3])
    with pytest.raises(ValueError):
        checks.at_least_3d_checks(free)
    assert len(checks.at_least_3d_checks(free, require_static=False)) == 2


@pytest.mark.parametrize("shape", [(2, 3), (0, 3, 3), (3, 3, 0)])
def test_what_only_the_run_tells(sess, shape):
    image = tf.placeholder(tf.float32)
    checked = checks.checked_3d(image)
    assert sess.run(checked, {image: np.ones([2, 3, 1])}).shape == (2, 3, 1)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(checked, {image: np.ones(shape)})


def test_sizes_are_numbers_where_they_are_known(sess):
    assert checks.dimensions(tf.zeros([2, 3, 4]), rank=3) == [2, 3, 4]
    image = tf.placeholder(tf.float32, [None, 3, None])
    height, width, channels = checks.dimensions(image, rank=3)
    assert width == 3
    assert sess.run([height, channels], {image: np.ones([7, 3, 5])}) == [7, 5]
    with pytest.raises(ValueError):
        checks.dimensions(tf.placeholder(tf.float32, [None, 3]), rank=3)


def test_one_image_as_a_batch():
    with tf.Graph().as_default():
        batch, had_one = checks.as_batch(tf.zeros([2, 3, 4]))
        assert batch.shape.as_list() == [1, 2, 3, 4] and not had_one
        whole = tf.zeros([5, 2, 3, 4])
        assert checks.as_batch(whole) == (whole, True)
        assert checks.as_batch(tf.placeholder(tf.float32))[0].shape.as_list() == [None] * 4
        with pytest.raises(ValueError):
            checks.as_batch(tf.zeros([2, 3]))
