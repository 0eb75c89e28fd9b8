"""Cells whose units see only their own state: IndRNN, IndyGRU, IndyLSTM, and the simple recurrent unit."""

from __future__ import annotations

from everflow.contrib.framework.kept_arguments import keep
from everflow.framework import dtypes
from everflow.keras.engine.input_spec import InputSpec
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.nn import activations as nn
from everflow.ops.variables import initializers
from everflow.rnn.cells import LayerRNNCell, LSTMStateTuple


class _IndependentCell(LayerRNNCell):
    def __init__(self, num_units, activation, reuse, name, dtype=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation or math.tanh

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def _known_depth(self, inputs_shape):
        if inputs_shape.size(1) is None:
            raise ValueError(f"Expecting the last size of the inputs to be set: {inputs_shape}")
        return inputs_shape.size(1)

    def _own_weights(self, name, columns, initializer=None):
        """Weights of each unit's own state."""
        start = initializer or initializers.random_uniform_initializer(-1, 1, dtype=dtypes.as_dtype(self.dtype))
        return self.add_variable(name, shape=[1, columns], initializer=start)


class IndRNNCell(_IndependentCell):
    """output = new_state = activation(W * input + u * state + b), u one number a unit."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None):
        super().__init__(num_units, activation, reuse, name, dtype)

    def build(self, inputs_shape):
        depth = self._known_depth(inputs_shape)
        self._kernel_w = self.add_variable("kernel_w", shape=[depth, self._num_units])
        self._kernel_u = self._own_weights("kernel_u", self._num_units)
        self._bias = self.add_variable("bias", shape=[self._num_units], initializer=self._zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        """One step of the independent RNN."""
        gates = math.matmul(inputs, self._kernel_w) + (state * self._kernel_u)
        output = self._activation(nn.bias_add(gates, self._bias))
        return output, output


class IndyGRUCell(_IndependentCell):
    """GRU whose units see only their own state."""

    def __init__(
        self,
        num_units,
        activation=None,
        reuse=None,
        kernel_initializer=None,
        bias_initializer=None,
        name=None,
        dtype=None,
    ):
        super().__init__(num_units, activation, reuse, name, dtype)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def build(self, inputs_shape):
        depth, units = self._known_depth(inputs_shape), self._num_units
        ones = initializers.constant_initializer(1.0, dtype=dtypes.as_dtype(self.dtype))
        self._gate_kernel_w = self.add_variable(
            "gates/kernel_w", shape=[depth, 2 * units], initializer=self._kernel_initializer
        )
        self._gate_kernel_u = self._own_weights("gates/kernel_u", 2 * units)
        self._gate_bias = self.add_variable("gates/bias", shape=[2 * units], initializer=self._bias_initializer or ones)
        self._candidate_kernel_w = self.add_variable(
            "candidate/kernel", shape=[depth, units], initializer=self._kernel_initializer
        )
        self._candidate_kernel_u = self._own_weights("candidate/kernel_u", units)
        start = self._bias_initializer or self._zeros_initializer()
        self._candidate_bias = self.add_variable("candidate/bias", shape=[units], initializer=start)
        self.built = True

    def call(self, inputs, state):
        """One step of the gated recurrent unit."""
        gates = math.matmul(inputs, self._gate_kernel_w) + (array.tile(state, [1, 2]) * self._gate_kernel_u)
        gates = math.sigmoid(nn.bias_add(gates, self._gate_bias))
        reset, update = array.split(value=gates, num_or_size_splits=2, axis=1)
        reset_state = reset * state
        candidate = math.matmul(inputs, self._candidate_kernel_w) + (reset_state * self._candidate_kernel_u)
        candidate = self._activation(nn.bias_add(candidate, self._candidate_bias))
        new_state = update * state + (1 - update) * candidate
        return new_state, new_state


class IndyLSTMCell(_IndependentCell):
    """LSTM whose units see only their own state."""

    def __init__(self, num_units, forget_bias=1.0, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None, name=None,
                 dtype=None):  # fmt: skip
        super().__init__(num_units, activation, reuse, name, dtype)
        keep(self, locals(), "activation", "num_units")

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))

    def build(self, inputs_shape):
        depth, units = self._known_depth(inputs_shape), self._num_units
        self._kernel_w = self.add_variable("kernel_w", shape=[depth, 4 * units], initializer=self._kernel_initializer)
        self._kernel_u = self._own_weights("kernel_u", 4 * units)
        start = self._bias_initializer or self._zeros_initializer()
        self._bias = self.add_variable("bias", shape=[4 * units], initializer=start)
        self.built = True

    def call(self, inputs, state):
        """One step of the LSTM."""
        one = constant(1, dtype=dtypes.int32)
        c, h = state
        gates = math.matmul(inputs, self._kernel_w)
        gates += array.tile(h, [1, 4]) * self._kernel_u
        gates = nn.bias_add(gates, self._bias)
        i, j, f, o = array.split(value=gates, num_or_size_splits=4, axis=one)
        forget_bias = constant(self._forget_bias, dtype=f.dtype)
        kept = math.multiply(c, math.sigmoid(math.add(f, forget_bias)))
        new_c = math.add(kept, math.multiply(math.sigmoid(i), self._activation(j)))
        new_h = math.multiply(self._activation(new_c), math.sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h)


class SRUCell(_IndependentCell):
    """Simple recurrent unit: its matrix product needs no state, so that steps are cheap."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, **kwargs)

    def build(self, inputs_shape):
        depth = self._known_depth(inputs_shape)
        self._kernel = self.add_variable("kernel", shape=[depth, 4 * self._num_units])
        zeros = initializers.zeros_initializer()
        self._bias = self.add_variable("bias", shape=[2 * self._num_units], initializer=zeros)
        self.built = True

    def call(self, inputs, state):
        """One step of the simple recurrent unit."""
        u = math.matmul(inputs, self._kernel)
        x_bar, f, r, x = array.split(value=u, num_or_size_splits=4, axis=1)
        gates = math.sigmoid(nn.bias_add(array.concat([f, r], 1), self._bias))
        f, r = array.split(value=gates, num_or_size_splits=2, axis=1)
        c = f * state + (1.0 - f) * x_bar
        h = r * self._activation(c) + (1.0 - r) * x
        return h, c
