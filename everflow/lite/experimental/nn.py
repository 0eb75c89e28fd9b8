"""tf.lite.experimental.nn: recurrent cells that become one op of TensorFlow Lite when they are converted."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape
from everflow.keras import activations
from everflow.keras.engine.input_spec import InputSpec
from everflow.lite.op_hints import OpHint
from everflow.ops import array, math
from everflow.ops.control_flow.switches import control_flow_v2_enabled
from everflow.ops.math import clip
from everflow.ops.nn import activations as nn
from everflow.ops.variables import initializers
from everflow.platform.signatures import constructor, parameters_of
from everflow.rnn import dynamic
from everflow.rnn.cells import LayerRNNCell, LSTMCell, LSTMStateTuple, lstm_settings


class TfLiteRNNCell(LayerRNNCell):
    """A plain recurrent cell, `activation(W * input + U * state + b)`: an unrolled loop is converted to one op.

    >>> cell = tf.lite.experimental.nn.TfLiteRNNCell(16)
    >>> outputs, _ = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
    """

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activations.get(activation) if activation else math.tanh
        self._hint = OpHint("UnidirectionalSequenceRnn", activation=getattr(self._activation, "__name__", ""))

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        depth = TensorShape(inputs_shape).as_list()[-1]
        if depth is None:
            raise ValueError(f"The last dimension of a cell's inputs has to be known; their shape is {inputs_shape}.")

        def weights(name, place, shape, initializer=None):
            weight = self.add_weight(name, shape=shape, initializer=initializer)
            return self._hint.add_input(weight, name=name, index_override=place)

        self._input_weights = weights("input_weights", 1, [self._num_units, depth])
        self._recurrent_weights = weights("recurrent_weights", 2, [self._num_units, self._num_units])
        zeros = initializers.zeros_initializer(dtype=dtypes.as_dtype(self.dtype or dtypes.float32))
        self._bias = weights("bias", 3, [self._num_units], zeros)
        self.built = True

    def call(self, inputs, state):
        """One step."""
        first = {"tag": "input", "name": "input", "index_override": 0}
        inputs = self._hint.add_input(inputs, aggregate=OpHint.AGGREGATE_STACK, **first)
        hidden = {"tag": "hidden_state", "name": "hidden_state", "index_override": 4}
        state = self._hint.add_input(state, aggregate=OpHint.AGGREGATE_FIRST, **hidden)
        weights = array.transpose(array.concat([self._input_weights, self._recurrent_weights], 1))
        output = self._activation(nn.bias_add(math.matmul(array.concat([inputs, state], 1), weights), self._bias))
        last = {"tag": "output", "name": "output", "index_override": 1}
        output = self._hint.add_output(output, aggregate=OpHint.AGGREGATE_STACK, **last)
        return output, output

    def get_config(self):
        mine = {"num_units": self._num_units, "activation": activations.serialize(self._activation)}
        mine["reuse"] = self._reuse
        return {**super().get_config(), **mine}


class TFLiteLSTMCell(LayerRNNCell):
    """An LSTM with weights as TensorFlow Lite lays them out: an unrolled loop is converted to one op.

    >>> cell = tf.lite.experimental.nn.TFLiteLSTMCell(16)
    >>> outputs, _ = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
    """

    def _start(self, *, activation, reuse, name, dtype, **given):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self.input_spec = InputSpec(ndim=2)
        for parameter, value in given.items():
            setattr(self, f"_{parameter}", value)
        self._activation = activation or math.tanh
        known = {"activation": getattr(self._activation, "__name__", "")}
        known.update(cell_clip=given["cell_clip"], proj_clip=given["proj_clip"])
        self._hint = OpHint("UnidirectionalSequenceLstm", **known)

    __init__ = constructor(parameters_of(LSTMCell.__init__, ("**kwargs",)), _start)

    output_size = property(lambda self: self._num_proj or self._num_units)

    @property
    def state_size(self):
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    def build(self, inputs_shape):
        depth = TensorShape(inputs_shape).as_list()[-1]
        if depth is None:
            raise ValueError(f"Invalid inputs_shape, saw shape: {inputs_shape}")
        units = self._num_units
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        zeros = initializers.zeros_initializer(dtype=dtype)
        first = initializers.constant_initializer(self._forget_bias, dtype=dtype)

        # Name, place among the op's inputs, shape, initializer.
        table = [
            (f"input_to_{gate}_w", i, [units, depth], self._initializer)
            for i, gate in enumerate(("input", "forget", "cell", "output"), 1)
        ]
        table += [
            (f"cell_to_{gate}_w", i, [units, self.output_size], self._initializer)
            for i, gate in enumerate(("input", "forget", "cell", "output"), 5)
        ]
        table += [
            ("input_bias", 12, [units], zeros),
            ("forget_bias", 13, [units], first),
            ("cell_bias", 14, [units], zeros),
            ("output_bias", 15, [units], zeros),
        ]
        if self._use_peepholes:
            table += [
                ("w_f_diag", 10, [units], self._initializer),
                ("w_i_diag", 9, [units], self._initializer),
                ("w_o_diag", 11, [units], self._initializer),
            ]
        if self._num_proj is not None:
            table += [("projection/kernel", 16, [self._num_proj, units], self._initializer)]
        self._weights = {}
        for name, place, shape, initializer in table:
            variable = self.add_weight(name, shape=shape, initializer=initializer)
            self._weights[name] = self._hint.add_input(variable, name=name, index_override=place)
        self.built = True

    def call(self, inputs, state):
        """One step."""
        hint, weights = self._hint, self._weights
        inputs = hint.add_input(inputs, tag="input", name="input", aggregate=OpHint.AGGREGATE_STACK, index_override=0)
        if self._state_is_tuple:
            c_before, h_before = state
        else:
            c_before = array.slice_(state, [0, 0], [-1, self._num_units])
            h_before = array.slice_(state, [0, self._num_units], [-1, self.output_size])
        c_before = hint.add_input(
            c_before, tag="c_prev", name="c_prev", aggregate=OpHint.AGGREGATE_FIRST, index_override=19
        )
        h_before = hint.add_input(
            h_before, tag="m_prev", name="m_prev", aggregate=OpHint.AGGREGATE_FIRST, index_override=18
        )
        together = array.concat([inputs, h_before], 1)

        def gate(name):
            matrix = array.concat([weights[f"input_to_{name}_w"], weights[f"cell_to_{name}_w"]], 1)
            return nn.bias_add(math.matmul(together, matrix, transpose_b=True), weights[f"{name}_bias"])

        def peep(value, name, cell):
            return value + weights[name] * cell if self._use_peepholes else value

        take, forget, output, new = (gate(name) for name in ("input", "forget", "output", "cell"))
        kept = math.sigmoid(peep(forget, "w_f_diag", c_before)) * c_before
        c = kept + math.sigmoid(peep(take, "w_i_diag", c_before)) * self._activation(new)
        if self._cell_clip is not None:
            c = clip.clip_by_value(c, -self._cell_clip, self._cell_clip)
        h = math.sigmoid(peep(output, "w_o_diag", c)) * self._activation(c)
        if self._num_proj is not None:
            h = math.matmul(h, array.transpose(weights["projection/kernel"]))
            if self._proj_clip is not None:
                h = clip.clip_by_value(h, -self._proj_clip, self._proj_clip)
        c = hint.add_output(c, tag="c", name="c", aggregate=OpHint.AGGREGATE_LAST, index_override=1)
        h = hint.add_output(h, tag="m", name="m", aggregate=OpHint.AGGREGATE_STACK, index_override=2)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else array.concat([c, h], 1)

    def get_config(self):
        return {**super().get_config(), **lstm_settings(self)}


# The loop around a cell takes what the first cell takes, gives what the last one gives, and each cell goes on with what
# the one before it gave.
_AROUND_CELLS = {
    "parent_first_child_input": [{"parent_ophint_input_index": 0, "first_child_ophint_input_index": 0}],
    "parent_last_child_output": [{"parent_output_index": 0, "child_output_index": -1}],
    "internal_children_input_output": [{"child_input_index": 0, "child_output_index": -1}],
}


def dynamic_rnn(
    cell,
    inputs,
    sequence_length=None,
    initial_state=None,
    dtype=None,
    parallel_iterations=None,
    swap_memory=False,
    time_major=True,
    scope=None,
):
    """`tf.nn.dynamic_rnn` with a hint around the loop: with cells of this module it is converted to one op a layer.

    Args:
        cell: The cell to run at each step: those of this module are converted.
        inputs: The sequences, [time, batch, ...].
        sequence_length: The length of each sequence of the batch; what comes after is zero.
        initial_state: The state to begin with; zeros if None.
        dtype: The type of the state, where none is given.
        parallel_iterations: How many rounds may be under way at the same time; 32 if None.
        swap_memory: Whether values kept for the gradient may move to the host's memory; memory is the host's already.
        time_major: Whether the first axis is time; it has to be.
        scope: The variable scope to be in.

    Returns:
        The outputs [time, batch, units], and the last state.

    Raises:
        AssertionError: If `time_major` is False.
        RuntimeError: If loops are not drawn as functions: see `tf.enable_control_flow_v2`.
        TypeError: If `cell` is no RNNCell.
        ValueError: If the inputs' last dimension isn't known, or neither state nor dtype is given.

    Example:
        >>> tf.enable_control_flow_v2()
        >>> cell = tf.lite.experimental.nn.TfLiteRNNCell(4)
        >>> outputs, state = tf.lite.experimental.nn.dynamic_rnn(cell, tf.ones([5, 2, 3]), dtype=tf.float32)
        >>> outputs.shape.as_list()
        [5, 2, 4]
        >>> tf.disable_control_flow_v2()
    """
    dynamic.assert_like_rnncell("cell", cell)
    if not time_major:
        raise AssertionError(
            "TensorFlow Lite runs cells over inputs whose first axis is time: time_major must be True."
        )
    if not control_flow_v2_enabled():
        raise RuntimeError("A loop with hints is drawn as a function: call tf.enable_control_flow_v2() first.")
    hint = OpHint("TfLiteDynamicRnn", level=2, children_inputs_mappings=_AROUND_CELLS)
    marks = {
        "mark_inputs": lambda x: hint.add_input(x, name="input"),
        "mark_outputs": lambda x: hint.add_output(x, name="outputs"),
    }
    given = {"sequence_length": sequence_length, "initial_state": initial_state, "dtype": dtype, "time_major": True}
    loop = {"parallel_iterations": parallel_iterations, "swap_memory": swap_memory, "scope": scope}
    return dynamic.run_over_time(cell, inputs, **given, **loop, **marks)
