"""Recurrent networks of the cells of `tf.nn.rnn_cell`, with the arguments that `functional_rnn` has."""

from __future__ import annotations

from everflow.ops import array
from everflow.ops.variables.scope import variable_scope
from everflow.rnn import bidirectional_dynamic_rnn, dynamic_rnn


def functional_rnn(
    cell,
    inputs,
    sequence_length=None,
    initial_state=None,
    dtype=None,
    time_major=False,
    scope=None,
    use_tpu=False,
    reverse=False,
):
    """(outputs, last state) of a cell over inputs.

    With `reverse` it goes from the last input to the first, and shorter sequences begin with what fills them up.
    """
    if dtype is None and initial_state is None:
        raise TypeError("Give the dtype, or an initial_state that has one")
    given = {"initial_state": initial_state, "dtype": dtype, "time_major": time_major, "scope": scope}
    if not reverse:
        return dynamic_rnn(cell, inputs, sequence_length=sequence_length, **given)
    time = 0 if time_major else 1
    outputs, state = dynamic_rnn(cell, array.reverse(inputs, [time]), **given)
    outputs = array.reverse(outputs, [time])
    if sequence_length is None:
        return outputs, state
    there = array.sequence_mask(sequence_length, array.shape(outputs)[time], dtype=outputs.dtype)
    there = array.transpose(there) if time_major else there
    return outputs * array.expand_dims(there, -1), state


def bidirectional_functional_rnn(
    cell_fw,
    cell_bw,
    inputs,
    initial_state_fw=None,
    initial_state_bw=None,
    dtype=None,
    sequence_length=None,
    time_major=False,
    use_tpu=False,
    fast_reverse=False,
    scope=None,
):
    """((outputs forwards, outputs backwards), (last state of each)) of two cells.

    With `fast_reverse`, shorter sequences are turned with what fills them up.
    """
    if not fast_reverse or sequence_length is None:
        given = {"initial_state_fw": initial_state_fw, "initial_state_bw": initial_state_bw, "dtype": dtype}
        return bidirectional_dynamic_rnn(
            cell_fw, cell_bw, inputs, sequence_length=sequence_length, time_major=time_major, scope=scope, **given
        )
    with variable_scope(scope, "bidirectional_rnn"):
        shared = {"dtype": dtype, "time_major": time_major}
        forwards = functional_rnn(cell_fw, inputs, sequence_length, initial_state_fw, scope="fw", **shared)
        backwards = functional_rnn(
            cell_bw, inputs, sequence_length, initial_state_bw, scope="bw", reverse=True, **shared
        )
    return tuple(zip(forwards, backwards))
