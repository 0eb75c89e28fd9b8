"""Whole recurrent cells as one op: shapes, and gradients against differences."""

import numpy as np
import pytest

import everflow as tf

R = tf.raw_ops
RANDOM = np.random.RandomState(3)


def drawn(*shape):
    return tf.constant(RANDOM.uniform(-1, 1, shape), tf.float32)


def lstm_cell(batch=2, features=3, units=4):
    inputs = [drawn(batch, features), drawn(batch, units), drawn(batch, units), drawn(features + units, 4 * units)]
    inputs += [drawn(units), drawn(units), drawn(units), drawn(4 * units)]
    names = ("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")
    return inputs, R.LSTMBlockCell(**dict(zip(names, inputs)), use_peephole=True, cell_clip=-1.0)


def gru_cell(batch=2, features=3, units=4):
    inputs = [drawn(batch, features), drawn(batch, units), drawn(features + units, 2 * units)]
    inputs += [drawn(features + units, units), drawn(2 * units), drawn(units)]
    return inputs, R.GRUBlockCell(**dict(zip(("x", "h_prev", "w_ru", "w_c", "b_ru", "b_c"), inputs)))


def lstm(steps=3, batch=2, features=3, units=4):
    inputs = [drawn(steps, batch, features), drawn(batch, units), drawn(batch, units)]
    inputs += [drawn(features + units, 4 * units), drawn(units), drawn(units), drawn(units), drawn(4 * units)]
    names = ("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")
    made = R.BlockLSTM(
        seq_len_max=tf.constant(steps, tf.int64), **dict(zip(names, inputs)), use_peephole=True, cell_clip=-1.0
    )
    return inputs, made


@pytest.mark.parametrize(
    ("build", "shape", "count"), [(lstm_cell, [2, 4], 7), (gru_cell, [2, 4], 4), (lstm, [3, 2, 4], 7)]
)
def test_shapes(build, shape, count):
    with tf.Graph().as_default():
        assert [t.shape.as_list() for t in build()[1]] == [shape] * count


@pytest.mark.parametrize("build", [lstm_cell, gru_cell, lstm])
def test_gradients_are_slopes(sess, build):
    inputs, made = build()
    loss = tf.reduce_sum(tf.sin(made.h) if hasattr(made, "h") else tf.sin(made[-1]))
    values = sess.run(inputs)
    grads = sess.run(tf.gradients(loss, inputs))
    for i, grad in enumerate(grads):
        step = RANDOM.uniform(-1, 1, grad.shape).astype(np.float32) * 1e-2
        ends = [
            sess.run(loss, dict(zip(inputs, [v + sign * step if j == i else v for j, v in enumerate(values)])))
            for sign in (1, -1)
        ]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2, np.sum(grad * step), rtol=2e-2, atol=2e-4)


def test_gradients_need_known_sizes():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, None])
        inputs = [x, drawn(2, 4), drawn(2, 4), drawn(7, 16), drawn(4), drawn(4), drawn(4), drawn(16)]
        made = R.LSTMBlockCell(**dict(zip(("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"), inputs)))
        with pytest.raises(ValueError):
            tf.gradients(made.h, x)


def test_beams_are_followed_back(sess):
    steps = np.array([[[1, 2]], [[3, 4]], [[5, 6]]], np.int32)
    parents = np.array([[[0, 0]], [[1, 0]], [[1, 0]]], np.int32)
    made = R.GatherTree(step_ids=steps, parent_ids=parents, max_sequence_lengths=[3], end_token=9)
    assert made.shape.as_list() == [3, 1, 2]
    assert sess.run(made)[:, 0, 0].tolist() == [1, 4, 5]
    with pytest.raises(ValueError):
        R.GatherTree(step_ids=steps, parent_ids=parents, max_sequence_lengths=[3, 3], end_token=9)
