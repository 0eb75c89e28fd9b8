"""Fused cells, which run a whole sequence at once: the base class, one made of any cell, and one that runs backwards."""

from __future__ import annotations

import abc

from everflow.ops import array
from everflow.rnn.dynamic import dynamic_rnn
from everflow.rnn.static import static_rnn


class FusedRNNCell(abc.ABC):
    """Runs a sequence, time first: `cell(inputs, initial_state, dtype, sequence_length)` gives (outputs, state)."""

    @abc.abstractmethod
    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        raise NotImplementedError


class FusedRNNCellAdaptor(FusedRNNCell):
    """Any cell as a fused one: unrolled, or by `dynamic_rnn`."""

    def __init__(self, cell, use_dynamic_rnn=False):
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        is_list = isinstance(inputs, list)
        shared = {"initial_state": initial_state, "dtype": dtype, "sequence_length": sequence_length, "scope": scope}
        if self._use_dynamic_rnn:
            if is_list:
                inputs = array.stack(inputs)
            outputs, state = dynamic_rnn(self._cell, inputs, time_major=True, **shared)
            return (array.unstack(outputs) if is_list else outputs), state
        if not is_list:
            inputs = array.unstack(inputs)
        outputs, state = static_rnn(self._cell, inputs, **shared)
        return (outputs if is_list else array.stack(outputs)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell run from the end of each sequence; outputs are in the order of the inputs.

    >>> backwards = tf.contrib.rnn.TimeReversedFusedRNN(tf.contrib.rnn.LSTMBlockFusedCell(128))
    """

    def __init__(self, cell):
        self._cell = cell

    @staticmethod
    def _reversed(values, lengths):
        if isinstance(values, list):
            return list(reversed(values))
        return array.reverse(values, [0]) if lengths is None else array.reverse_sequence(values, lengths, 0, 1)

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        inputs = self._reversed(inputs, sequence_length)
        given = {"initial_state": initial_state, "dtype": dtype, "sequence_length": sequence_length}
        outputs, state = self._cell(inputs, **given, scope=scope)
        return self._reversed(outputs, sequence_length), state
