"""Bidirectional layers on top of each other, where each layer reads both directions of the one below."""

from __future__ import annotations

from everflow.ops import array
from everflow.ops.variables import scope as scopes
from everflow.rnn.dynamic import bidirectional_dynamic_rnn
from everflow.rnn.static import static_bidirectional_rnn


def _check(cells_fw, cells_bw, states_fw, states_bw):
    for what, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
        if not cells:
            raise ValueError(f"Must specify at least one {what[-2:]} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(f"{what} must be a list with a cell for each layer, not {cells!r}")
    if len(cells_fw) != len(cells_bw):
        raise ValueError(f"Both ways must have the same depth: {len(cells_fw)} cells_fw, {len(cells_bw)} cells_bw")
    for what, states, cells in (("fw", states_fw, cells_fw), ("bw", states_bw, cells_bw)):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells)):
            raise ValueError(f"initial_states_{what} must be a list of {len(cells)} states, a layer each: {states!r}")


def _stacked(cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope, run):
    """Layer after layer: `run` gives (inputs of the next, state forwards, state backwards) of two cells in their scope."""
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    nothing = [None] * len(cells_fw)
    layers = zip(cells_fw, cells_bw, initial_states_fw or nothing, initial_states_bw or nothing)
    final_states = []
    with scopes.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (cell_fw, cell_bw, state_fw, state_bw) in enumerate(layers):
            with scopes.variable_scope(f"cell_{i}") as cell_scope:
                states = {"initial_state_fw": state_fw, "initial_state_bw": state_bw}
                inputs, *final = run(cell_scope, cell_fw, cell_bw, inputs, **states)
            final_states.append(final)
    return inputs, *zip(*final_states)


def stack_bidirectional_rnn(
    cells_fw,
    cells_bw,
    inputs,
    initial_states_fw=None,
    initial_states_bw=None,
    dtype=None,
    sequence_length=None,
    scope=None,
):
    """(outputs, final states forwards, final states backwards) of unrolled bidirectional layers."""

    def unrolled(cell_scope, *layer, **states):
        given = {"sequence_length": sequence_length, "dtype": dtype, "scope": cell_scope}
        return static_bidirectional_rnn(*layer, **states, **given)

    return _stacked(cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope, unrolled)


def stack_bidirectional_dynamic_rnn(cells_fw, cells_bw, inputs, initial_states_fw=None, initial_states_bw=None, dtype=None,
                                    sequence_length=None, parallel_iterations=None, time_major=False, scope=None, swap_memory=False):  # fmt: skip
    """(outputs, final states forwards, final states backwards) of bidirectional layers run by loops.

    >>> outputs, fw, bw = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(cells_fw, cells_bw, inputs, dtype=tf.float32)
    """
    settings = {"sequence_length": sequence_length, "parallel_iterations": parallel_iterations, "dtype": dtype}

    def by_loops(_, *layer, **states):
        settings.update(swap_memory=swap_memory, time_major=time_major)
        outputs, final = bidirectional_dynamic_rnn(*layer, **states, **settings)
        return array.concat(outputs, 2), *final

    return _stacked(cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope, by_loops)
