"""Loops of which each half of the rows is a loop of its own: those that may be, and that they give what whole ones do."""

import numpy as np
import pytest

import everflow as tf
from everflow.native.values import const, input_value, join
from everflow.runtime.plan.native.halves import is_by_rows, is_shared
from everflow.runtime.plan.program import LOOP
from tests.runtime.plan.native.compared import RANDOM, constant

F = np.dtype(np.float32)
ROWS, WIDTH = 64, 128


def _session(level, threads=2):
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    config.graph_options.optimizer_options.global_jit_level = level
    return tf.Session(config=config)


def _split(fetches, rtol=1e-4):
    """For each loop whether it is two halves; what comes of it is what kernels give."""
    shown = []
    for level in (-1, 1):
        with _session(level) as sess:
            sess.run(tf.global_variables_initializer())
            shown.append([sess.run(fetches) for _ in range(3)])
            plan = sess._executor.prepare(tf.contrib.framework.nest.flatten(fetches), []).plan
    for one, other in zip(*map(tf.contrib.framework.nest.flatten, shown), strict=True):
        if one is not None:
            np.testing.assert_allclose(other, one, rtol, 1e-5)
    nodes = plan._native[1].top
    return [node.value.is_split for node in nodes if node.type == LOOP and node.value is not None]


@pytest.mark.parametrize("cell", ["BasicRNNCell", "GRUCell", "BasicLSTMCell", "LSTMCell"])
@pytest.mark.parametrize("lengths", [None, RANDOM.randint(1, 6, ROWS)])
def test_recurrent_networks_train(cell, lengths):
    made = getattr(tf.nn.rnn_cell, cell)(WIDTH)
    outputs, state = tf.nn.dynamic_rnn(made, constant(ROWS, 5, WIDTH), lengths, dtype=tf.float32)
    loss = tf.reduce_mean((outputs - 0.3) ** 2)
    assert _split([loss, outputs, state, tf.train.GradientDescentOptimizer(0.5).minimize(loss)]) == [True, True]


def test_more_rounds_than_there_is_room_for_at_first():
    weights = tf.get_variable("w", initializer=0.05 * RANDOM.randn(WIDTH, WIDTH).astype("f"))
    x = tf.while_loop(
        lambda i, x: i < 50, lambda i, x: (i + 1, tf.tanh(tf.matmul(x, weights))), [0, constant(128, WIDTH)]
    )
    assert _split([x[1], tf.gradients(x[1], weights)]) == [True, True]


def test_shapes_are_whole_again():
    x = _loop(lambda y, x, i: y + 1.0)
    with _session(1) as sess:
        sess.run(x)
        program = sess._executor.prepare([x], []).plan._native[1]
        sizes = {
            s.as_list()[0] for node in program.nodes() for s in node.output_shapes if s is not None and s.rank == 2
        }
    assert sizes == {ROWS, WIDTH}


def _loop(body, rows=ROWS):
    weights = tf.constant(0.1 * RANDOM.randn(WIDTH, 2 * WIDTH).astype("f"))

    def one(i, x):
        y = tf.matmul(x, weights)
        return i + 1, tf.tanh(body(y[:, :WIDTH], x, i))

    return tf.while_loop(lambda i, x: i < 3, one, [0, constant(rows, WIDTH)])[1]


BY_ROWS = {
    "a bias": lambda y, x, i: y + tf.constant(RANDOM.randn(WIDTH).astype("f")),
    "a number": lambda y, x, i: y * tf.cast(i, tf.float32),
    "softmax of rows": lambda y, x, i: tf.nn.softmax(y),
    "sums of rows": lambda y, x, i: y - tf.reduce_mean(x, 1, keepdims=True),
    "rows side by side": lambda y, x, i: tf.concat([y[:, 1:], x[:, :1]], 1),
    "another tensor of as many rows": lambda y, x, i: y + constant(ROWS, WIDTH),
    "a choice by rows": lambda y, x, i: tf.where(tf.constant(RANDOM.rand(ROWS) > 0.5), y, x),
    "rows of a table": lambda y, x, i: y + tf.gather(constant(7, WIDTH), tf.cast(tf.abs(x[:, 0]), tf.int32)),
}


