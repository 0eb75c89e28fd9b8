"""`AttentionWrapper`: a cell that reads a memory through attention mechanisms at every step."""

from __future__ import annotations

import collections

from everflow.contrib.framework.tensors import with_same_shape
from everflow.contrib.seq2seq.attention import AttentionMechanism
from everflow.framework import dtypes, nest
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.shapes import TensorShape
from everflow.layers.core import Dense
from everflow.ops import array, math
from everflow.ops.checks.values import assert_equal
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.rnn.cells import RNNCell
from everflow.rnn.shapes import zero_state
from everflow.rnn.wrappers import assert_like_rnncell

_STATE_FIELDS = ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state")


class AttentionWrapperState(collections.namedtuple("AttentionWrapperState", _STATE_FIELDS)):
    """The state of an `AttentionWrapper`: the inner cell's, the last attention, the time, alignments and their history."""

    def clone(self, **kwargs):
        """A copy with some fields replaced, by values of the same shapes.

        >>> start = cell.zero_state(batch, tf.float32).clone(cell_state=encoder_state)
        """

        def checked(old, new):
            return with_same_shape(old, new) if isinstance(old, Tensor) and isinstance(new, Tensor) else new

        return nest.map_structure(checked, self, self._replace(**kwargs))


def _compute_attention(mechanism, cell_output, attention_state, attention_layer):
    """(attention, alignments, next state) of one mechanism."""
    alignments, next_attention_state = mechanism(cell_output, state=attention_state)
    context = math.matmul(array.expand_dims(alignments, 1), mechanism.values)
    context = array.squeeze(context, [1])
    attention = attention_layer(array.concat([cell_output, context], 1)) if attention_layer is not None else context
    return attention, alignments, next_attention_state


def _check_one_each(name, values, mechanisms):
    if len(values) != len(mechanisms):
        raise ValueError(f"{name} must have an entry for each of {len(mechanisms)} mechanisms, not {len(values)}")


