"""tf.contrib.rnn: sizes, names of variables, values of the cells that can be checked by hand, and wrappers."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import rnn

X = np.sin(np.arange(8.0, dtype="f")).reshape(2, 4)


def _run(cell, inputs=X, steps=2):
    """(outputs of each step, names of the variables, the variables' values)."""
    state = cell.zero_state(2, tf.float32)
    outputs = []
    for _ in range(steps):
        output, state = cell(tf.constant(inputs) if isinstance(inputs, np.ndarray) else inputs, state)
        outputs.append(output)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run([outputs, state, tf.global_variables()])
    return values[0], values[1], dict(zip([v.op.name for v in tf.global_variables()], values[2]))


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        (lambda: rnn.UGRNNCell(3), ["ugrnn_cell/kernel", "ugrnn_cell/bias"]),
        (lambda: rnn.NASCell(3), ["nas_cell/recurrent_kernel", "nas_cell/kernel"]),
        (lambda: rnn.IntersectionRNNCell(4), ["intersection_rnn_cell/kernel", "intersection_rnn_cell/bias"]),
        (lambda: rnn.SRUCell(3), ["sru_cell/kernel", "sru_cell/bias"]),
        (lambda: rnn.IndRNNCell(3), [f"ind_rnn_cell/{n}" for n in ("kernel_w", "kernel_u", "bias")]),
        (lambda: rnn.LSTMBlockCell(3, use_peephole=True),
         [f"lstm_cell/{n}" for n in ("kernel", "bias", "w_i_diag", "w_f_diag", "w_o_diag")]),
        (lambda: rnn.GRUBlockCell(3), [f"gru_cell/{n}" for n in ("w_ru", "b_ru", "w_c", "b_c")]),
        (lambda: rnn.GLSTMCell(4, number_of_groups=2),
         [f"glstm_cell/{n}" for n in ("group0/kernel", "group1/kernel", "bias_i", "bias_j", "bias_f", "bias_o")]),
        (lambda: rnn.CoupledInputForgetGateLSTMCell(3), ["coupled_input_forget_gate_lstm_cell/W_0", "coupled_input_forget_gate_lstm_cell/B"]),
        (lambda: rnn.AttentionCellWrapper(rnn.GRUCell(3), 2),
         ["attention_cell_wrapper/kernel", "attention_cell_wrapper/bias", "attention_cell_wrapper/gru_cell/gates/kernel",
          "attention_cell_wrapper/gru_cell/gates/bias", "attention_cell_wrapper/gru_cell/candidate/kernel",
          "attention_cell_wrapper/gru_cell/candidate/bias", "attention_cell_wrapper/attention/attn_w", "attention_cell_wrapper/attention/attn_v",
          "attention_cell_wrapper/attention/kernel", "attention_cell_wrapper/attention/bias",
          "attention_cell_wrapper/attn_output_projection/kernel", "attention_cell_wrapper/attn_output_projection/bias"]),
    ],
)  # fmt: skip
def test_variables_and_sizes(cell, names):
    with tf.Graph().as_default():
        cell = cell()
        outputs, _, found = _run(cell)
        assert list(found) == names
        assert outputs[1].shape == (2, cell.output_size)


def test_layer_norm_lstm_normalises():
    with tf.Graph().as_default():
        cell = rnn.LayerNormBasicLSTMCell(4)
        outputs, state, variables = _run(cell, steps=1)
    name = "layer_norm_basic_lstm_cell"
    assert [n.removeprefix(name + "/") for n in variables] == [
        "kernel", *(f"{gate}/{part}" for gate in ("input", "transform", "forget", "output", "state") for part in ("gamma", "beta")),
    ]  # fmt: skip
    np.testing.assert_allclose(state.c.mean(1), 0, atol=1e-6)
    np.testing.assert_allclose(state.c.var(1), 1, rtol=1e-4)


def test_sru_by_hand():
    with tf.Graph().as_default():
        outputs, state, variables = _run(rnn.SRUCell(4), steps=1)
    x_bar, f, r, x = np.split(X @ variables["sru_cell/kernel"], 4, 1)
    f, r = 1 / (1 + np.exp(-f)), 1 / (1 + np.exp(-r))
    c = (1 - f) * x_bar
    np.testing.assert_allclose(state, c, rtol=1e-4)
    np.testing.assert_allclose(outputs[0], r * np.tanh(c) + (1 - r) * x, rtol=1e-4)


