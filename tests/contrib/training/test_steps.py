"""Training ops of tf.contrib.training and slim.learning, and resampling."""

import numpy as np
import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_a_train_op_updates_counts_and_gives_the_loss():
    w = tf.get_variable("w", initializer=[3.0, 4.0])
    counter = tf.get_variable("counter", initializer=0, trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(counter, 1))
    train_op = tf.contrib.training.create_train_op(
        tf.reduce_sum(w * w) / 2,
        tf.train.GradientDescentOptimizer(1.0),
        transform_grads_fn=tf.contrib.training.clip_gradient_norms_fn(1.0),
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(train_op) == 12.5
        np.testing.assert_allclose(sess.run(w), [2.4, 3.2], rtol=1e-5)
        assert sess.run([counter, tf.train.get_global_step()]) == [1, 1]


def test_slim_multiplies_and_checks():
    w = tf.get_variable("w", initializer=[1.0])
    x = tf.placeholder(tf.float32, [])
    train_op = tf.contrib.slim.learning.create_train_op(
        tf.reduce_sum(w * x), tf.train.GradientDescentOptimizer(0.5), gradient_multipliers={"w": 2.0}
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train_op, {x: 0.25})
        np.testing.assert_allclose(sess.run(w), [0.75])
        with pytest.raises(tf.errors.InvalidArgumentError, match="inf or nan"):
            sess.run(train_op, {x: np.inf})


def test_resampling_repeats_rows():
    rows = tf.constant([1.0, 2.0, 3.0])
    (kept,) = tf.contrib.training.resample_at_rate([rows], tf.constant([0.0, 100.0, 0.0]), seed=1)
    with tf.Session() as sess:
        values = sess.run(kept)
    assert set(values.tolist()) == {2.0}
    assert 60 < len(values) < 140


def test_placement_by_load():
    strategy = tf.contrib.training.GreedyLoadBalancingStrategy(2, tf.contrib.training.byte_size_load_fn)
    variables = [tf.get_variable(name, [size]) for name, size in (("a", 10), ("b", 4), ("c", 5), ("d", 1))]
    assert [strategy(v.op) for v in variables] == [0, 1, 1, 1]
