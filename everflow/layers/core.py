"""Dense, dropout and flatten layers, and their functional forms."""

from __future__ import annotations

from everflow.keras.layers import core as keras_core
from everflow.layers.base import Layer
from everflow.layers.derived import functional, start


class Dense(keras_core.Dense, Layer):
    """activation(inputs * kernel + bias); inputs of higher rank are multiplied along their last dimension.

    >>> y = tf.layers.Dense(10, activation=tf.nn.relu)(x)
    """

    __init__ = start(keras_core.Dense)


dense = functional(
    Dense,
    "dense",
    """activation(inputs * kernel + bias), with variables `name/kernel` and `name/bias`.

    >>> y = tf.layers.dense(x, 10, activation=tf.nn.relu)
    """,
)


class Dropout(keras_core.Dropout, Layer):
    """While training, zeros for a part `rate` of the inputs and the rest scaled up; else the inputs."""

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(rate, noise_shape, seed, name=name, **kwargs)

    def call(self, inputs, training=False):
        return super().call(inputs, training=training)


def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None):
    """While `training`, zeros for a part `rate` of the inputs and the rest scaled up; else the inputs."""
    return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name).apply(inputs, training=training)


class Flatten(keras_core.Flatten, Layer):
    """Inputs as [batch, everything else]."""


def flatten(inputs, name=None, data_format="channels_last"):
    """Inputs as [batch, everything else]."""
    return Flatten(name=name, data_format=data_format).apply(inputs)


# Names from the days of tf.contrib.layers.
FullyConnected, fully_connected = Dense, dense
