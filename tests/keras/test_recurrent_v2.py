"""LSTM and GRU as tf.compat.v2 has them."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

layers = tf.compat.v2.keras.layers


def test_defaults_are_those_of_cudnn():
    config = layers.GRU(2).get_config()
    assert (config["recurrent_activation"], config["reset_after"], config["implementation"]) == ("sigmoid", True, 2)
    assert layers.LSTMCell(2).get_config()["recurrent_activation"] == "sigmoid"
    assert tf.keras.layers.GRU(2).get_config()["recurrent_activation"] == "hard_sigmoid"
    assert issubclass(layers.LSTM, tf.keras.layers.LSTM)
    assert layers.Dense is tf.keras.layers.Dense


@pytest.mark.parametrize(("kind", "value"), [("GRU", 0.26391528), ("LSTM", 0.9707013)])
def test_values(kind, value):
    with tf.Graph().as_default(), tf.Session() as session:
        layer = getattr(layers, kind)(2, kernel_initializer="ones", recurrent_initializer="ones")
        result = layer(tf.ones((1, 3, 2)))
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(result), [[value, value]], rtol=1e-6)


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_what_cudnn_could_compute(kind):
    make = getattr(layers, kind)
    assert not make(2).could_use_cudnn  # in a graph
    with eager_mode():
        assert make(2).could_use_cudnn
        for other in ({"activation": "relu"}, {"unroll": True}, {"recurrent_dropout": 0.1}, {"use_bias": False}):
            assert not make(2, **other).could_use_cudnn
