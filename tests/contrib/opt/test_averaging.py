"""Optimizers that average over workers: one worker, and two that take turns in one process."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import opt

pytestmark = pytest.mark.usefixtures("own_graph")


def _trained(optimizer, loss, hook, steps):
    global_step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(loss, global_step=global_step)
    with tf.train.MonitoredTrainingSession(hooks=[hook()]) as session:
        for _ in range(steps):
            session.run(train)
        found = {v.op.name: session.run(v) for v in (*tf.global_variables(), *tf.local_variables())}
    return found


def test_elastic_averaging():
    getter = opt.ElasticAverageCustomGetter("")
    with tf.variable_scope("", custom_getter=getter):
        v = tf.get_variable("v", initializer=[1.0, 2.0])
    optimizer = opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(0.5), 1, getter, communication_period=2)
    assert tf.trainable_variables() == [v]
    found = _trained(optimizer, tf.reduce_sum(v * v), lambda: optimizer.make_session_run_hook(True, 0), steps=2)
    # v: 0 after the first step (the penalty is 0 there), then pulled half of 0.9 towards the center, then both meet by
    # 0.45.
    np.testing.assert_allclose(found["v"], [0.45 + 0.55 * 0.45, 0.9 + 1.1 * 0.45], rtol=1e-5)
    np.testing.assert_allclose(found["global_center_variable/v"], [1 - 0.55 * 0.45, 2 - 1.1 * 0.45], rtol=1e-5)
    assert found["global_step"] == 1 and found["local_step"] == 2


def test_centers_are_saved_under_the_names_of_variables(tmp_path):
    getter = opt.ElasticAverageCustomGetter("")
    with tf.variable_scope("", custom_getter=getter):
        tf.get_variable("v", initializer=[1.0, 2.0])
    optimizer = opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(0.5), 2, getter)
    saver = optimizer.swapping_saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "model"))
    assert [name for name, _ in tf.train.list_variables(path)] == ["v"]


def test_model_averaging():
    getter = opt.ModelAverageCustomGetter("")
    with tf.variable_scope("", custom_getter=getter):
        v = tf.get_variable("v", initializer=[1.0, 2.0])
    optimizer = opt.ModelAverageOptimizer(tf.train.GradientDescentOptimizer(0.25), 1, True, getter, interval_steps=2)
    found = _trained(optimizer, tf.reduce_sum(v * v), optimizer.make_session_run_hook, steps=3)
    # The hook's op, as in TensorFlow, counts as a step of the interval: averages are taken at the first and third
    # steps.
    np.testing.assert_allclose(found["global_center_variable/v"], [0.125, 0.25])
    np.testing.assert_allclose(found["v"], [0.125, 0.25])
    assert found["global_step"] == 2


def test_accumulated_gradient_normalization():
    getter = opt.AGNCustomGetter("")
    with tf.variable_scope("", custom_getter=getter):
        v = tf.get_variable("v", initializer=[1.0, 2.0])
    optimizer = opt.AGNOptimizer(tf.train.MomentumOptimizer(0.5, 0.0), 1, getter, communication_period=2)
    found = _trained(
        optimizer, tf.reduce_sum([0.5, 1.0] * v * v), lambda: optimizer.make_session_run_hook(True, 0), steps=3
    )
    # Alone, v goes to half (and to 0) by gradients [1, 4] and [0.5, 0]; by their mean the center goes to [0.625, 1],
    # and so does v.
    np.testing.assert_allclose(found["global_center_variable/v"], [0.625, 1.0])
    np.testing.assert_allclose(found["v"], [0.3125, 0.0])
    np.testing.assert_allclose(found["grad_variable/v"], [0.625, 2.0])
    assert found["global_step"] == 1 and found["local_step"] == 3
    assert {"v/Momentum", "local_step"} < {
        x.op.name for x in tf.local_variables()
    }  # what a worker's optimizer keeps is its own
    assert "global_center_variable/v/Momentum" in {x.op.name for x in tf.global_variables()}
