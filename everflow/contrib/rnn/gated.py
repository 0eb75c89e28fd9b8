"""Gated cells: LSTMs with layer normalisation or coupled gates, UGRNN, the intersection RNN and the NAS cell."""

from __future__ import annotations

from everflow.contrib.framework.kept_arguments import keep
from everflow.contrib.rnn.linear import Linears, known_width
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, get_collection
from everflow.ops import array, math
from everflow.ops.math.clip import clip_by_value
from everflow.ops.nn import activations as nn
from everflow.ops.nn.dropout import dropout
from everflow.ops.nn.normalization import batch_normalization, moments
from everflow.ops.variables import initializers
from everflow.ops.variables import scope as scopes
from everflow.platform import logging
from everflow.rnn.cells import LayerRNNCell, LSTMStateTuple, RNNCell


def layer_norm(values, scope, gain, shift, dtype=None):
    """Values normalised over their last dimension, with variables `gamma` and `beta` in a scope of this name."""
    shape = values.shape[-1:]
    settings = {} if dtype is None else {"dtype": dtype}
    with scopes.variable_scope(scope):
        scopes.get_variable("gamma", shape=shape, initializer=initializers.constant_initializer(gain), **settings)
        scopes.get_variable("beta", shape=shape, initializer=initializers.constant_initializer(shift), **settings)
    with scopes.variable_scope(scope, reuse=True):
        beta = scopes.get_variable("beta", shape=shape, **settings)
        gamma = scopes.get_variable("gamma", shape=shape, **settings)
        mean, variance = moments(values, [1], keep_dims=True)
        result = batch_normalization(values, mean, variance, offset=beta, scale=gamma, variance_epsilon=1e-12)
        result.set_shape(values.shape)
        return result


def sharded_variable(name, shape, dtype, shards):
    """A matrix made of so many variables along its rows, joined once for all calls of a cell."""
    if shards > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={shards}")
    rows, rest = divmod(shape[0], shards)
    parts = [scopes.get_variable(f"{name}_{i}", [rows + (i < rest)] + shape[1:], dtype=dtype) for i in range(shards)]
    if len(parts) == 1:
        return parts[0]
    joined_name = "/".join(filter(None, [scopes.get_variable_scope().name, name, "concat:0"]))
    for joined in get_collection(GraphKeys.CONCATENATED_VARIABLES):
        if joined.name == joined_name:
            return joined
    joined = array.concat(parts, 0, name=name + "/concat")
    add_to_collection(GraphKeys.CONCATENATED_VARIABLES, joined)
    return joined


class LayerNormBasicLSTMCell(RNNCell):
    """LSTM with layer normalisation of the gates and the memory, and dropout of the new values.

    >>> cell = tf.contrib.rnn.LayerNormBasicLSTMCell(128, dropout_keep_prob=0.9)
    """

    def __init__(self, num_units, forget_bias=1.0, input_size=None, activation=math.tanh, layer_norm=True, norm_gain=1.0, norm_shift=0.0,
                 dropout_keep_prob=1.0, dropout_prob_seed=None, reuse=None):  # fmt: skip
        super().__init__(_reuse=reuse)
        if input_size is not None:
            logging.warning("%s: The input_size parameter is deprecated.", self)
        keep(self, locals(), "input_size")

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))
    output_size = property(lambda self: self._num_units)

    def _norm(self, values, scope, dtype):
        return layer_norm(values, scope, self._norm_gain, self._norm_shift, dtype) if self._layer_norm else values

    def call(self, inputs, state):
        """One step of the LSTM."""
        c, h = state
        args = array.concat([inputs, h], 1)
        dtype = args.dtype
        kernel = scopes.get_variable("kernel", [args.shape.size(-1), 4 * self._num_units], dtype=dtype)
        gates = math.matmul(args, kernel)
        if not self._layer_norm:
            gates = nn.bias_add(gates, scopes.get_variable("bias", [4 * self._num_units], dtype=dtype))
        i, j, f, o = array.split(value=gates, num_or_size_splits=4, axis=1)
        names = ("input", "transform", "forget", "output")
        i, j, f, o = (self._norm(gate, name, dtype) for gate, name in zip((i, j, f, o), names))
        g = self._activation(j)
        if not isinstance(self._dropout_keep_prob, float) or self._dropout_keep_prob < 1:
            g = dropout(g, self._dropout_keep_prob, seed=self._dropout_prob_seed)
        new_c = c * math.sigmoid(f + self._forget_bias) + math.sigmoid(i) * g
        new_c = self._norm(new_c, "state", dtype)
        new_h = self._activation(new_c) * math.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class CoupledInputForgetGateLSTMCell(RNNCell):
    """LSTM whose input gate is one minus its forget gate."""

    def __init__(self, num_units, use_peepholes=False, initializer=None, num_proj=None, proj_clip=None, num_unit_shards=1,
                 num_proj_shards=1, forget_bias=1.0, state_is_tuple=True, activation=math.tanh, reuse=None, layer_norm=False,
                 norm_gain=1.0, norm_shift=0.0):  # fmt: skip
        super().__init__(_reuse=reuse)
        keep(self, locals())

    output_size = property(lambda self: self._num_proj or self._num_units)

    @property
    def state_size(self):
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    def _norm(self, values, scope):
        return layer_norm(values, scope, self._norm_gain, self._norm_shift) if self._layer_norm else values

    def call(self, inputs, state):
        """One step of the LSTM."""
        units = self._num_units
        if self._state_is_tuple:
            c_before, m_before = state
        else:
            c_before = array.slice_(state, [0, 0], [-1, units])
            m_before = array.slice_(state, [0, units], [-1, self.output_size])
        dtype = inputs.dtype
        input_size = known_width(inputs)
        kernel = sharded_variable("W", [input_size + self.output_size, 3 * units], dtype, self._num_unit_shards)
        bias = scopes.get_variable("B", shape=[3 * units], initializer=initializers.zeros_initializer(), dtype=dtype)
        gates = math.matmul(array.concat([inputs, m_before], 1), kernel)
        if not self._layer_norm:
            gates = nn.bias_add(gates, bias)
        j, f, o = array.split(value=gates, num_or_size_splits=3, axis=1)
        j, f, o = (self._norm(gate, name) for gate, name in zip((j, f, o), ("transform", "forget", "output")))
        if self._use_peepholes:
            w_f = scopes.get_variable("W_F_diag", shape=[units], dtype=dtype)
            w_o = scopes.get_variable("W_O_diag", shape=[units], dtype=dtype)
            forget = math.sigmoid(f + self._forget_bias + w_f * c_before)
        else:
            forget = math.sigmoid(f + self._forget_bias)
        c = forget * c_before + (1 - forget) * self._activation(j)
        c = self._norm(c, "state")
        m = math.sigmoid(o + w_o * c if self._use_peepholes else o) * self._activation(c)
        if self._num_proj is not None:
            m = math.matmul(m, sharded_variable("W_P", [units, self._num_proj], dtype, self._num_proj_shards))
            if self._proj_clip is not None:
                m = clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else array.concat([c, m], 1)


