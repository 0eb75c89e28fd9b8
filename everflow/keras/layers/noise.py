"""Layers that add noise while training."""

from __future__ import annotations

import numpy as np

from everflow.keras import backend as K
from everflow.keras.layers.configured import Elementwise, keeps
from everflow.ops import array, math


@keeps("stddev")
class GaussianNoise(Elementwise):
    """Normal noise added to the inputs.

    Args:
        stddev: The standard deviation.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.GaussianNoise(0.1)(tf.ones([2]), training=False))
        array([1., 1.], dtype=float32)
    """

    def call(self, inputs, training=None):
        def noised():
            return inputs + K.random_normal(shape=array.shape(inputs), mean=0.0, stddev=self.stddev, dtype=inputs.dtype)

        return K.in_train_phase(noised, inputs, training=training)


@keeps("rate")
class GaussianDropout(Elementwise):
    """Inputs times normal noise around one, with the variance that dropout would have.

    Args:
        rate: The part of the inputs that is dropped, between 0 and 1.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.GaussianDropout(0.5)(tf.ones([2]), training=False))
        array([1., 1.], dtype=float32)
    """

    def call(self, inputs, training=None):
        if not 0 < self.rate < 1:
            return inputs

        def noised():
            stddev = np.sqrt(self.rate / (1.0 - self.rate))
            return inputs * K.random_normal(shape=array.shape(inputs), mean=1.0, stddev=stddev, dtype=inputs.dtype)

        return K.in_train_phase(noised, inputs, training=training)


class AlphaDropout(Elementwise):
    """Dropout that keeps the mean and variance of SELU's outputs.

    Args:
        rate: The part of the inputs that is dropped, between 0 and 1.
        noise_shape: The shape of what is decided; 1 where all entries along an axis are kept or dropped together.
        seed: A number that makes the random numbers the same in each run of the program.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.AlphaDropout(0.5)(tf.ones([2]), training=False))
        array([1., 1.], dtype=float32)
    """

    # SELU's alpha times its scale: the value that dropped inputs get, negated.
    _SATURATION = 1.6732632423543772848170429916717 * 1.0507009873554804934193349852946

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        self._keep(rate=rate)
        self.noise_shape, self.seed = noise_shape, seed

    def _get_noise_shape(self, inputs):
        return self.noise_shape if self.noise_shape else array.shape(inputs)

    def call(self, inputs, training=None):
        if not 0.0 < self.rate < 1.0:
            return inputs
        noise_shape = self._get_noise_shape(inputs)

        def dropped():
            least = -self._SATURATION
            kept = math.greater_equal(K.random_uniform(noise_shape, seed=self.seed), self.rate)
            kept = math.cast(kept, inputs.dtype)
            # The line that restores mean and variance.
            slope = ((1 - self.rate) * (1 + self.rate * least**2)) ** -0.5
            shift = -slope * least * self.rate
            x = inputs * kept + least * (1 - kept)
            return slope * x + shift

        return K.in_train_phase(dropped, inputs, training=training)
