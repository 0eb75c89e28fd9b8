"""Layers of SavedModels whose classes nobody knows any more: they come back one by one, with weights, losses and calls."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.keras.saving.saved_model.load import load

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def a_model():
    class Scaled(tf.keras.layers.Layer):
        def __init__(self, units=2, **kwargs):
            super().__init__(**kwargs)
            self.inner = tf.keras.layers.Dense(units, kernel_initializer="ones", kernel_regularizer="l2")

        def call(self, inputs, training=None):
            return self.inner(inputs) * (0.0 if training else 2.0)

    return tf.keras.Sequential([Scaled(input_shape=(3,), name="scaled"), tf.keras.layers.Dense(1, name="last")])


def test_a_layer_of_a_sequential_is_revived(tmp_path):
    with eager_mode():
        model = a_model()
        model.compile("rmsprop", "mse")
        model.train_on_batch(X, np.ones([2, 1]))
        model.save(str(tmp_path), save_format="tf")
        again = load(str(tmp_path))
        np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-5)
        revived = again.layers[0]
        assert (type(revived).__name__, revived.name, len(revived.weights)) == ("Scaled", "scaled", 2)
        assert (type(again.layers[1]).__name__, again.layers[1].name, len(again.losses)) == ("Dense", "last", 1)
        np.testing.assert_allclose(again(X, training=True), np.zeros([2, 1]) + again.layers[1].bias.numpy(), atol=1e-6)
        assert type(again.optimizer).__name__ == "RMSprop"
        again.train_on_batch(X, np.ones([2, 1]))


def test_a_model_with_a_call_of_its_own_has_its_layers_again(tmp_path):
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.parts = [tf.keras.layers.Dense(2), tf.keras.layers.BatchNormalization()]
            self.last = tf.keras.layers.Dense(1)

        def call(self, inputs, training=None):
            for part in self.parts:
                inputs = part(inputs)
            return self.last(inputs)

    with eager_mode():
        model = Own()
        wanted = model.predict(X)
        model.save(str(tmp_path), save_format="tf")
        again = load(str(tmp_path))
        np.testing.assert_allclose(again.predict(X), wanted, rtol=1e-5)
        assert [type(layer).__name__ for layer in again.layers] == ["Dense", "BatchNormalization", "Dense"]
        assert [w.name for w in again.weights] == [w.name for w in model.weights]
        assert (len(again.trainable_weights), again.last.get_config()["units"]) == (6, 1)
        with pytest.raises(NotImplementedError):
            again.get_config()


def test_a_layer_alone(tmp_path):
    with eager_mode():
        layer = a_model().layers[0]
        tf.saved_model.save(layer, str(tmp_path))
        again = load(str(tmp_path))
        np.testing.assert_allclose(again(X), layer(X))
        assert len(again.losses) == 1


def test_a_known_configuration_holds_unknown_layers(tmp_path):
    class Named(tf.keras.layers.Layer):
        def call(self, inputs):
            return inputs * 3.0

    with eager_mode():
        inputs = tf.keras.Input((3,))
        model = tf.keras.Model(inputs, tf.keras.layers.Dense(1, name="after")(Named(name="named")(inputs)))
        model.save(str(tmp_path), save_format="tf")
        again = load(str(tmp_path))
        assert [type(layer).__name__ for layer in again.layers] == ["InputLayer", "Named", "Dense"]
        assert type(again.layers[2]) is tf.keras.layers.Dense
        np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-5)
