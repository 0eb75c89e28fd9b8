"""A model that is a weighted sum of its inputs."""

from __future__ import annotations

from everflow.keras import layers
from everflow.keras.engine.training import Model
from everflow.keras.layers.configured import looked_up, written
from everflow.ops import math
from everflow.ops.nn import activations as nn_ops
from everflow.platform.signatures import REQUIRED, parameters, takes


class LinearModel(Model):
    """A weighted sum of inputs, of several tensors each with weights of its own.

    Args:
        units: How many numbers the result has for each example.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        **kwargs: What every layer takes.

    Example:
        >>> model = tf.keras.experimental.LinearModel()
        >>> model(tf.ones([2, 3])).shape.as_list()
        [2, 1]
    """

    _arguments = parameters(
        """units=1, activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
        kernel_regularizer=None, bias_regularizer=None"""
    )

    @takes({**_arguments, "**kwargs": REQUIRED})
    def __init__(self, **given):
        for name in self._arguments:
            setattr(self, name, looked_up(name, given.pop(name)))
        super().__init__(**given)

    def build(self, input_shape):
        self.dense_layers = []
        for shape in input_shape if isinstance(input_shape, list) else [input_shape]:
            kernel = {name: getattr(self, name) for name in ("kernel_initializer", "kernel_regularizer")}
            layer = layers.Dense(units=self.units, use_bias=False, input_shape=shape, **kernel)
            self.dense_layers.append(layer)
        self.bias = None
        if self.use_bias:
            made = {"initializer": self.bias_initializer, "regularizer": self.bias_regularizer}
            self.bias = self.add_weight("bias", shape=self.units, dtype=self.dtype, trainable=True, **made)

    def call(self, inputs):
        inputs = inputs if isinstance(inputs, (tuple, list)) else [inputs]
        if len(inputs) != len(self.dense_layers):
            raise ValueError(f"Expected {len(self.dense_layers)} inputs, but got {len(inputs)} inputs")
        result = None
        for layer, one in zip(self.dense_layers, inputs):
            output = layer(one)
            result = output if result is None else math.add(result, output)
        if self.use_bias:
            result = nn_ops.bias_add(result, self.bias)
        return self.activation(result) if self.activation is not None else result

    def get_config(self):
        return {**written(self, self._arguments), "name": self.name, "trainable": self.trainable, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)
