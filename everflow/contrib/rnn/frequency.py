"""LSTMs over time and frequency: the input is cut into overlapping bands, and a second recurrence runs across them."""

from __future__ import annotations

import collections

from everflow.contrib.framework.kept_arguments import keep
from everflow.contrib.rnn.gated import sharded_variable
from everflow.contrib.rnn.linear import known_width
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.math.clip import clip_by_value
from everflow.ops.nn import activations as nn
from everflow.ops.variables import initializers
from everflow.ops.variables import scope as scopes
from everflow.platform.signatures import options_of, takes
from everflow.rnn.cells import RNNCell


class TimeFreqLSTMCell(RNNCell):
    """LSTM over bands of its input, each of which also sees the output of the band below."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_unit_shards=1, forget_bias=1.0,
                 feature_size=None, frequency_skip=1, reuse=None):  # fmt: skip
        super().__init__(_reuse=reuse)
        keep(self, locals())

    state_size = property(lambda self: 2 * self._num_units)
    output_size = property(lambda self: self._num_units)  # Of one band.

    def _bands(self, inputs):
        count = (known_width(inputs) - self._feature_size) // self._frequency_skip + 1
        return [array.slice_(inputs, [0, i * self._frequency_skip], [-1, self._feature_size]) for i in range(count)]

    def call(self, inputs, state):
        """One step of all bands."""
        units, dtype = self._num_units, inputs.dtype
        bands = self._bands(inputs)
        depth = bands[0].shape.as_list()[1]
        kernel = sharded_variable("W", [depth + 2 * units, 4 * units], dtype, self._num_unit_shards)
        bias = scopes.get_variable("B", shape=[4 * units], initializer=initializers.zeros_initializer(), dtype=dtype)
        if self._use_peepholes:
            w_f, w_i, w_o = (scopes.get_variable(f"W_{gate}_diag", shape=[units], dtype=dtype) for gate in "FIO")
        below = array.zeros([inputs.shape.size(0) or array.shape(inputs)[0], units])
        for band, values in enumerate(bands):
            c_before = array.slice_(state, [0, 2 * band * units], [-1, units])
            m_before = array.slice_(state, [0, (2 * band + 1) * units], [-1, units])
            gates = nn.bias_add(math.matmul(array.concat([values, m_before, below], 1), kernel), bias)
            i, j, f, o = array.split(value=gates, num_or_size_splits=4, axis=1)
            if self._use_peepholes:
                forget = math.sigmoid(f + self._forget_bias + w_f * c_before)
                c = forget * c_before + math.sigmoid(i + w_i * c_before) * math.tanh(j)
            else:
                c = math.sigmoid(f + self._forget_bias) * c_before + math.sigmoid(i) * math.tanh(j)
            if self._cell_clip is not None:
                c = clip_by_value(c, -self._cell_clip, self._cell_clip)
            m = math.sigmoid(o + w_o * c if self._use_peepholes else o) * math.tanh(c)
            below = m
            if band == 0:
                new_state, output = array.concat([c, m], 1), m
            else:
                new_state, output = array.concat([new_state, c, m], 1), array.concat([output, m], 1)
        return output, new_state


class GridLSTMCell(RNNCell):
    """LSTM with a memory over time and one over frequency, in blocks of bands with weights of their own."""

    def __init__(self, num_units, use_peepholes=False, share_time_frequency_weights=False, cell_clip=None, initializer=None,
                 num_unit_shards=1, forget_bias=1.0, feature_size=None, frequency_skip=None, num_frequency_blocks=None,
                 start_freqindex_list=None, end_freqindex_list=None, couple_input_forget_gates=False, state_is_tuple=True,
                 reuse=None):  # fmt: skip
        super().__init__(_reuse=reuse)
        keep(self, locals())
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._state_tuple_type = None
        self._make_sizes()

    def _make_sizes(self):
        self._output_size = self._state_size = sum(self._num_frequency_blocks) * self._num_units * 2
        if self._state_is_tuple:
            self._make_tuple("GridLSTMStateTuple", ["state"])

    def _make_tuple(self, name, prefixes):
        fields = [
            f"{prefix}_f{band:02d}_b{block:02d}_{part}"
            for prefix in prefixes
            for block, bands in enumerate(self._num_frequency_blocks)
            for band in range(bands)
            for part in "cm"
        ]
        self._state_tuple_type = collections.namedtuple(name, fields)
        self._state_size = self._state_tuple_type(*[self._num_units] * len(fields))

    output_size = property(lambda self: self._output_size)
    state_size = property(lambda self: self._state_size)
    state_tuple_type = property(lambda self: self._state_tuple_type)

    def _bands(self, inputs, offset=0):
        """The bands of each block."""
        width = known_width(inputs)
        if offset > 0:
            inputs = array.pad(inputs, constant([[0, 0], [0, offset]]))
        elif offset < 0:
            inputs, offset = array.pad(inputs, constant([[0, 0], [-offset, 0]])), 0
        starts, ends = [0], [width]
        if self._start_freqindex_list is not None:
            starts, ends = self._start_freqindex_list, self._end_freqindex_list
        counts = len(self._num_frequency_blocks), len(starts), len(ends)
        if len(set(counts)) > 1:
            lists = "num_frequency_blocks, start_freqindex_list and end_freqindex_list"
            raise ValueError(f"{lists} must have an entry for each block: they are for {counts} blocks")
        ranges = zip(starts, ends)
        blocks = []
        for wanted, (start, end) in zip(self._num_frequency_blocks, ranges):
            count = (end - start - self._feature_size) // self._frequency_skip + 1
            if wanted != count:
                sizes = f"feature_size={self._feature_size} and frequency_skip={self._frequency_skip}"
                raise ValueError(f"Invalid num_frequency_blocks {wanted}: {end - start} inputs are {count}, {sizes}")
            begins = [offset + start + i * self._frequency_skip for i in range(count)]
            blocks.append([array.slice_(inputs, [0, begin], [-1, self._feature_size]) for begin in begins])
        return blocks

    def _weights(self, block, depth, dtype):
        """({"f" and "t": (kernel, bias)}, {name: peephole}) of a block; time and frequency may share them."""
        units = self._num_units
        gates = 3 if self._couple_input_forget_gates else 4
        kernels = {}
        for axis in "f" if self._share_time_frequency_weights else "ft":
            shape = [depth + 2 * units, gates * units]
            kernel = sharded_variable(f"W_{axis}_{block}", shape, dtype, self._num_unit_shards)
            zeros = initializers.zeros_initializer()
            bias = scopes.get_variable(f"B_{axis}_{block}", shape=[gates * units], initializer=zeros, dtype=dtype)
            kernels[axis] = kernel, bias
        peepholes = {}
        if self._use_peepholes:
            for axis in ("freq",) if self._share_time_frequency_weights else ("freq", "time"):
                for gate in "IO" if self._couple_input_forget_gates else "FIO":
                    for source in "ft":
                        name = f"{gate}_diag_{axis}{source}"
                        peepholes[name] = scopes.get_variable(f"W_{name}_{block}", shape=[units], dtype=dtype)
        if self._share_time_frequency_weights:
            kernels["t"] = kernels["f"]
            peepholes.update({name.replace("freq", "time"): value for name, value in peepholes.items()})
        return kernels, peepholes

    def _gates(self, values, kernel, bias):
        gates = nn.bias_add(math.matmul(values, kernel), bias)
        if self._couple_input_forget_gates:
            i, j, o = array.split(value=gates, num_or_size_splits=3, axis=1)
            return i, j, None, o
        return array.split(value=gates, num_or_size_splits=4, axis=1)

    def _memory(self, axis, gates, c_freq, c_time, own, peepholes):
        """The new memory along one axis."""
        i, j, f, _ = gates

        def seen(gate, value):
            if not self._use_peepholes:
                return value
            return value + peepholes[f"{gate}_diag_{axis}f"] * c_freq + peepholes[f"{gate}_diag_{axis}t"] * c_time

        input_gate = math.sigmoid(seen("I", i))
        forget = 1.0 - input_gate if self._couple_input_forget_gates else math.sigmoid(seen("F", f + self._forget_bias))
        c = forget * own + input_gate * math.tanh(j)
        return c if self._cell_clip is None else clip_by_value(c, -self._cell_clip, self._cell_clip)

    def _output(self, axis, o, c_freq, c_time, own, peepholes):
        if self._use_peepholes:
            o = o + peepholes[f"O_diag_{axis}f"] * c_freq + peepholes[f"O_diag_{axis}t"] * c_time
        return math.sigmoid(o) * math.tanh(own)

    def _block(self, bands, block, state, batch_size, prefix="state"):
        """(new states, outputs), lists of c and m over time, and of m over time and frequency."""
        units, dtype = self._num_units, bands[0].dtype
        kernels, peepholes = self._weights(block, bands[0].shape.as_list()[1], dtype)
        m_freq, c_freq = array.zeros([batch_size, units]), array.zeros([batch_size, units])
        states, outputs = [], []
        for band, values in enumerate(bands):
            if self._state_is_tuple:
                c_time, m_time = (getattr(state, f"{prefix}_f{band:02d}_b{block:02d}_{part}") for part in "cm")
            else:
                c_time = array.slice_(state, [0, 2 * band * units], [-1, units])
                m_time = array.slice_(state, [0, (2 * band + 1) * units], [-1, units])
            joined = array.concat([values, m_time, m_freq], 1)
            over_freq = self._gates(joined, *kernels["f"])
            over_time = over_freq if self._share_time_frequency_weights else self._gates(joined, *kernels["t"])
            new_freq = self._memory("freq", over_freq, c_freq, c_time, c_freq, peepholes)
            new_time = self._memory("time", over_time, c_freq, c_time, c_time, peepholes)
            m_freq = self._output("freq", over_freq[3], new_freq, new_time, new_freq, peepholes)
            m_time = self._output("time", over_time[3], new_freq, new_time, new_time, peepholes)
            c_freq = new_freq
            states += [new_time, m_time]
            outputs += [m_time, m_freq]
        return states, outputs

    def _blocks(self, blocks, state, batch_size, prefix="state"):
        states, outputs = [], []
        for block, bands in enumerate(blocks):
            new_states, new_outputs = self._block(bands, block, state, batch_size, prefix)
            states += new_states
            outputs += new_outputs
        return states, outputs

    def call(self, inputs, state):
        """One step of all blocks."""
        batch_size = inputs.shape.with_rank(2).size(0) or array.shape(inputs)[0]
        states, outputs = self._blocks(self._bands(inputs), state, batch_size)
        new_state = self._state_tuple_type(*states) if self._state_is_tuple else array.concat(states, 1)
        return array.concat(outputs, 1), new_state


class BidirectionalGridLSTMCell(GridLSTMCell):
    """Grid LSTM that runs over frequency in both directions."""

    @takes(options_of(GridLSTMCell.__init__, ["state_is_tuple", "reuse"]))
    def __init__(self, num_units, *, backward_slice_offset=0, reuse=None, **given):
        super().__init__(num_units, **given, reuse=reuse)
        self._backward_slice_offset = int(backward_slice_offset)

    def _make_sizes(self):
        self._make_tuple("BidirectionalGridLSTMStateTuple", ["fwd_state", "bwd_state"])
        self._output_size = 2 * sum(self._num_frequency_blocks) * self._num_units * 2

    def call(self, inputs, state):
        """One step of all blocks, in both directions."""
        batch_size = inputs.shape.with_rank(2).size(0) or array.shape(inputs)[0]
        forwards = self._bands(inputs)
        backwards = self._bands(inputs, self._backward_slice_offset) if self._backward_slice_offset else forwards
        with scopes.variable_scope("fwd"):
            fwd_states, fwd_outputs = self._blocks(forwards, state, batch_size, "fwd_state")
        with scopes.variable_scope("bwd"):
            bwd_states, bwd_outputs = self._blocks([bands[::-1] for bands in backwards], state, batch_size, "bwd_state")
        return array.concat(fwd_outputs + bwd_outputs, 1), self._state_tuple_type(*fwd_states, *bwd_states)
