"""Loops that read variables, copy, check and draw."""

import numpy as np
import pytest

import everflow as tf
from tests.runtime.plan.native.compared import check, constant, session


@pytest.mark.parametrize("draw", [tf.random_uniform, tf.random_normal])
@pytest.mark.parametrize("shape", [[], [7], [8, 3]])
def test_draws_have_the_bits_that_kernels_give_and_go_on(draw, shape):
    """Also after the loop, and in later runs."""
    x = tf.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 0.5 + draw(shape, seed=3)), [0, tf.zeros(shape)])[1]
    check(x, 1, rtol=0)


def test_variables_are_read_as_they_are_when_the_loop_runs():
    v = tf.get_variable("v", initializer=np.ones([2, 3], "f"), use_resource=True)
    x = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0 + v.read_value()), [0, tf.zeros([2, 3])])[1]
    with tf.control_dependencies([x]):
        after = tf.assign_add(v, x).op
    check([x, after], 1)


def test_a_loop_over_a_variable_that_has_no_value():
    """It is an error, but not for a loop that makes no round."""
    v, rounds = tf.get_variable("v", initializer=np.ones(3, "f"), use_resource=True), tf.placeholder(tf.int32, [])
    x = tf.while_loop(lambda i, x: i < rounds, lambda i, x: (i + 1, x + v.read_value()), [0, tf.zeros(3)])[1]
    with session() as sess:
        assert sess.run(x, {rounds: 0}).tolist() == [0, 0, 0]
        with pytest.raises(tf.errors.FailedPreconditionError, match="v"):
            sess.run(x, {rounds: 2})
        sess.run(v.initializer)
        assert sess.run(x, {rounds: 2}).tolist() == [2, 2, 2]


@pytest.mark.parametrize("layer", ["LSTM", pytest.param("GRU", marks=pytest.mark.slow), "SimpleRNN"])
def test_keras_layers_train(layer):
    outputs = getattr(tf.keras.layers, layer)(5)(constant(4, 6, 3))
    loss = tf.reduce_mean((outputs - 0.3) ** 2)
    check([loss, tf.train.GradientDescentOptimizer(0.5).minimize(loss)], 2)


def test_dropout_in_a_recurrent_network():
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(4), output_keep_prob=0.5, seed=2)
    outputs, _ = tf.nn.dynamic_rnn(cell, constant(3, 5, 2), dtype=tf.float32)
    loss = tf.reduce_mean(outputs**2)
    check([outputs, tf.train.GradientDescentOptimizer(0.1).minimize(loss)], 2)


def test_values_side_by_side_and_rows_of_a_table():
    table, indices = constant(5, 3), tf.constant([[1, 4], [0, 2]])

    def body(i, x):
        rows = tf.gather(table, (indices + i) % 5)
        return i + 1, tf.concat([rows, x[:, :, :2], tf.ones([2, 2, 1])], 2)[:, :, :4]

    check(tf.while_loop(lambda i, x: i < 6, body, [0, constant(2, 2, 4)]), 1)


def test_a_row_that_a_table_has_not():
    x = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + tf.gather([1.0, 2.0], i)), [0, 0.0])[1]
    with session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
        sess.run(x)


@pytest.mark.parametrize("limit, is_fine", [(10, True), (2, False)])
def test_what_is_asserted(limit, is_fine):
    def body(i, x):
        with tf.control_dependencies([tf.Assert(i < limit, ["too far", i])]):
            return i + 1, x + 1.0

    x = tf.while_loop(lambda i, x: i < 4, body, [0, constant(3)])[1]
    if is_fine:
        check(x, 1)
    else:
        with session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="too far"):
            sess.run(x)
