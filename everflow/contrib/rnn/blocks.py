"""Cells made of one op a step (LSTMBlockCell, GRUBlockCell) or one for a whole sequence (LSTMBlockFusedCell)."""

from __future__ import annotations

import abc

from everflow.contrib.framework.kept_arguments import keep
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.keras.engine.input_spec import InputSpec
from everflow.layers.base import Layer
from everflow.ops import array, math
from everflow.ops.variables import initializers
from everflow.rnn.cells import LayerRNNCell, LSTMStateTuple

_PEEPHOLES = ("w_i_diag", "w_f_diag", "w_o_diag")


def _build_lstm(layer, inputs_shape):
    """The variables of an LSTM block, in the order the op takes them."""
    units, depth = layer._num_units, inputs_shape.size(-1)
    layer._kernel = layer.add_variable("kernel", [depth + units, 4 * units])
    layer._bias = layer.add_variable("bias", [4 * units], initializer=initializers.constant_initializer(0.0))
    if layer._use_peephole:
        layer._peepholes = [layer.add_variable(name, [units]) for name in _PEEPHOLES]
    layer.built = True


def _lstm_arguments(layer, inputs, cs_before, h_before, dtype):
    """What the ops of LSTM blocks take, of a layer and its inputs and state."""
    peepholes = layer._peepholes if layer._use_peephole else [array.zeros([layer._num_units], dtype=dtype)] * 3
    weights = {"w": layer._kernel, "b": layer._bias, **dict(zip(("wci", "wcf", "wco"), peepholes))}
    settings = {name: getattr(layer, f"_{name}") for name in ("forget_bias", "cell_clip", "use_peephole")}
    return {"x": inputs, "cs_prev": cs_before, "h_prev": h_before, **weights, **settings}


class LSTMBlockCell(LayerRNNCell):
    """LSTM of one op a step; variables as those of `LSTMCell`, so that checkpoints fit both.

    >>> cell = tf.contrib.rnn.LSTMBlockCell(128, use_peephole=True)
    """

    def __init__(
        self, num_units, forget_bias=1.0, cell_clip=None, use_peephole=False, dtype=None, reuse=None, name="lstm_cell"
    ):
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        keep(self, locals())
        self._cell_clip = cell_clip if cell_clip is not None else -1
        self.input_spec = InputSpec(ndim=2)

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))
    output_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        if inputs_shape.size(-1) is None:
            raise ValueError(f"Expecting inputs_shape[{inputs_shape.rank - 1}] to be set: {inputs_shape}")
        _build_lstm(self, inputs_shape)

    def call(self, inputs, state):
        """One step of the LSTM."""
        if len(state) != 2:
            raise ValueError(f"The state must be a pair, (c, h), not {state!r}")
        arguments = _lstm_arguments(self, inputs, *state, self.dtype)
        _, cs, _, _, _, _, h = raw.LSTMBlockCell(**arguments, name="LSTMBlockCell")
        return h, LSTMStateTuple(cs, h)


class GRUBlockCell(LayerRNNCell):
    """GRU of one op a step; its variables are named w_ru, b_ru, w_c and b_c."""

    _NAMES = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(self, num_units=None, cell_size=None, reuse=None, name="gru_cell"):
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("GRUBlockCell takes num_units, or cell_size, its old name: one of them")
        self._cell_size = cell_size if num_units is None else num_units
        self.input_spec = InputSpec(ndim=2)

    state_size = property(lambda self: self._cell_size)
    output_size = property(lambda self: self._cell_size)

    def build(self, input_shape):
        depth, units = input_shape.size(1), self._cell_size
        if depth is None:
            raise ValueError(f"Expecting input_shape[1] to be set: {input_shape}")
        w_ru, b_ru, w_c, b_c = self._NAMES
        self._gate_kernel = self.add_variable(w_ru, [depth + units, 2 * units])
        self._gate_bias = self.add_variable(b_ru, [2 * units], initializer=initializers.constant_initializer(1.0))
        self._candidate_kernel = self.add_variable(w_c, [depth + units, units])
        self._candidate_bias = self.add_variable(b_c, [units], initializer=initializers.constant_initializer(0.0))
        self.built = True

    def call(self, inputs, h_prev):
        """One step of the gated recurrent unit."""
        gates = {"w_ru": self._gate_kernel, "b_ru": self._gate_bias}
        candidate = {"w_c": self._candidate_kernel, "b_c": self._candidate_bias}
        _, _, _, new_h = raw.GRUBlockCell(x=inputs, h_prev=h_prev, **gates, **candidate, name="GRUBlockCell")
        return new_h, new_h


