"""Steps of training as callables, and what runs them."""

import pytest

import everflow as tf

distribute = tf.contrib.distribute


def test_steps_make_a_loss_smaller():
    with tf.Graph().as_default(), tf.Session() as session:
        strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        with strategy.scope():
            w = tf.get_variable("w", initializer=0.0)

            def loss_fn(replica, x):
                return tf.reduce_mean(tf.square(w - x))

            step = distribute.StandardSingleLossStep(
                lambda: tf.data.Dataset.from_tensors([3.0]).repeat(),
                loss_fn,
                tf.train.GradientDescentOptimizer(0.25),
                strategy,
                iterations_per_step=2,
            )
            assert step.distribution is strategy
            begin = step.initialize()
            monitor = distribute.Monitor(step, session)
        session.run([tf.global_variables_initializer(), begin])
        monitor.run_steps(10)
        assert session.run(w) == pytest.approx(3.0, abs=1e-3)


def test_a_step_of_ones_own_run_at_once():
    made = []

    class Counting(distribute.Step):
        def __call__(self):
            made.append(len(made))

    step = Counting(tf.distribute.get_strategy())
    assert step.initialize() == []
    distribute.Monitor(step).run_steps(3)
    assert made == [0, 1, 2]


def test_updates_on_one_device():
    with tf.Graph().as_default(), distribute.UpdateContext("/cpu:0"):
        assert tf.distribute.get_replica_context() is None
