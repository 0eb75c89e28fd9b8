"""Cells with few gates whose dynamics can be understood: the chaos-free network and the minimal RNN."""

from __future__ import annotations

from everflow.keras import activations
from everflow.keras import initializers as keras_initializers
from everflow.keras.engine.input_spec import InputSpec
from everflow.ops import array, math
from everflow.ops.nn import activations as nn
from everflow.rnn.cells import LayerRNNCell


class _FewGates(LayerRNNCell):
    def __init__(
        self,
        units,
        activation="tanh",
        kernel_initializer="glorot_uniform",
        bias_initializer="ones",
        name=None,
        dtype=None,
        **kwargs,
    ):
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self.units = units
        self.activation = activations.get(activation)
        self.kernel_initializer = keras_initializers.get(kernel_initializer)
        self.bias_initializer = keras_initializers.get(bias_initializer)

    state_size = property(lambda self: self.units)
    output_size = property(lambda self: self.units)

    def _depth(self, inputs_shape):
        if (depth := inputs_shape.size(-1)) is None:
            raise ValueError(f"The last size of the inputs has to be known, got {inputs_shape}")
        return depth


class CFNCell(_FewGates):
    """The chaos-free network of Laurent and von Brecht: new state = f tanh(state) + (1 - i) tanh(inputs W)."""

    def build(self, inputs_shape):
        depth = self._depth(inputs_shape)
        start = {"initializer": self.kernel_initializer}
        self.kernel = self.add_weight(name="kernel", shape=[depth, 3 * self.units], **start)
        self.recurrent_kernel = self.add_weight(name="recurrent_kernel", shape=[self.units, 2 * self.units], **start)
        self.bias = self.add_weight(name="bias", shape=[2 * self.units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs, state):
        """One step of the network."""
        for_gates, for_input = array.split(self.kernel, [2 * self.units, self.units], axis=1)
        gates = math.matmul(state, self.recurrent_kernel) + math.matmul(inputs, for_gates)
        forget, keep = array.split(value=math.sigmoid(nn.bias_add(gates, self.bias)), num_or_size_splits=2, axis=1)
        seen = math.matmul(inputs, for_input)
        new = forget * self.activation(state) + (1 - keep) * self.activation(seen)
        return new, new


class MinimalRNNCell(_FewGates):
    """The minimal RNN of Chen: inputs become a point in the space of states, and one gate mixes it with the state."""

    def build(self, inputs_shape):
        depth = self._depth(inputs_shape)
        shape = [depth + 2 * self.units, self.units]
        self.kernel = self.add_weight(name="kernel", shape=shape, initializer=self.kernel_initializer)
        self.bias = self.add_weight(name="bias", shape=[self.units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs, state):
        """One step of the network."""
        depth = inputs.shape.size(1)
        for_input, for_gate = array.split(self.kernel, [depth, 2 * self.units], axis=0)
        seen = self.activation(math.matmul(inputs, for_input))
        gate = math.sigmoid(nn.bias_add(math.matmul(array.concat([seen, state], 1), for_gate), self.bias))
        new = gate * state + (1 - gate) * seen
        return new, new
