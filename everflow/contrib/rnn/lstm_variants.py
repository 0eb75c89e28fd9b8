"""LSTMs of other shapes: in groups, with a rhythm (phased), and over images (convolutional)."""

from __future__ import annotations

from everflow.contrib.framework.kept_arguments import keep
from everflow.contrib.rnn.linear import BIAS, KERNEL, Linears, known_width
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.nn import activations as nn
from everflow.ops.nn.convolution import conv1d, conv2d, conv3d
from everflow.ops.random import distributions as random
from everflow.ops.variables import initializers
from everflow.ops.variables import scope as scopes
from everflow.rnn.cells import LSTMStateTuple, RNNCell


class GLSTMCell(RNNCell):
    """LSTM in groups of units, each with a part of the input and of the output."""

    def __init__(
        self,
        num_units,
        initializer=None,
        num_proj=None,
        number_of_groups=1,
        forget_bias=1.0,
        activation=math.tanh,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        keep(self, locals())
        for name, size in (("num_units", num_units), ("num_proj", num_proj)):
            if size and size % number_of_groups != 0:
                raise ValueError(f"{name}={size} can't be cut into {number_of_groups} groups of one size")
        self._group_units = num_units // number_of_groups
        self._group_outputs = (num_proj or num_units) // number_of_groups
        self._linears = Linears()

    output_size = property(lambda self: self._num_proj or self._num_units)
    state_size = property(lambda self: LSTMStateTuple(self._num_units, self.output_size))

    def _part(self, values, group, size):
        batch_size = values.shape.size(0) or array.shape(values)[0]
        name = f"GLSTM_group{group}_input_generation"
        return array.slice_(values, begin=[0, group * size], size=[batch_size, size], name=name)

    def call(self, inputs, state):
        """One step of the LSTM."""
        c_before, m_before = state
        depth = known_width(inputs)
        groups, dtype = self._number_of_groups, inputs.dtype
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            parts = []
            for group in range(groups):
                with scopes.variable_scope(f"group{group}"):
                    values = self._part(inputs, group, depth // groups)
                    joined = array.concat([values, self._part(m_before, group, self._group_outputs)], axis=1)
                    parts.append(array.split(self._linears(group, joined, 4 * self._group_units, False), 4, 1))
            zeros = initializers.constant_initializer(0.0, dtype=dtype)
            settings = {"shape": [self._num_units], "dtype": dtype, "initializer": zeros}
            biases = [scopes.get_variable(f"{BIAS}_{name}", **settings) for name in "ijfo"]
            joined = (array.concat(list(part), axis=1) for part in zip(*parts))
            i, j, f, o = (nn.bias_add(part, bias) for part, bias in zip(joined, biases))
        c = math.sigmoid(f + self._forget_bias) * c_before + math.sigmoid(i) * math.tanh(j)
        m = math.sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with scopes.variable_scope("projection"):
                m = self._linears("projection", m, self._num_proj, False)
        return m, LSTMStateTuple(c, m)


class PhasedLSTMCell(RNNCell):
    """LSTM whose units are open only in a part of their period; its input is (time, values)."""

    def __init__(self, num_units, use_peepholes=False, leak=0.001, ratio_on=0.1, trainable_ratio_on=True, period_init_min=1.0,
                 period_init_max=1000.0, reuse=None):  # fmt: skip
        super().__init__(_reuse=reuse)
        keep(self, locals())
        self._linears = Linears()

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))
    output_size = property(lambda self: self._num_units)

    def _period_initializer(self):
        def initializer(shape, dtype=None, partition_info=None):
            low, high = math.log(self._period_init_min), math.log(self._period_init_max)
            return math.exp(random.random_uniform(shape, low, high, dtype))

        return initializer

    def call(self, inputs, state):
        """One step of the LSTM."""
        c_before, h_before = state
        time, x = inputs
        gate_inputs = [x, h_before] + ([c_before] if self._use_peepholes else [])
        with scopes.variable_scope("mask_gates"):
            gates = math.sigmoid(self._linears("mask_gates", gate_inputs, 2 * self._num_units))
            input_gate, forget_gate = array.split(axis=1, num_or_size_splits=2, value=gates)
        with scopes.variable_scope("new_input"):
            new_input = math.tanh(self._linears("new_input", [x, h_before], self._num_units))
        new_c = (c_before * forget_gate) + (input_gate * new_input)
        output_inputs = [x, h_before] + ([new_c] if self._use_peepholes else [])
        with scopes.variable_scope("output_gate"):
            output_gate = math.sigmoid(self._linears("output_gate", output_inputs, self._num_units))
        new_h = math.tanh(new_c) * output_gate
        period = scopes.get_variable("period", [self._num_units], initializer=self._period_initializer())
        start = initializers.random_uniform_initializer(0.0, period.initial_value)
        phase = scopes.get_variable("phase", [self._num_units], initializer=start)
        start = initializers.constant_initializer(self._ratio_on)
        settings = {"initializer": start, "trainable": self._trainable_ratio_on}
        ratio_on = scopes.get_variable("ratio_on", [self._num_units], **settings)
        # Time may be of higher precision than the values. The remainder has the gradient of the plain difference.
        phase, length = math.cast(phase, time.dtype), math.cast(period, time.dtype)
        since = time - phase
        cycle = (array.stop_gradient(math.mod(since, length) - since) + since) / length
        cycle = math.cast(cycle, period.dtype)
        rising = 2 * cycle / ratio_on
        falling = 2 - rising
        closed = self._leak * cycle
        openness = array.where(cycle < ratio_on, falling, closed)
        openness = array.where(cycle < 0.5 * ratio_on, rising, openness)
        new_c = openness * new_c + (1 - openness) * c_before
        new_h = openness * new_h + (1 - openness) * h_before
        return new_h, LSTMStateTuple(new_c, new_h)


