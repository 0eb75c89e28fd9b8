"""Whole recurrent cells in machine code, by themselves and in loops, beside their kernels."""

import numpy as np
import pytest

import everflow as tf
from tests.runtime.plan.native.compared import check

RANDOM = np.random.RandomState(0)
CELLS = {
    "lstm": lambda: tf.contrib.rnn.LSTMBlockCell(12),
    "peepholes": lambda: tf.contrib.rnn.LSTMBlockCell(12, use_peephole=True, cell_clip=0.05, forget_bias=0.5),
    "gru": lambda: tf.contrib.rnn.GRUBlockCellV2(12),
}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(cell, steps=5, rows=6):
    """The outputs of a network over time, and the gradients of its weights."""
    x = tf.get_variable("x", initializer=RANDOM.randn(rows, steps, 7).astype("f"))
    initializer = tf.random_uniform_initializer(-0.5, 0.5, seed=1)
    with tf.variable_scope("network", initializer=initializer):
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    return [outputs, *tf.gradients(tf.reduce_sum(outputs * outputs), tf.trainable_variables())]


@pytest.mark.parametrize("name", sorted(CELLS))
def test_a_loop_over_a_cell_is_machine_code_both_ways(name):
    check(run(CELLS[name]()), loops=2, rtol=2e-4)


@pytest.mark.parametrize("name", sorted(CELLS))
def test_a_cell_by_itself(name):
    x = tf.get_variable("x", initializer=RANDOM.randn(6, 7).astype("f"))
    cell = CELLS[name]()
    with tf.variable_scope("network", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1)):
        output, _ = cell(x * 2.0, cell.zero_state(6, tf.float32))
    check([output, *tf.gradients(output * output, tf.trainable_variables())], loops=0, rtol=2e-4)
