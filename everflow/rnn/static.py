"""`static_rnn` and its kin: a cell unrolled over a list of inputs, one copy of its nodes a step."""

from __future__ import annotations

import functools

from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.variables import scope as scopes
from everflow.rnn.dynamic import check_lengths, first_state, rnn_scope, rnn_step, state_dtype, step_of
from everflow.rnn.shapes import concat
from everflow.rnn.wrappers import assert_like_rnncell


def _check_steps(inputs):
    if not nest.is_sequence(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")


def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """(list of outputs, final state) of a cell unrolled over a list of inputs [batch, …], one for each step.

    Args:
        cell: The cell to run at each step.
        inputs: A list of tensors [batch, …].
        initial_state: The state to begin with; zeros if None.
        dtype: The type of the state, where none is given.
        sequence_length: The length of each sequence of the batch; what comes after is zero.
        scope: The variable scope to be in.

    Returns:
        A list of outputs, and the last state.

    Raises:
        TypeError: If `cell` is no RNNCell, or the inputs are no list.

    Example:
        >>> outputs, state = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(4), [tf.ones([2, 3])] * 5, dtype=tf.float32)
        >>> len(outputs), state.shape.as_list()
        (5, [2, 4])
    """
    assert_like_rnncell("cell", cell)
    _check_steps(inputs)
    call, outputs = step_of(cell), []
    with rnn_scope(scope) as varscope:
        first = inputs
        while nest.is_sequence(first):
            first = first[0]
        batch_size = _batch_size(first, inputs)
        state = first_state(cell, initial_state, batch_size, dtype)
        zero_output = shortest = longest = None
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            check_lengths(sequence_length)
            kind = state_dtype(dtype, state)
            zero_output = nest.map_structure(
                lambda size: _zeros(batch_size, size, kind, first.shape.size(0)), cell.output_size
            )
            sequence_length = math.cast(sequence_length, dtypes.int32)
            shortest, longest = math.reduce_min(sequence_length), math.reduce_max(sequence_length)
        for time, value in enumerate(inputs):
            if time > 0:
                varscope.reuse_variables()
            current = state
            if sequence_length is not None:
                lengths, before = (sequence_length, shortest, longest), (zero_output, state)
                computed = functools.partial(call, value, current)
                output, state = rnn_step(time, *lengths, *before, computed, cell.state_size)
            else:
                output, state = call(value, state)
            outputs.append(output)
        return outputs, state


def _batch_size(first, inputs):
    """The batch size: a number where the inputs show it; they must agree, and their other sizes must be known."""
    if first.shape.rank is not None and first.shape.rank != 1:
        batch = first.shape.with_rank_at_least(2).dims[0]
        for i, value in enumerate(nest.flatten(inputs)):
            shape = value.shape
            batch = batch.merge_with(shape.size(0))
            if not shape[1:].is_fully_defined():
                raise ValueError(f"Dimension {i} of an input is not known when the graph is drawn: {shape}")
        fixed = batch.value
    else:
        fixed = first.shape.with_rank_at_least(1).size(0)
    return fixed if fixed else array.shape(first)[0]


def _zeros(batch_size, size, dtype, static_batch):
    zeros = array.zeros(concat(batch_size, size), dtype)
    zeros.set_shape(concat(static_batch, size, static=True))
    return zeros


def static_state_saving_rnn(cell, inputs, state_saver, state_name, sequence_length=None, scope=None):
    """As `static_rnn`, with the state taken from and put back to a saver of long sequences' states.

    Args:
        cell: The cell to run at each step.
        inputs: A list of tensors [batch, …].
        state_saver: An object with `state(name)` and `save_state(name, value)`.
        state_name: The name of the state there, or a tuple of names.
        sequence_length: The length of each sequence of the batch; what comes after is zero.
        scope: The variable scope to be in.

    Returns:
        A list of outputs, and the last state.

    Raises:
        ValueError: If the names don't fit the cell's state.

    Example:
        >>> class Saver:
        ...     def state(self, name):
        ...         return tf.zeros([2, 4])
        ...     def save_state(self, name, value):
        ...         return tf.no_op()
        >>> cell = tf.nn.rnn_cell.GRUCell(4)
        >>> outputs, state = tf.nn.static_state_saving_rnn(cell, [tf.ones([2, 3])], Saver(), "state")
        >>> state.shape.as_list()
        [2, 4]
    """
    state_size = cell.state_size
    if nest.is_sequence(state_size) != nest.is_sequence(state_name):
        raise ValueError(f"state_name must have the structure of the cell's state_size, {state_size}; got {state_name}")
    names, sizes = nest.flatten(state_name), nest.flatten(state_size)
    if len(names) != len(sizes):
        raise ValueError(f"#elems(state_name) != #elems(state_size): {len(names)} vs. {len(sizes)}")
    initial = nest.pack_sequence_as(state_size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, initial_state=initial, sequence_length=sequence_length, scope=scope)
    with control_dependencies([state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state))]):
        last = nest.flatten(outputs[-1])
        outputs[-1] = nest.pack_sequence_as(outputs[-1], [array.identity(o) for o in last])
        state = nest.map_structure(array.identity, state)
    return outputs, state


def static_bidirectional_rnn(
    cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None, sequence_length=None, scope=None
):
    """(outputs, final state forwards, final state backwards) of two unrolled cells, outputs joined in the last axis.

    Args:
        cell_fw: The cell that goes forwards.
        cell_bw: The cell that goes backwards.
        inputs: A list of tensors [batch, …].
        initial_state_fw: The state to begin with, forwards; zeros if None.
        initial_state_bw: The state to begin with, backwards; zeros if None.
        dtype: The type of the states, where none are given.
        sequence_length: The length of each sequence of the batch; what comes after is zero.
        scope: The variable scope to be in.

    Returns:
        A list of outputs, and the two last states.

    Raises:
        TypeError: If a cell is no RNNCell, or the inputs are no list.

    Example:
        >>> cells = [tf.nn.rnn_cell.GRUCell(4) for _ in range(2)]
        >>> outputs, forwards, backwards = tf.nn.static_bidirectional_rnn(*cells, [tf.ones([2, 3])] * 5, dtype=tf.float32)
        >>> outputs[0].shape.as_list()
        [2, 8]
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    _check_steps(inputs)
    with scopes.variable_scope(scope or "bidirectional_rnn"):
        with scopes.variable_scope("fw") as fw_scope:
            output_fw, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=fw_scope)
        with scopes.variable_scope("bw") as bw_scope:
            backwards = _reversed(inputs, sequence_length)
            steps, state_bw = static_rnn(cell_bw, backwards, initial_state_bw, dtype, sequence_length, scope=bw_scope)
    output_bw = _reversed(steps, sequence_length)
    flat = [array.concat([fw, bw], 1) for fw, bw in zip(nest.flatten(output_fw), nest.flatten(output_bw))]
    return nest.pack_sequence_as(output_fw, flat), state_fw, state_bw


def _reversed(values, lengths):
    """A list of steps from the end: of each sequence where lengths are given."""
    if lengths is None:
        return list(reversed(values))
    flat = [nest.flatten(value) for value in values]
    results = [[] for _ in values]
    for sequence in zip(*flat):
        shape = TensorShape(None)
        for step in sequence:
            shape = shape.merge_with(step.shape)
            step.set_shape(shape)
        joined = array.stack(sequence)
        reversed_ = array.reverse_sequence(joined, lengths, 0, 1)
        for result, step in zip(results, array.unstack(reversed_)):
            step.set_shape(shape)
            result.append(step)
    return [nest.pack_sequence_as(value, result) for value, result in zip(values, results)]