_CONVOLUTIONS = {1: conv1d, 2: conv2d, 3: conv3d}


class ConvLSTMCell(RNNCell):
    """LSTM whose products are convolutions over 1, 2 or 3 dimensions; TensorFlow ignores `initializers`, too.

    >>> cell = tf.contrib.rnn.ConvLSTMCell(2, input_shape=[64, 64, 3], output_channels=16, kernel_shape=[3, 3])
    """

    def __init__(self, conv_ndims, input_shape, output_channels, kernel_shape, use_bias=True, skip_connection=False, forget_bias=1.0,
                 initializers=None, name="conv_lstm_cell"):  # fmt: skip
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        keep(self, locals(), "initializers")
        self._kernel_shape = list(kernel_shape)
        space = list(input_shape[:-1])
        channels = output_channels + (input_shape[-1] if skip_connection else 0)
        state = TensorShape(space + [output_channels])
        self._state_size = LSTMStateTuple(state, state)
        self._output_size = TensorShape(space + [channels])

    output_size = property(lambda self: self._output_size)
    state_size = property(lambda self: self._state_size)

    def _convolved(self, args, channels):
        shapes = [a.shape.as_list() for a in args]
        ranks = {len(s) for s in shapes}
        if len(ranks) > 1 or not ranks <= {3, 4, 5}:
            raise ValueError(f"What is convolved must be of one rank, and of 3, 4 or 5 dimensions: {shapes}")
        depth = sum(s[-1] for s in shapes)
        dtype, rank = args[0].dtype, len(shapes[0])
        kernel = scopes.get_variable(KERNEL, self._kernel_shape + [depth, channels], dtype=dtype)
        strides = 1 if rank == 3 else [1] * rank
        values = args[0] if len(args) == 1 else array.concat(axis=rank - 1, values=args)
        result = _CONVOLUTIONS[rank - 2](values, kernel, strides, padding="SAME")
        if not self._use_bias:
            return result
        zeros = initializers.constant_initializer(0.0, dtype=dtype)
        return result + scopes.get_variable("biases", [channels], dtype=dtype, initializer=zeros)

    def call(self, inputs, state, scope=None):
        """One step of the LSTM."""
        cell, hidden = state
        gates = self._convolved([inputs, hidden], 4 * self._output_channels)
        i, j, f, o = array.split(value=gates, num_or_size_splits=4, axis=self._conv_ndims + 1)
        new_cell = math.sigmoid(f + self._forget_bias) * cell
        new_cell += math.sigmoid(i) * math.tanh(j)
        output = math.tanh(new_cell) * math.sigmoid(o)
        if self._skip_connection:
            output = array.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(new_cell, output)


class Conv1DLSTMCell(ConvLSTMCell):
    """Convolutional LSTM over one dimension."""

    def __init__(self, name="conv_1d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """Convolutional LSTM over two dimensions."""

    def __init__(self, name="conv_2d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """Convolutional LSTM over three dimensions."""

    def __init__(self, name="conv_3d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=3, name=name, **kwargs)
