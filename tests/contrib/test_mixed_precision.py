"""tf.contrib.mixed_precision: scaled losses, and steps left out."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import mixed_precision


def test_a_fixed_scale():
    with tf.Graph().as_default(), tf.Session() as sess:
        manager = mixed_precision.FixedLossScaleManager(128)
        assert sess.run(manager.get_loss_scale()) == 128.0 and manager.update_loss_scale(True).type == "NoOp"
        with pytest.raises(ValueError, match=r"0\.5"):
            mixed_precision.FixedLossScaleManager(0.5)
        with pytest.raises(TypeError, match="abstract"):
            mixed_precision.LossScaleManager()


def test_a_scale_that_follows_gradients():
    with tf.Graph().as_default(), tf.Session() as sess:
        manager = mixed_precision.ExponentialUpdateLossScaleManager(8.0, 2, 2, 2.0, 0.5)
        finite = tf.placeholder(tf.bool, [])
        update = manager.update_loss_scale(finite)
        sess.run(tf.global_variables_initializer())
        scales = []
        for step in [True, True, True, False, False, False, True, True, False, True, False]:
            sess.run(update, {finite: step})
            scales.append(float(sess.run(manager.get_loss_scale())))
        assert scales == [8.0, 16.0, 16.0, 16.0, 8.0, 8.0, 8.0, 16.0, 16.0, 16.0, 8.0]


def test_steps_with_other_gradients_are_left_out():
    with tf.Graph().as_default(), tf.Session() as sess:
        x, factor = tf.Variable(1.0), tf.placeholder(tf.float32, [])
        manager = mixed_precision.ExponentialUpdateLossScaleManager(8.0, 2, 2, 2.0, 0.5)
        optimizer = mixed_precision.LossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), manager)
        ((gradient, _),) = pairs = optimizer.compute_gradients(x * factor)
        train = optimizer.apply_gradients(pairs)
        sess.run(tf.global_variables_initializer())
        values = []
        for value in (1.0, 2.0, np.inf, np.nan, 1.0):
            sess.run(train, {factor: value})
            values.append(float(sess.run(x)))
        assert values == [0.0, -2.0, -2.0, -2.0, -3.0] and sess.run(gradient, {factor: 3.0}) == 3.0


def test_slices():
    with tf.Graph().as_default(), tf.Session() as sess:
        table = tf.Variable(tf.ones([3, 2]))
        manager = mixed_precision.FixedLossScaleManager(4.0)
        optimizer = mixed_precision.LossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), manager)
        train = optimizer.minimize(tf.reduce_sum(tf.gather(table, [1])))
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run(table).tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
