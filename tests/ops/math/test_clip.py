"""Clipping by value and by norms."""

import numpy as np
import pytest

import everflow as tf


def test_by_value(sess):
    np.testing.assert_array_equal(sess.run(tf.clip_by_value([-1.0, 0.5, 7.0], 0.0, 1.0)), [0, 0.5, 1])
    slices = tf.clip_by_value(tf.IndexedSlices(tf.constant([[5.0]]), tf.constant([2])), 0.0, 1.0)
    assert isinstance(slices, tf.IndexedSlices)
    with pytest.raises(ValueError, match="not compatible"):
        tf.clip_by_value([1.0], tf.zeros([2, 1]), 1.0)


def test_by_norm(sess):
    x = tf.constant([[3.0, 4.0], [0.3, 0.4]])
    np.testing.assert_allclose(sess.run(tf.clip_by_norm(x, 1.0, axes=1)), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
    np.testing.assert_allclose(sess.run(tf.clip_by_norm(x, 100.0)), [[3, 4], [0.3, 0.4]], rtol=1e-6)
    np.testing.assert_allclose(sess.run(tf.clip_by_average_norm([3.0, 4.0], 1.0)), [1.2, 1.6], rtol=1e-6)


def test_gradient_of_a_zero_tensor_by_norm_is_one(sess):
    zero = tf.zeros([2])
    np.testing.assert_array_equal(sess.run(tf.gradients(tf.clip_by_norm(zero, 1.0), zero)[0]), [1, 1])


def test_by_global_norm(sess):
    a, b = tf.constant([3.0]), tf.constant([[0.0, 4.0]])
    assert sess.run(tf.global_norm([a, None, b])) == 5
    clipped, norm = tf.clip_by_global_norm([a, None, b], 2.5)
    assert clipped[1] is None
    np.testing.assert_allclose(sess.run([clipped[0], clipped[2][0]])[0], [1.5])
    assert sess.run(norm) == 5
    assert [t.op.name for t in clipped if t is not None] == [
        f"clip_by_global_norm/clip_by_global_norm/_{i}" for i in (0, 2)
    ]
    with pytest.raises(TypeError, match="sequence"):
        tf.global_norm(a)


def test_an_infinite_norm_makes_everything_nan(sess):
    clipped, _ = tf.clip_by_global_norm([tf.constant([np.inf, 1.0]), tf.constant([2.0])], 1.0)
    assert all(np.isnan(value).all() for value in sess.run(clipped))
