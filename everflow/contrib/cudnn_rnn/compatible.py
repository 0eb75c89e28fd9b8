"""Cells with cuDNN's formulas and variables, so that checkpoints of cuDNN layers can be used step by step."""

from __future__ import annotations

from everflow.contrib.rnn.blocks import LSTMBlockCell
from everflow.framework import dtypes
from everflow.ops import array, math
from everflow.ops.nn import activations as nn
from everflow.ops.variables import initializers
from everflow.rnn.cells import GRUCell


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """cuDNN's LSTM: no forget bias beside the learned one, no clipping, no peepholes."""

    def __init__(self, num_units, reuse=None):
        settings = {"cell_clip": None, "use_peephole": False, "reuse": reuse}
        super().__init__(num_units, forget_bias=0, **settings, name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(GRUCell):
    """cuDNN's GRU: the reset gate applies after the state's matrix product, which has a bias of its own."""

    def __init__(self, num_units, reuse=None, kernel_initializer=None):
        super().__init__(num_units, activation=None, reuse=reuse, kernel_initializer=kernel_initializer)

    def build(self, inputs_shape):
        depth, units = self._depth(inputs_shape), self._num_units
        ones = initializers.constant_initializer(1.0, dtype=dtypes.as_dtype(self.dtype))
        kernel = {"initializer": self._kernel_initializer}
        bias = {"initializer": self._bias_initializer or self._zeros_initializer()}
        self._gate_kernel = self.add_variable("gates/kernel", shape=[depth + units, 2 * units], **kernel)
        self._gate_bias = self.add_variable("gates/bias", shape=[2 * units], initializer=self._bias_initializer or ones)
        self._input_kernel = self.add_variable("candidate/input_projection/kernel", shape=[depth, units], **kernel)
        self._hidden_kernel = self.add_variable("candidate/hidden_projection/kernel", shape=[units, units], **kernel)
        self._input_bias = self.add_variable("candidate/input_projection/bias", shape=[units], **bias)
        self._hidden_bias = self.add_variable("candidate/hidden_projection/bias", shape=[units], **bias)
        self.built = True

    def call(self, inputs, state):
        """One step of the gated recurrent unit."""
        gates = math.matmul(array.concat([inputs, state], 1), self._gate_kernel)
        gates = math.sigmoid(nn.bias_add(gates, self._gate_bias))
        reset, update = array.split(value=gates, num_or_size_splits=2, axis=1)
        candidate = nn.bias_add(math.matmul(inputs, self._input_kernel), self._input_bias)
        candidate += reset * nn.bias_add(math.matmul(state, self._hidden_kernel), self._hidden_bias)
        candidate = self._activation(candidate)
        new_state = (1 - update) * candidate + update * state
        return new_state, new_state
