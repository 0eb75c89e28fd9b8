"""Loops that copy, check and draw."""

import pytest

import everflow as tf
from tests.runtime.plan.native.compared import check, constant, session


@pytest.mark.parametrize("draw", [tf.random_uniform, tf.random_normal])
@pytest.mark.parametrize("shape", [[], [7], [8, 3]])
def test_draws_have_the_bits_that_kernels_give_and_go_on(draw, shape):
    """Also after the loop, and in later runs."""
    x = tf.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 0.5 + draw(shape, seed=3)), [0, tf.zeros(shape)])[1]
    check(x, 1, rtol=0)


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