def test_convolutional_lstm_keeps_space():
    with tf.Graph().as_default():
        cell = rnn.ConvLSTMCell(2, input_shape=[5, 5, 2], output_channels=3, kernel_shape=[3, 3])
        outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 4, 5, 5, 2]), dtype=tf.float32)
        assert outputs.shape.as_list() == [2, 4, 5, 5, 3] and state.c.shape.as_list() == [2, 5, 5, 3]
    with pytest.raises(ValueError, match="Invalid input_shape"):
        rnn.ConvLSTMCell(1, input_shape=[5, 5, 2], output_channels=3, kernel_shape=[3])


def test_fused_cells_agree():
    x = np.sin(np.arange(24.0, dtype="f")).reshape(4, 2, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        fused, plain = rnn.LSTMBlockFusedCell(2), rnn.FusedRNNCellAdaptor(rnn.BasicLSTMCell(2), use_dynamic_rnn=True)
        runs = [cell(tf.constant(x), dtype=tf.float32, sequence_length=[4, 2]) for cell in (fused, plain)]
        runs += [rnn.TimeReversedFusedRNN(cell)(tf.constant(x), dtype=tf.float32) for cell in (fused,)]
        session.run(tf.global_variables_initializer())
        for v, w in zip([v for v in tf.global_variables() if "basic" in v.name], fused.weights):
            v.load(session.run(w), session)
        (y1, s1), (y2, s2), (reversed_, _) = session.run(runs)
    np.testing.assert_allclose(y1, y2, rtol=1e-5)
    np.testing.assert_allclose(s1.c, s2.c, rtol=1e-5)
    assert reversed_.shape == (4, 2, 2) and not y1[2:, 1].any()


def test_highway_starts_as_a_mixture():
    with tf.Graph().as_default():
        cell = rnn.HighwayWrapper(rnn.BasicRNNCell(4))
        outputs, state, variables = _run(cell, steps=1)
    carry = 1 / (1 + np.exp(-(X @ variables["carry_w"] + 1)))
    np.testing.assert_allclose(outputs[0], X * carry + state * (1 - carry), rtol=1e-4)


def test_compiled_wrapper_marks_nodes():
    with tf.Graph().as_default():
        cell = rnn.CompiledWrapper(rnn.BasicRNNCell(3))
        output, _ = cell(tf.constant(X), cell.zero_state(2, tf.float32))
        assert output.op.get_attr("_XlaCompile") is True
        assert output.op.get_attr("_XlaScope") == b"jit_scope_0"
        assert not cell._cell.weights[0].op.get_attr("_XlaCompile")


def test_stacked_bidirectional_layers_read_both_directions():
    x = tf.ones
    with tf.Graph().as_default():
        cells = lambda: [rnn.GRUCell(2), rnn.GRUCell(3)]  # noqa: E731
        outputs, forwards, backwards = rnn.stack_bidirectional_dynamic_rnn(
            cells(), cells(), x([2, 4, 5]), dtype=tf.float32
        )
        assert outputs.shape.as_list() == [2, 4, 6]
        assert [s.shape.as_list() for s in forwards] == [[2, 2], [2, 3]]
        kernels = {v.op.name: v.shape.as_list() for v in tf.global_variables() if v.op.name.endswith("gates/kernel")}
        assert kernels["stack_bidirectional_rnn/cell_1/bidirectional_rnn/fw/gru_cell/gates/kernel"] == [4 + 3, 6]
        with pytest.raises(ValueError, match="same depth"):
            rnn.stack_bidirectional_dynamic_rnn(cells(), cells()[:1], x([2, 4, 5]), dtype=tf.float32)


def test_integers_are_refused():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="only supports floating point inputs"):
        tf.nn.dynamic_rnn(rnn.GRUCell(3), tf.ones([2, 3, 4], tf.int32), dtype=tf.int32)


