"""tf.contrib.grid_rnn, with the numbers that TensorFlow gives."""

import numpy as np
import pytest

import everflow as tf

grid_rnn = tf.contrib.grid_rnn
nest = tf.contrib.framework.nest


def stepped(cell, size=3):
    """(names of variables, outputs, states) of one step from states of 0.3, with weights of 0.1."""
    with tf.Graph().as_default(), tf.variable_scope("root", initializer=tf.constant_initializer(0.1)):
        made = cell()
        state = nest.map_structure(lambda zeros: zeros + 0.3, made.zero_state(2, tf.float32))
        inputs = tf.constant(np.arange(2 * size).reshape(2, size) * 0.1, tf.float32)
        outputs, states = made(inputs, state)
        names = [variable.op.name.removeprefix("root/") for variable in tf.global_variables()]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return names, *session.run([nest.flatten(outputs), nest.flatten(states)])


def first(values):
    return [round(float(value[0, 0]), 4) for value in values]


def test_depth_and_time():
    names, outputs, states = stepped(lambda: grid_rnn.Grid2BasicLSTMCell(2))
    assert names == [
        "Grid2BasicLSTMCell/project_m_0",
        "Grid2BasicLSTMCell/project_c_0",
        "Grid2BasicLSTMCell/recurrent/cell_1/basic_lstm_cell/kernel",
        "Grid2BasicLSTMCell/recurrent/cell_1/basic_lstm_cell/bias",
        "Grid2BasicLSTMCell/recurrent/cell_0/basic_lstm_cell/kernel",
        "Grid2BasicLSTMCell/recurrent/cell_0/basic_lstm_cell/bias",
    ]
    assert first(outputs) == [0.0195]
    assert first(states) == [0.0384, 0.0195, 0.2572, 0.13]


def test_a_depth_without_recurrence():
    names, outputs, states = stepped(lambda: grid_rnn.Grid2BasicRNNCell(2, non_recurrent_fn=tf.nn.relu))
    assert "Grid2BasicRNNCell/non_recurrent/cell_0/fully_connected/weights" in names
    assert first(outputs) == [0.0192]
    assert first(states) == [0.0659]


def test_several_inputs_and_outputs():
    def cell():
        return grid_rnn.GridRNNCell(
            2, 3, input_dims=[0, 2], output_dims=[1, 2], priority_dims=[2], cell_fn=tf.nn.rnn_cell.BasicRNNCell
        )

    _, outputs, states = stepped(cell, size=4)
    assert first(outputs) == [0.0719, 0.0387]
    assert first(states) == [0.0719, 0.0719, 0.0387]


def test_flat_states_hold_the_same_numbers():
    _, outputs, states = stepped(lambda: grid_rnn.Grid2LSTMCell(2))
    _, flat_outputs, flat_states = stepped(
        lambda: grid_rnn.Grid2LSTMCell(2, state_is_tuple=False, output_is_tuple=False)
    )
    np.testing.assert_array_equal(np.concatenate(outputs, 1), flat_outputs[0])
    np.testing.assert_array_equal(np.concatenate(states, 1), flat_states[0])


def test_over_time():
    with tf.Graph().as_default():
        (outputs,), states = tf.nn.dynamic_rnn(
            grid_rnn.Grid3LSTMCell(3, tied=True), tf.zeros([2, 4, 5]), dtype=tf.float32
        )
        assert outputs.shape.as_list() == [2, 4, 3]
        assert len(states) == 3
        assert [v.op.name for v in tf.global_variables()][2:] == [
            "rnn/Grid3LSTMCell/recurrent/lstm_cell/kernel", "rnn/Grid3LSTMCell/recurrent/lstm_cell/bias",
        ]  # fmt: skip


def test_dimensions_that_are_not_there():
    with pytest.raises(ValueError, match="Must be in"):
        grid_rnn.GridRNNCell(2, num_dims=2, input_dims=5)
    with pytest.raises(ValueError, match="dims must be"):
        grid_rnn.GridRNNCell(2, num_dims=0)
