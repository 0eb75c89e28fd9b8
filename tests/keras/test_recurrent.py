"""Recurrent layers: steps that take several tensors, masks of dropout, what computed a layer."""

import collections

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.keras.layers.recurrent_cells import DropoutRNNCellMixin

layers = tf.keras.layers
Pair = collections.namedtuple("Pair", ["vector", "matrix"])


class AddsPairs(layers.Layer):
    """A cell that adds up a vector and a matrix."""

    state_size = Pair(3, tf.TensorShape([2, 4]))
    output_size = (3, tf.TensorShape([2, 4]))

    def build(self, input_shape):
        self.seen = tf.nest.map_structure(lambda shape: shape.as_list(), input_shape)
        self.built = True

    def call(self, inputs, states):
        new = Pair(inputs[0] + states[0], inputs[1] + states[1])
        return tuple(new), new


@pytest.mark.parametrize("structure", [Pair, lambda *pair: pair])
def test_steps_of_several_tensors(structure):
    with tf.Graph().as_default():
        inputs = [layers.Input((5, 3)), layers.Input((5, 2, 4))]
        layer = layers.RNN(AddsPairs(), return_state=True)
        output, *states = layer(structure(*inputs))
        assert list(layer.cell.seen) == [[None, 3], [None, 2, 4]]
        assert [spec.ndim for spec in tf.nest.flatten(layer.input_spec)] == [3, 4]
        assert [one.shape.as_list() for one in (*output, *states)] == [[None, 3], [None, 2, 4]] * 2
        shapes = layer.compute_output_shape(structure(tf.TensorShape([6, 5, 3]), tf.TensorShape([6, 5, 2, 4])))
        assert [one.as_list() for one in shapes] == [[6, 3], [6, 2, 4]] * 2
        results = tf.keras.Model(inputs, list(output)).predict([np.ones((2, 5, 3)), np.ones((2, 5, 2, 4))])
    assert all((one == 5).all() for one in results)


def test_steps_of_several_tensors_begin_with_states_of_layers():
    with tf.Graph().as_default():
        inputs, states = (
            Pair(layers.Input((5, 3)), layers.Input((5, 2, 4))),
            Pair(layers.Input((3,)), layers.Input((2, 4))),
        )
        output = layers.RNN(AddsPairs(), return_sequences=True)(inputs, initial_state=states)
        model = tf.keras.Model([*inputs, *states], list(output))
        results = model.predict([np.ones((2, 5, 3)), np.ones((2, 5, 2, 4)), np.ones((2, 3)), np.ones((2, 2, 4))])
    assert [one.shape for one in results] == [(2, 5, 3), (2, 5, 2, 4)]
    assert results[0][0, :, 0].tolist() == [2, 3, 4, 5, 6]


@pytest.mark.parametrize(("eagerly", "kept"), [(False, "_dropout_mask"), (True, "_eager_dropout_mask")])
def test_masks_of_dropout_are_kept_for_a_sequence(eagerly, kept):
    with eager_mode() if eagerly else tf.Graph().as_default():
        cell = layers.LSTMCell(2, dropout=0.5)
        assert isinstance(cell, DropoutRNNCellMixin) and getattr(cell, kept) is None
        ones = tf.ones((2, 3))
        masks = cell.get_dropout_mask_for_cell(ones, True, count=4)
        assert len(masks) == 4 and getattr(cell, kept) is masks
        assert cell.get_dropout_mask_for_cell(ones, True, count=4) is masks
        cell.reset_dropout_mask()
        assert getattr(cell, kept) is None
        assert cell.get_recurrent_dropout_mask_for_cell(ones, True) is None


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_a_layer_says_what_computed_it(kind):
    make = getattr(tf.compat.v2.keras.layers, kind)
    with eager_mode():
        for settings, number in (({}, 1.0), ({"unroll": True}, 0.0)):
            output, runtime = make(2, return_runtime=True, **settings)(np.zeros((2, 3, 4), "float32"))
            assert (output.shape.as_list(), float(runtime)) == ([2, 2], number)
        states = make(2, return_runtime=True, return_state=True)(np.zeros((2, 3, 4), "float32"))
        assert len(states) == (3 if kind == "LSTM" else 2)
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(make(2, return_runtime=True)(tf.zeros((2, 3, 4)))[1]) == 0.0


def test_bidirectional_configuration_has_the_backward_layer_as_it_was_given():
    with tf.Graph().as_default():
        layer = layers.Bidirectional(layers.LSTM(2), backward_layer=layers.GRU(2, go_backwards=True, name="back"))
        layer(layers.Input((3, 4)))
        assert layer.get_config()["backward_layer"]["config"]["name"] == "back"


def test_states_are_no_weights():
    with eager_mode():
        layer = tf.keras.layers.ConvLSTM2D(2, 2, stateful=True)
        layer(tf.ones([1, 2, 3, 3, 1]))
        assert [w.name.rpartition("/")[2] for w in layer.weights] == ["kernel:0", "recurrent_kernel:0", "bias:0"]


def test_a_bidirectional_layer_is_not_stateful_itself():
    layer = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(2, stateful=True))
    assert (layer.stateful, layer.forward_layer.stateful) == (False, True)


def test_one_dropout_mask_is_given_by_itself():
    cell = tf.keras.layers.SimpleRNNCell(2, dropout=0.5)
    assert cell.get_dropout_mask_for_cell(tf.ones([3, 4]), True).shape == [3, 4]
    cell.reset_dropout_mask()
    assert len(cell.get_dropout_mask_for_cell(tf.ones([3, 4]), True, count=3)) == 3