def test_grid_lstm_names_its_state():
    with tf.Graph().as_default():
        settings = {"feature_size": 2, "frequency_skip": 2}
        cell = rnn.GridLSTMCell(3, num_frequency_blocks=[2], **settings)
        outputs, state, variables = _run(cell)
        assert cell.state_size._fields == tuple(f"state_f0{band}_b00_{part}" for band in range(2) for part in "cm")
        assert outputs[1].shape == (2, cell.output_size) == (2, 12)
        assert list(variables) == [f"grid_lstm_cell/{n}" for n in ("W_f_0_0", "B_f_0", "W_t_0_0", "B_t_0")]
        np.testing.assert_allclose(outputs[1][:, :3], state.state_f00_b00_m)
        with pytest.raises(ValueError, match="Invalid num_frequency_blocks"):
            wrong = rnn.GridLSTMCell(3, num_frequency_blocks=[3], **settings)
            wrong(tf.constant(X), wrong.zero_state(2, tf.float32))
        both = rnn.BidirectionalGridLSTMCell(3, num_frequency_blocks=[2], **settings)
        assert both.output_size == 24 and len(both.state_size) == 8


def test_a_sharded_kernel_is_joined_once():
    with tf.Graph().as_default() as graph:
        _run(rnn.CoupledInputForgetGateLSTMCell(4, num_unit_shards=2))
        assert len(tf.get_collection(tf.GraphKeys.CONCATENATED_VARIABLES)) == 1
        assert sum(op.name.endswith("W/concat") for op in graph.get_operations()) == 1


def test_time_may_be_more_precise_than_values():
    with tf.Graph().as_default():
        time = tf.constant([[0.1], [0.7]], tf.float64)
        outputs, _, _ = _run(rnn.PhasedLSTMCell(3), (time, tf.constant(X)))
        assert outputs[1].dtype == np.float32


@pytest.mark.parametrize(("name", "types"), [("hard_sigmoid", ["Mul"]), ("selu", ["Elu"]), ("relu", ["Relu"])])
def test_cells_know_the_activations_of_keras(name, types):
    with tf.Graph().as_default() as graph:
        _run(rnn.BasicRNNCell(3, activation=name))
        assert set(types) <= {op.type for op in graph.get_operations()}
    with pytest.raises(ValueError, match="relu6"):
        rnn.BasicRNNCell(3, activation="relu6")


def test_errors_of_cells_that_do_not_fit():
    with tf.Graph().as_default():
        inputs = tf.placeholder(tf.float32, [5, 2, None])
        with pytest.raises(TypeError, match="must be known"):
            tf.contrib.rnn.LSTMBlockFusedCell(4)(inputs, dtype=tf.float32)
        with pytest.raises(ValueError, match="to be set"):
            tf.contrib.rnn.LSTMBlockCell(4)(inputs[0], (tf.zeros([2, 4]), tf.zeros([2, 4])))
        wrapped = tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(3))  # Wrappers are cells of tf.nn's loops only.
        with pytest.raises(TypeError):
            tf.keras.layers.RNN(wrapped)(tf.zeros([2, 4, 3]))


def test_linear_of_old_programs_multiplies_before_it_makes_the_bias():
    from everflow.legacy.inner.contrib.rnn import _linear

    with tf.Graph().as_default() as g, tf.variable_scope("gates"):
        _linear([tf.ones([2, 3]), tf.ones([2, 4])], 5, True)
    names = [op.name for op in g.get_operations()]
    assert names[-8:] == [
        "gates/gates/concat/axis",
        "gates/gates/concat",
        "gates/gates/MatMul",
        "gates/bias/Initializer/Const",
        "gates/bias",
        "gates/bias/Assign",
        "gates/bias/read",
        "gates/gates/BiasAdd",
    ]


def test_highway_gates_start_as_the_variable_scope_says():
    cell = tf.contrib.rnn.HighwayWrapper(tf.nn.rnn_cell.GRUCell(5), couple_carry_transform_gates=False)
    with (
        tf.Graph().as_default(),
        tf.variable_scope("s", initializer=tf.constant_initializer(0.3)),
        tf.Session() as sess,
    ):
        cell(tf.ones([2, 5]), tf.zeros([2, 5]))
        sess.run(tf.global_variables_initializer())
        weights = [v for v in tf.global_variables() if v.op.name.endswith("_w")]
        assert [v.op.name for v in weights] == ["s/carry_w", "s/transform_w"]
        np.testing.assert_allclose(sess.run(weights), 0.3)
