"""Wrappers of Keras's cells."""

import numpy as np
import pytest

import everflow as tf
from everflow.rnn import keras_wrappers


def _cell():
    return tf.keras.layers.SimpleRNNCell(3, kernel_initializer="ones", recurrent_initializer="ones")


def _doubled(inputs, outputs):
    return inputs * 2.0 + outputs


@pytest.mark.parametrize(
    ("wrapper", "wanted"),
    [
        (lambda: keras_wrappers.ResidualWrapper(_cell()), 0.925530),
        (lambda: keras_wrappers.ResidualWrapper(_cell(), residual_fn=_doubled), 1.025530),
        (lambda: keras_wrappers.DeviceWrapper(_cell(), "/cpu:0"), 0.825530),
        (lambda: keras_wrappers.DropoutWrapper(_cell(), output_keep_prob=1.0), 0.825530),
    ],
)
def test_a_wrapped_cell_in_a_model(wrapper, wanted):
    wrapper = wrapper()
    model = tf.keras.Sequential([tf.keras.layers.RNN(wrapper, input_shape=(2, 3))])
    x = np.full([1, 2, 3], 0.1, "float32")
    np.testing.assert_allclose(model.predict(x), np.full([1, 3], wanted), rtol=1e-5)
    assert [weight.name.rpartition("/")[2] for weight in model.weights] == ["kernel:0", "recurrent_kernel:0", "bias:0"]
    again = type(wrapper).from_config(wrapper.get_config())
    assert again.get_config() == wrapper.get_config() and again.cell.units == 3


def test_dropout_is_told_by_its_configuration():
    wrapper = keras_wrappers.DropoutWrapper(_cell(), input_keep_prob=0.5, seed=1, dropout_state_filter_visitor=bool)
    with pytest.raises(AttributeError):
        wrapper.get_config()  # A function that is no code of Python can't be written down.
    config = keras_wrappers.DropoutWrapper(_cell(), input_keep_prob=0.5, seed=1).get_config()
    assert (config["input_keep_prob"], config["state_keep_prob"], config["seed"]) == (0.5, 1.0, 1)


def test_wrapped_cells_drop():
    wrapper = keras_wrappers.DropoutWrapper(_cell(), output_keep_prob=0.5, seed=1)
    x = tf.ones([50, 3])
    output, _ = wrapper(x, [tf.zeros([50, 3])])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert 0.2 < np.mean(session.run(output) == 0) < 0.8