@pytest.mark.parametrize("what", BY_ROWS)
def test_what_is_done_by_rows(what):
    assert _split(_loop(BY_ROWS[what])) == [True]


MIXED = {
    "a sum over rows": lambda y, x, i: y + tf.reduce_sum(x, 0),
    "softmax over rows": lambda y, x, i: tf.nn.softmax(y, 0),
    "rows in another order": lambda y, x, i: y + tf.reverse(x, [0]),
    "a product of rows with rows": lambda y, x, i: tf.matmul(tf.matmul(y, x, transpose_b=True), x) * 0.01,
    "the same turned round": lambda y, x, i: y + tf.tile(tf.transpose(x[:, :ROWS])[:, :1], [1, WIDTH]),
    "noise": lambda y, x, i: y + 0.0 * tf.random_uniform([ROWS, WIDTH]),
}


@pytest.mark.parametrize("what", MIXED)
def test_what_mixes_rows_stays_whole(what):
    assert _split(_loop(MIXED[what])) == [False]


@pytest.mark.parametrize("rows", [63, 32])
def test_odd_or_few_rows_stay_together(rows):
    assert _split(_loop(lambda y, x, i: y + 1.0, rows)) == [False]


def test_a_loop_without_an_end_is_stopped():
    weights = constant(WIDTH, WIDTH)
    endless = tf.while_loop(
        lambda i, x: i >= 0, lambda i, x: (0, tf.tanh(tf.matmul(x, weights))), [0, constant(64, WIDTH)]
    )
    with _session(1) as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(endless, options=tf.RunOptions(timeout_in_ms=300))


class TestExpressions:
    """Inputs 0 and 1 have rows of their own, input 2 is the same for all."""

    x, y, shared = input_value(0, F, (4, 3)), input_value(1, F, (4,)), input_value(2, F, (3,))

    def _is_by_rows(self, value):
        return is_by_rows(value, {0, 1})

    def test_rows(self):
        assert self._is_by_rows(self.x * 2.0 + self.shared.expand((4, 3)))
        assert self._is_by_rows(self.x - self.y.reshape((4, 1)).expand((4, 3)))
        assert self._is_by_rows(self.x.reduce("sum", [1]))
        assert self._is_by_rows(join([self.x, self.shared.expand((4, 3))], 1))
        assert self._is_by_rows(self.x.slice([0, 1], [4, 2]))
        assert self._is_by_rows(self.x.reshape((4, 3, 1)).permute((0, 2, 1)))

    def test_no_rows(self):
        assert not self._is_by_rows(self.x.reduce("sum", [0]))
        assert not self._is_by_rows(self.x.permute((1, 0)))
        assert not self._is_by_rows(self.x.slice([1, 0], [3, 3]))
        assert not self._is_by_rows(self.x.slice([3, 0], [4, 3], [-1, 1]))
        assert not self._is_by_rows(join([self.x, self.x], 0))
        assert not self._is_by_rows(self.x.reshape((2, 6)))
        assert not self._is_by_rows(self.x + self.y.slice([0], [3]).expand((4, 3)))
        assert not self._is_by_rows(input_value(2, F, (4, 3)) + self.x)

    def test_shared(self):
        assert is_shared(const(1.0, F).expand((4, 3)), {0})
        assert is_shared((self.shared + 1.0).expand((4, 3)) * 2.0, {0, 1})
        assert not is_shared(self.x * 2.0, {0})
        assert not is_shared(input_value(2, F, (4, 3)), {0})
        assert not is_shared(self.x.reduce("max", [0]).expand((4, 3)), {0})


def test_rows_of_a_variable_that_a_loop_reads_by_its_handle():
    table = tf.get_variable("table", initializer=RANDOM.randn(7, WIDTH).astype("f"), use_resource=True)

    def body(y, x, i):
        return y + tf.nn.embedding_lookup(table, tf.cast(tf.abs(tf.tanh(x[:, 0])) * 6.0, tf.int32))

    _split(_loop(body))