class AttentionWrapper(RNNCell):
    """A cell whose input is joined with the last attention, and whose output is the new attention.

    Args:
        cell: The cell.
        attention_mechanism: The attention, or a list of several.
        attention_layer_size: The size of a dense layer over output and context; None for none.
        alignment_history: Whether weights of all steps are kept.
        cell_input_fn: A function of input and attention that gives the cell's input; they are joined if None.
        output_attention: Whether the output is the attention; else that of the cell.
        initial_cell_state: The cell's first state.
        name: The name of its variable scope.
        attention_layer: A layer in place of the dense one.
        attention_fn: A function in place of the usual one.
        dtype: The type of the variables.

    Example:
        >>> attention = tf.contrib.seq2seq.LuongAttention(4, tf.ones([2, 5, 3]))
        >>> cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(4), attention, attention_layer_size=6)
        >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        >>> output.shape.as_list()
        [2, 6]
    """

    def __init__(self, cell, attention_mechanism, attention_layer_size=None, alignment_history=False, cell_input_fn=None,
                 output_attention=True, initial_cell_state=None, name=None, attention_layer=None, attention_fn=None, dtype=None):  # fmt: skip
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = attention_mechanism if self._is_multi else (attention_mechanism,)
        for mechanism in mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(f"attention_mechanism must be AttentionMechanisms, not a {type(mechanism).__name__}")
        if cell_input_fn is None:
            cell_input_fn = lambda inputs, attention: array.concat([inputs, attention], -1)  # noqa: E731
        elif not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be a function of inputs and attention, not {cell_input_fn!r}")
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("attention_layer_size and attention_layer are both given: leave one out")
        self._make_layers(cell, mechanisms, attention_layer_size, attention_layer, dtype)
        self._cell = cell
        self._attention_mechanisms = mechanisms
        self._attention_fn = attention_fn or _compute_attention
        self._cell_input_fn = cell_input_fn
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                last = nest.flatten(initial_cell_state)[-1]
                batch_size = last.shape.size(0) or array.shape(last)[0]
                message = (
                    f"AttentionWrapper {self._base_name}: initial_cell_state has another batch size than the memory. "
                    "For a BeamSearchDecoder, repeat the state: tf.contrib.seq2seq.tile_batch(state, beam_width)."
                )
                name = "check_initial_cell_state"
                self._initial_cell_state = self._checked(initial_cell_state, batch_size, message, name)

    def _make_layers(self, cell, mechanisms, attention_layer_size, attention_layer, dtype):
        """The layers from (output, context) to attention, one for each mechanism, and the sum of their sizes."""
        if attention_layer_size is not None:
            sizes = attention_layer_size
            sizes = tuple(sizes if isinstance(sizes, (list, tuple)) else (sizes,))
            _check_one_each("attention_layer_size", sizes, mechanisms)
            settings = {"name": "attention_layer", "use_bias": False, "dtype": dtype}
            self._attention_layers = tuple(Dense(size, **settings) for size in sizes)
            self._attention_layer_size = sum(sizes)
        elif attention_layer is not None:
            several = isinstance(attention_layer, (list, tuple))
            self._attention_layers = tuple(attention_layer if several else (attention_layer,))
            _check_one_each("attention_layer", self._attention_layers, mechanisms)
            self._attention_layer_size = sum(
                TensorShape(layer.compute_output_shape([None, cell.output_size + mechanism.values.shape.size(-1)]))[
                    -1
                ].value
                for layer, mechanism in zip(self._attention_layers, mechanisms)
            )
        else:
            self._attention_layers = None
            self._attention_layer_size = sum(mechanism.values.shape.size(-1) for mechanism in mechanisms)

    def _batch_size_checks(self, batch_size, error_message):
        return [assert_equal(batch_size, m.batch_size, message=error_message) for m in self._attention_mechanisms]

    def _checked(self, values, batch_size, message, name):
        """The values themselves, once all memories are known to have entries for so many sequences."""
        with control_dependencies(self._batch_size_checks(batch_size, message)):
            return nest.map_structure(lambda value: array.identity(value, name=name), values)

    def _item_or_tuple(self, values):
        """The values as a tuple, or the only one where one mechanism was given."""
        values = tuple(values)
        return values if self._is_multi else values[0]

    @property
    def output_size(self):
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self):
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(m.alignments_size for m in self._attention_mechanisms),
            attention_state=self._item_or_tuple(m.state_size for m in self._attention_mechanisms),
            alignment_history=self._item_or_tuple(
                m.alignments_size if self._alignment_history else () for m in self._attention_mechanisms
            ),
        )

    def zero_state(self, batch_size, dtype):
        """The state to start with: the inner cell's (or the one given), and no attention."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._initial_cell_state is not None:
                cell_state = self._initial_cell_state
            else:
                cell_state = self._cell.zero_state(batch_size, dtype)
            message = (
                f"AttentionWrapper {self._base_name}: zero_state is asked for another batch size than the memory has. "
                "For a BeamSearchDecoder, repeat the memory, tf.contrib.seq2seq.tile_batch(memory, beam_width), and "
                "ask for batch_size * beam_width."
            )
            cell_state = self._checked(cell_state, batch_size, message, "checked_cell_state")
            alignments = [m.initial_alignments(batch_size, dtype) for m in self._attention_mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=array.zeros([], dtype=dtypes.int32),
                attention=zero_state(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    m.initial_state(batch_size, dtype) for m in self._attention_mechanisms
                ),
                alignment_history=self._item_or_tuple(
                    TensorArray(dtype, size=0, dynamic_size=True, element_shape=a.shape)
                    if self._alignment_history
                    else ()
                    for a in alignments
                ),
            )

    def call(self, inputs, state):
        """One step of the cell and its attention."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(f"The state must be an AttentionWrapperState, by zero_state, not a {type(state).__name__}")
        cell_output, next_cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        batch_size = cell_output.shape.size(0) or array.shape(cell_output)[0]
        message = (
            f"AttentionWrapper {self.name}: the query has another batch size than the memory. For a BeamSearchDecoder, "
            "repeat the memory: tf.contrib.seq2seq.tile_batch(memory, beam_width)."
        )
        cell_output = self._checked(cell_output, batch_size, message, "checked_cell_output")
        previous = state.attention_state if self._is_multi else [state.attention_state]
        history = state.alignment_history if self._is_multi else [state.alignment_history]
        attentions, alignments, states, histories = [], [], [], []
        for i, mechanism in enumerate(self._attention_mechanisms):
            layer = self._attention_layers[i] if self._attention_layers else None
            attention, alignment, next_state = self._attention_fn(mechanism, cell_output, previous[i], layer)
            histories.append(history[i].write(state.time, alignment) if self._alignment_history else ())
            attentions.append(attention)
            alignments.append(alignment)
            states.append(next_state)
        attention = array.concat(attentions, 1)
        attended = {"attention_state": states, "alignments": alignments, "alignment_history": histories}
        attended = {name: self._item_or_tuple(values) for name, values in attended.items()}
        next_state = AttentionWrapperState(next_cell_state, attention, state.time + 1, **attended)
        return (attention if self._output_attention else cell_output), next_state
