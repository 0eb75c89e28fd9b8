"""Cells that programs take from inside contrib.rnn: chaos-free, minimal, with normalised weights or gates."""

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401


def _step(cell, inputs, **values):
    """One step from a state of 0.5 with the given values of variables, by the last parts of their names."""
    with tf.Graph().as_default(), tf.Session() as session:
        state = tf.nest.map_structure(lambda size: tf.fill([len(inputs), size], 0.5), cell.state_size)
        output, _ = cell(tf.constant(inputs, tf.float32), state)
        variables = tf.global_variables()
        for variable in variables:
            session.run(variable.assign(values[variable.op.name.partition("_cell/")[2].replace("/", "_")]))
        return session.run(output), [v.op.name for v in variables]


def _numbers(*shapes):
    random = np.random.RandomState(0)
    return [random.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_a_chaos_free_cell():
    from tensorflow.contrib.rnn.python.ops.rnn_cell import CFNCell

    x, w, u, b = _numbers([2, 3], [3, 12], [4, 8], [8])
    output, _ = _step(CFNCell(4), x, kernel=w, recurrent_kernel=u, bias=b)
    gates = _sigmoid(np.full([2, 4], 0.5) @ u + x @ w[:, :8] + b)
    expected = gates[:, :4] * np.tanh(0.5) + (1 - gates[:, 4:]) * np.tanh(x @ w[:, 8:])
    np.testing.assert_allclose(output, expected, rtol=1e-5)


def test_a_minimal_cell():
    from tensorflow.contrib.rnn.python.ops.rnn_cell import MinimalRNNCell

    x, w, b = _numbers([2, 3], [11, 4], [4])
    output, _ = _step(MinimalRNNCell(4), x, kernel=w, bias=b)
    seen = np.tanh(x @ w[:3])
    gate = _sigmoid(np.concatenate([seen, np.full([2, 4], 0.5)], 1) @ w[3:] + b)
    np.testing.assert_allclose(output, gate * 0.5 + (1 - gate) * seen, rtol=1e-5)


@pytest.mark.parametrize("norm", [False, True])
def test_an_lstm_with_normalised_weights(norm):
    from tensorflow.contrib.rnn.python.ops.rnn_cell import WeightNormLSTMCell

    x, w, g0, g1, b = _numbers([2, 3], [7, 16], [16], [16], [16])
    values = {"wn_lstm_cell_kernel": w, "wn_lstm_cell_norm_0": g0, "wn_lstm_cell_norm_1": g1, "wn_lstm_cell_bias": b}
    output, names = _step(WeightNormLSTMCell(4, norm=norm), x, **values)
    assert names[0] == "wn_lstm_cell/wn_lstm_cell/kernel" and len(names) == (4 if norm else 2)
    if norm:
        w = np.concatenate([part / np.linalg.norm(part, axis=0) * g for part, g in ((w[:3], g0), (w[3:], g1))])
    i, j, f, o = np.split(np.concatenate([x, np.full([2, 4], 0.5)], 1) @ w + b, 4, 1)
    c = 0.5 * _sigmoid(f + 1) + _sigmoid(i) * np.tanh(j)
    np.testing.assert_allclose(output, _sigmoid(o) * np.tanh(c), rtol=1e-4)


def test_an_lstm_with_everything_has_tensorflows_variables():
    from tensorflow.contrib.rnn.python.ops.rnn_cell import LayerNormLSTMCell, WeightNormLSTMCell

    options = {"use_peepholes": True, "cell_clip": 0.2, "num_proj": 3, "proj_clip": 0.1}
    with tf.Graph().as_default():
        for cell in (LayerNormLSTMCell(4, layer_norm=True, **options), WeightNormLSTMCell(4, **options)):
            output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
            assert output.shape.as_list() == [2, 3] and state.c.shape.as_list() == [2, 4]
        names = [v.op.name for v in tf.global_variables()]
    normed = [f"{gate}/{part}" for gate in ("input", "transform", "forget", "output") for part in ("gamma", "beta")]
    peepholes = ["w_f_diag", "w_i_diag", "w_o_diag"]
    first = ["kernel", "bias", *normed, *peepholes, "state/gamma", "state/beta", "projection/kernel"]
    second = ["kernel", "norm_0", "norm_1", "bias", *peepholes, "projection/kernel", "projection/norm_0"]
    expected = [f"layer_norm_lstm_cell/{n}" for n in first] + [f"wn_lstm_cell/wn_lstm_cell/{n}" for n in second]
    assert names == expected
