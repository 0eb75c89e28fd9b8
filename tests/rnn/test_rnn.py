"""tf.nn's recurrent networks: unrolled and in a loop they agree; states are saved; partitioned weights are joined once."""

import copy

import numpy as np
import pytest

import everflow as tf

rnn = tf.nn.rnn_cell
X = np.sin(np.arange(24.0, dtype="f")).reshape(2, 4, 3)


def test_unrolled_equals_loop_with_lengths():
    with tf.Graph().as_default(), tf.Session() as session:
        cell = rnn.LSTMCell(2, use_peepholes=True)
        looped, state = tf.nn.dynamic_rnn(cell, tf.constant(X), [4, 2], dtype=tf.float32)
        with tf.variable_scope("", reuse=True):
            unrolled, last = tf.nn.static_rnn(
                cell, tf.unstack(tf.constant(X), axis=1), dtype=tf.float32, sequence_length=[4, 2]
            )
        session.run(tf.global_variables_initializer())
        looped, unrolled, state, last = session.run([looped, tf.stack(unrolled, 1), state, last])
    np.testing.assert_allclose(looped, unrolled, rtol=1e-5)
    np.testing.assert_allclose(state.c, last.c, rtol=1e-5)
    assert not looped[1, 2:].any()


def test_backwards_starts_at_each_sequences_end():
    with tf.Graph().as_default(), tf.Session() as session:
        cells = rnn.GRUCell(2), rnn.GRUCell(2)
        (_, backwards), (_, state) = tf.nn.bidirectional_dynamic_rnn(*cells, tf.constant(X), [4, 2], dtype=tf.float32)
        session.run(tf.global_variables_initializer())
        backwards, state = session.run([backwards, state])
    np.testing.assert_allclose(backwards[:, 0], state, rtol=1e-6)
    assert not backwards[1, 2:].any()


def test_saved_state_comes_before_outputs():
    saved = {}

    class Saver:
        def state(self, name):
            return tf.ones([2, 2])

        def save_state(self, name, value):
            saved[name] = tf.identity(value, name="saved_" + name)
            return saved[name]

    with tf.Graph().as_default():
        steps = tf.unstack(tf.constant(X), axis=1)
        outputs, state = tf.nn.static_state_saving_rnn(rnn.BasicLSTMCell(2), steps, Saver(), ("c", "h"))
        names = {"saved_c", "saved_h"}
        assert {op.name for op in outputs[-1].op.control_inputs} == names
        assert {op.name for op in state.c.op.control_inputs} == names


def test_partitioned_weights_are_joined_outside_the_loop():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        with tf.variable_scope("split", partitioner=tf.fixed_size_partitioner(2)):
            outputs, _ = tf.nn.dynamic_rnn(rnn.LSTMCell(2), tf.constant(X), dtype=tf.float32)
        whole = graph.get_operation_by_name("split/rnn/lstm_cell/kernel/ConcatPartitions/concat")
        assert not any(tensor.op.type == "Enter" for tensor in whole.inputs)
        session.run(tf.global_variables_initializer())
        assert session.run(outputs).shape == (2, 4, 2)


def test_a_copied_cell_has_inner_cells_of_its_own():
    with tf.Graph().as_default():
        cell = tf.nn.rnn_cell.MultiRNNCell(
            [tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(2)), tf.nn.rnn_cell.GRUCell(2)]
        )
        for scope, each in (("encoder", copy.deepcopy(cell)), ("decoder", cell)):
            with tf.variable_scope(scope):
                tf.nn.static_rnn(each, [tf.ones([1, 2])], dtype=tf.float32)
        assert len({v.op.name for v in tf.global_variables()}) == 16


def test_cells_of_keras_with_a_single_state():
    with tf.Graph().as_default(), tf.Session() as session:
        cell = tf.keras.layers.GRUCell(2)
        looped, state = tf.nn.dynamic_rnn(cell, X, [4, 2], dtype=tf.float32)
        unrolled, _ = tf.nn.static_rnn(cell, tf.unstack(tf.constant(X), axis=1), dtype=tf.float32)
        session.run(tf.global_variables_initializer())
        looped, state, unrolled = session.run([looped, state, tf.stack(unrolled, axis=1)])
    np.testing.assert_allclose(looped[0], unrolled[0], rtol=1e-5)
    np.testing.assert_allclose(state[1], unrolled[1, 1], rtol=1e-5)


def test_layers_that_a_keras_model_holds_make_resource_variables():
    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first = tf.layers.Dense(2)
            self.more = []
            self.more.append(tf.layers.Dense(1))

        def call(self, x):
            return self.more[0](self.first(x))

    with tf.Graph().as_default():
        Model()(tf.ones([1, 3]))
        assert [v.op.type for v in tf.global_variables()] == ["VarHandleOp"] * 4


def test_states_may_be_arrays():
    with tf.Graph().as_default():
        x, zeros = np.ones((2, 3), "float32"), np.zeros((2, 2), "float32")
        output, state = rnn.GRUCell(2)(x, zeros)
        assert output is state and output.shape.as_list() == [2, 2]
        with pytest.raises(ValueError, match="floating point"):
            rnn.GRUCell(2)(x, zeros.astype("int32"))
