"""Gradients of batch normalization in its fused forms, first and second."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.RandomState(7)


def data(*shape, low=-1.0, high=1.0):
    return RANDOM.uniform(low, high, shape)


@pytest.mark.parametrize("training", [True, False])
def test_fused_batch_norm_gradients(training):
    x, scale, offset = data(2, 3, 2, 3), data(3, low=0.5), data(3)
    mean, variance = ([], []) if training else (data(3), data(3, low=0.5))
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(tf.float32, v.shape) for v in (x, scale, offset)]
        given = (
            {} if training else {"mean": tf.constant(mean, tf.float32), "variance": tf.constant(variance, tf.float32)}
        )
        y, _, _ = tf.nn.fused_batch_norm(*inputs, is_training=training, **given)
        weights = np.random.RandomState(3).uniform(-1, 1, x.shape)
        fused = tf.gradients(tf.reduce_sum(y * weights), inputs)
        wide = [tf.cast(t, tf.float64) for t in inputs]
        if training:
            # Not tf.nn.moments, which keeps gradients from its mean: harmless in the first one only.
            mean = tf.reduce_mean(wide[0], [0, 1, 2])
            used = mean, tf.reduce_mean(tf.square(wide[0] - mean), [0, 1, 2])
        else:
            used = tf.constant(mean), tf.constant(variance)
        plain = tf.nn.batch_normalization(wide[0], *used, wide[2], wide[1], 0.001)
        reference = tf.gradients(tf.reduce_sum(plain * weights), inputs)
        # The second gradient, too.
        by = inputs[:2] if training else inputs[1:2]
        second = tf.gradients(tf.reduce_sum(fused[0] ** 3), by)
        second_reference = tf.gradients(tf.reduce_sum(reference[0] ** 3), by)
        feed = dict(zip(inputs, (x, scale, offset), strict=True))
        found = session.run([y, fused, second], feed)
        expected = session.run([plain, reference, second_reference], feed)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-5)
    for a, b in zip(found[1] + found[2], expected[1] + expected[2], strict=True):
        np.testing.assert_allclose(a, b, atol=2e-4, rtol=1e-3)


@pytest.mark.parametrize("training", [True, False])
def test_second_gradient_of_batch_normalization_takes_each_way_once(training):
    """The incoming gradient of a cube's normalization comes from the scale itself: with a scale s this is s**6 times a
    constant.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(np.random.RandomState(0).rand(2, 3, 3, 2), tf.float32)
        scale = tf.constant([1.0, 2.0])
        statistics = {} if training else {"mean": tf.constant([0.5, 0.4]), "variance": tf.ones([2])}
        y = tf.nn.fused_batch_norm(x, scale, tf.zeros([2]), is_training=training, **statistics)[0]
        slope = tf.gradients(tf.reduce_sum(y**3), x)[0]
        penalty = tf.reduce_sum(slope**2, [0, 1, 2])
        found, value = sess.run([tf.gradients(penalty, scale)[0], penalty])
        np.testing.assert_allclose(found, 6 * value / [1.0, 2.0], rtol=1e-3)