class GRUBlockCellV2(GRUBlockCell):
    """GRU of one op a step, with variables as those of `GRUCell`, so that checkpoints fit both."""

    _NAMES = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")


class LSTMBlockWrapper(Layer, abc.ABC):
    """Base of LSTMs that run a whole sequence [time, batch, depth]; kinds have `_call_cell` and `num_units`."""

    @property
    @abc.abstractmethod
    def num_units(self):
        """The number of units."""
        raise NotImplementedError

    @abc.abstractmethod
    def _call_cell(self, inputs, initial_cell_state, initial_output, dtype, sequence_length):
        """(memories, outputs) of all steps."""
        raise NotImplementedError

    def call(self, inputs, initial_state=None, dtype=None, sequence_length=None):
        """(outputs, final state) of a sequence, or of a list of steps."""
        is_list = isinstance(inputs, list)
        if is_list:
            inputs = array.stack(inputs)
        shape = inputs.shape.with_rank(3)
        if shape.size(2) is None:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {shape}")
        batch_size = shape.size(1) or array.shape(inputs)[1]
        steps = shape.size(0) or array.shape(inputs)[0]
        if initial_state is None:
            if dtype is None:
                raise ValueError("Without an initial_state a dtype must be given, for zeros to start with")
            zeros = array.zeros(array.stack([batch_size, self.num_units]), dtype=dtype)
            initial_state = zeros, zeros
        else:
            if len(initial_state) != 2:
                raise ValueError(f"initial_state must be a pair, (c, h), or None, not {initial_state!r}")
            if dtype is None:
                dtype = initial_state[0].dtype
        initial_cell_state, initial_output = initial_state
        if sequence_length is not None:
            sequence_length = math.cast(convert_to_tensor(sequence_length), dtypes.int32)
        cell_states, outputs = self._call_cell(inputs, initial_cell_state, initial_output, dtype, sequence_length)
        if sequence_length is not None:
            mask = array.transpose(array.sequence_mask(sequence_length, steps, dtype=dtype), [1, 0])
            outputs *= array.tile(array.expand_dims(mask, [-1]), [1, 1, self.num_units])
            all_states = array.concat([array.expand_dims(initial_cell_state, [0]), cell_states], 0)
            all_outputs = array.concat([array.expand_dims(initial_output, [0]), outputs], 0)
            last = (self._at(values, sequence_length, batch_size) for values in (all_states, all_outputs))
            final_state = LSTMStateTuple(*last)
        else:
            final_state = LSTMStateTuple(cell_states[-1], outputs[-1])
        if is_list:
            outputs = array.unstack(outputs)
        return outputs, final_state

    @staticmethod
    def _at(values, steps, batch_size):
        """What was there after each sequence's last step."""
        return array.gather_nd(values, array.stack([steps, math.range(batch_size)], axis=1))


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """LSTM that runs a whole sequence [time, batch, depth] as one op.

    >>> outputs, state = tf.contrib.rnn.LSTMBlockFusedCell(128)(inputs, dtype=tf.float32, sequence_length=lengths)
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        cell_clip=None,
        use_peephole=False,
        reuse=None,
        dtype=None,
        name="lstm_fused_cell",
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        keep(self, locals())
        self._cell_clip = cell_clip if cell_clip is not None else -1
        self.input_spec = InputSpec(ndim=3)

    num_units = property(lambda self: self._num_units)

    def build(self, input_shape):
        if input_shape.size(-1) is None:
            raise TypeError(f"The last dimension of the inputs must be known to make weights for it: {input_shape}")
        _build_lstm(self, input_shape)

    def _call_cell(self, inputs, initial_cell_state=None, initial_output=None, dtype=None, sequence_length=None):
        steps = inputs.shape.size(0) or array.shape(inputs)[0]
        arguments = _lstm_arguments(self, inputs, initial_cell_state, initial_output, dtype)
        longest = steps if sequence_length is None else math.reduce_max(sequence_length)
        _, cs, _, _, _, _, h = raw.BlockLSTM(seq_len_max=math.cast(longest, dtypes.int64), **arguments)
        return cs, h