class UGRNNCell(RNNCell):
    """Update gate RNN: one gate between the old state and the new values."""

    def __init__(self, num_units, initializer=None, forget_bias=1.0, activation=math.tanh, reuse=None):
        super().__init__(_reuse=reuse)
        keep(self, locals())
        self._linears = Linears()

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def call(self, inputs, state):
        """One step of the update gate RNN."""
        known_width(inputs)
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            joined = array.concat([inputs, state], 1)
            both = self._linears("gates", joined, 2 * self._num_units)
            gate, candidate = array.split(axis=1, num_or_size_splits=2, value=both)
            candidate = self._activation(candidate)
            gate = math.sigmoid(gate + self._forget_bias)
            new_state = gate * state + (1.0 - gate) * candidate
        return new_state, new_state


class IntersectionRNNCell(RNNCell):
    """Gates both over time and over depth: the output passes the input through, the state the old state."""

    def __init__(
        self, num_units, num_in_proj=None, initializer=None, forget_bias=1.0, y_activation=nn.relu, reuse=None
    ):
        super().__init__(_reuse=reuse)
        keep(self, locals())
        self._linears = Linears()

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def call(self, inputs, state):
        """One step of the intersection RNN."""
        units = self._num_units
        input_size = known_width(inputs)
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            if input_size != units:
                if not self._num_in_proj:
                    raise ValueError(f"Inputs are of size {input_size}, outputs of {units}: set num_in_proj={units}")
                with scopes.variable_scope("in_projection"):
                    inputs = self._linears("projection", inputs, self._num_in_proj)
            joined = array.concat([inputs, state], 1)
            gates = self._linears("gates", joined, 4 * units)
            state_gate = gates[:, :units]
            candidate = gates[:, units : 2 * units]
            output_gate = gates[:, 2 * units : 3 * units]
            output = gates[:, 3 * units : 4 * units]
            candidate = math.tanh(candidate)
            output = self._y_activation(output)
            state_gate = math.sigmoid(state_gate + self._forget_bias)
            output_gate = math.sigmoid(output_gate + self._forget_bias)
            new_state = state_gate * state + (1.0 - state_gate) * candidate
            new_output = output_gate * inputs + (1.0 - output_gate) * output
        return new_output, new_state


class NASCell(LayerRNNCell):
    """The cell that neural architecture search found."""

    _BASES = 8

    def __init__(self, num_units, num_proj=None, use_bias=False, reuse=None, **kwargs):
        super().__init__(_reuse=reuse, **kwargs)
        keep(self, locals())

    output_size = property(lambda self: self._num_proj or self._num_units)
    state_size = property(lambda self: LSTMStateTuple(self._num_units, self.output_size))

    def build(self, inputs_shape):
        width = self._BASES * self._num_units
        depth = inputs_shape.size(1)
        if depth is None:
            raise ValueError(f"Expecting the last size of the inputs to be set: {inputs_shape}")
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [self.output_size, width])
        self.kernel = self.add_variable("kernel", [depth, width])
        if self._use_bias:
            self.bias = self.add_variable("bias", shape=[width], initializer=initializers.zeros_initializer)
        if self._num_proj is not None:
            self.projection_weights = self.add_variable("projection_weights", [self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs, state):
        """One step of the cell."""
        sigmoid, tanh, relu = math.sigmoid, math.tanh, nn.relu
        c_before, m_before = state
        recurrent = math.matmul(m_before, self.recurrent_kernel)
        given = math.matmul(inputs, self.kernel)
        if self._use_bias:
            recurrent = nn.bias_add(recurrent, self.bias)
        m = array.split(axis=1, num_or_size_splits=self._BASES, value=recurrent)
        x = array.split(axis=1, num_or_size_splits=self._BASES, value=given)
        functions = (sigmoid, relu, sigmoid, relu, tanh, sigmoid, tanh, sigmoid)
        first = [f(x[i] * m[i] if i == 3 else x[i] + m[i]) for i, f in enumerate(functions)]
        a, b, c, d, e, f, g, h = first
        second = [tanh(a * b), tanh(c + d), tanh(e * f), sigmoid(g + h)]
        second[0] = tanh(second[0] + c_before)
        new_c = second[0] * second[1]
        new_m = tanh(new_c * tanh(second[2] + second[3]))
        if self._num_proj is not None:
            new_m = math.matmul(new_m, self.projection_weights)
        return new_m, LSTMStateTuple(new_c, new_m)
