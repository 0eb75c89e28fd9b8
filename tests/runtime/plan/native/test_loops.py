"""Loops as machine code: they give what kernels give, and leave to the plan what they were not made for."""

import numpy as np
import pytest

import everflow as tf
from everflow.runtime.plan.program import LOOP
from tests.runtime.plan.native.compared import RANDOM, check, constant, native_loops, session


def test_numbers_and_tensors_go_round():
    x = constant(3, 4)
    check(tf.while_loop(lambda i, *_: i < 7, lambda i, x, y: (i + 1, y * 0.5, tf.tanh(x) + 1.0), [0, x, x]), 1)


@pytest.mark.parametrize("rounds", [0, 1, 2, 100])
def test_any_number_of_rounds_with_gradients(rounds):
    """A hundred are more than there is room for at first on the stacks."""
    v = tf.get_variable("v", initializer=RANDOM.randn(5).astype("f"))
    x = tf.while_loop(lambda i, x: i < rounds, lambda i, x: (i + 1, tf.sin(x) + 0.1 * v), [0, v * 1.0])[1]
    check([x, tf.gradients(x, v)], 2)


@pytest.mark.parametrize("cell", ["BasicRNNCell", "GRUCell", "BasicLSTMCell", "LSTMCell"])
@pytest.mark.parametrize("lengths", [None, [2, 6, 1, 6]])
def test_recurrent_networks_train(cell, lengths):
    made = getattr(tf.nn.rnn_cell, cell)(5)
    outputs, _ = tf.nn.dynamic_rnn(made, constant(4, 6, 3), lengths, dtype=tf.float32)
    loss = tf.reduce_mean((outputs - 0.3) ** 2)
    check([loss, tf.train.GradientDescentOptimizer(0.5).minimize(loss)], 2)


def test_a_network_over_batches_of_any_size_trains_both_ways_as_machine_code():
    """Sizes come with the feeds, and tell those of all that loops put into arrays and take out again."""
    x = tf.placeholder(tf.float32, [None, 6, 3])
    h = x
    for layer in ("first", "second"):
        h, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(5), h, dtype=tf.float32, scope=layer)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_mean(h[:, -1] ** 2))
    with session() as sess:
        sess.run(tf.global_variables_initializer())
        shaped = sess._executor.prepare([train], [x]).plan
        for _ in range(1000):
            sess.run(train, {x: np.ones([4, 6, 3])})
            if shaped.plans:
                break
        (plan,) = shaped.plans.values()
        loops = [node for node in plan._native[1].top if node.type == LOOP]
        assert [node.value is not None for node in loops] == [True] * 4


def test_loops_and_branches_within():
    x = constant(4)

    def inner(x):
        return tf.while_loop(lambda j, x: j < 3, lambda j, x: (j + 1, x * 1.5 - 0.2), [0, x])[1]

    def body(i, x):
        return i + 1, tf.cond(tf.reduce_sum(x) > 4.0, lambda: x * 0.1, lambda: inner(x) + tf.cast(i, tf.float32))

    check(tf.while_loop(lambda i, x: i < 9, body, [0, x]), 1)


def test_a_value_of_another_shape_than_the_graph_says():
    x = tf.placeholder(tf.float32)
    y = tf.identity(x)
    y.set_shape([3])
    looped = tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z + y), [0, tf.zeros([3])], [None, None])[1]
    with session() as sess:
        np.testing.assert_array_equal(sess.run(looped, {x: [1.0, 2.0, 3.0]}), [3, 6, 9])
        np.testing.assert_array_equal(sess.run(looped, {x: 2.0}), [6, 6, 6])


@pytest.mark.parametrize("what", ["a truncated draw", "text", "a variable that is written"])
def test_what_stays_with_the_plan(what):
    v = tf.get_variable("v", initializer=1.0)
    bodies = {
        "a truncated draw": lambda i, x: (i + 1, x + tf.truncated_normal([])),
        "text": lambda i, x: (i + 1, x + tf.string_to_number(tf.as_string(x))),
        "a variable that is written": lambda i, x: (i + 1, x + v.assign_add(1.0)),
    }
    x = tf.while_loop(lambda i, x: i < 3, bodies[what], [0, 1.0], parallel_iterations=1)[1]
    with session() as sess:
        sess.run(v.initializer)
        assert native_loops(sess, x) in ([False], [])
        assert np.isfinite(sess.run(x))


def test_a_time_limit_ends_a_loop_that_would_not():
    endless = tf.while_loop(lambda i, x: tf.abs(x) < 100.0, lambda i, x: (i + 1, tf.sin(x)), [0, 1.0])
    with session() as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(endless, options=tf.RunOptions(timeout_in_ms=300))
    with session() as sess:
        make = sess.make_callable(endless, accept_options=True)
        with pytest.raises(tf.errors.DeadlineExceededError):
            make(options=tf.RunOptions(timeout_in_ms=300))
