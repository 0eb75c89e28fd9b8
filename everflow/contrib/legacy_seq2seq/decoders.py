"""Decoders unrolled over a list of inputs, which may feed their own output back."""

from __future__ import annotations

import copy

from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import array, math
from everflow.ops.control_flow import cond
from everflow.ops.nn import activations as nn
from everflow.ops.nn.embedding import embedding_lookup
from everflow.ops.variables import scope as scopes
from everflow.rnn.static import static_rnn


def best_and_embedded(embedding, output_projection=None, update_embedding=True):
    """A loop function: the embedding of the best symbol of the previous output."""

    def loop_function(prev, _):
        if output_projection is not None:
            prev = nn.xw_plus_b(prev, output_projection[0], output_projection[1])
        embedded = embedding_lookup(embedding, math.argmax(prev, 1))
        # Otherwise gradients flow into the embedding from decoded symbols too.
        return embedded if update_embedding else array.stop_gradient(embedded)

    return loop_function


def check_projection(output_projection, num_symbols, dtype):
    """Raise where weights and biases of a projection, if there is one, don't give `num_symbols`."""
    if output_projection is not None:
        for value, shape in zip(output_projection, ([None, num_symbols], [num_symbols])):
            convert_to_tensor(value, dtype=dtype).shape.assert_is_compatible_with(shape)


def rnn_decoder(decoder_inputs, initial_state, cell, loop_function=None, scope=None):
    """(outputs, state) of a cell unrolled over inputs; `loop_function(output, i)` replaces them after the first."""
    outputs, state = [], initial_state
    with scopes.variable_scope(scope or "rnn_decoder"):
        for value in decoder_inputs:
            output, state = cell(step_input(value, outputs, loop_function), state)
            outputs.append(output)
    return outputs, state


def step_input(given, outputs, loop_function):
    """What a step reads after those that gave `outputs`, all with the variables of the first one."""
    if not outputs:
        return given
    scopes.get_variable_scope().reuse_variables()
    if loop_function is None:
        return given
    with scopes.variable_scope("loop_function", reuse=True):
        return loop_function(outputs[-1], len(outputs))


def basic_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, dtype=dtypes.float32, scope=None):
    """An encoder and a decoder of the same kind of cell, with variables of their own."""
    with scopes.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, loop_function=None, dtype=dtypes.float32, scope=None):
    """An encoder and a decoder that share their variables."""
    inner = scope or "tied_rnn_seq2seq"
    with scopes.variable_scope("combined_tied_rnn_seq2seq") as shared:
        state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=inner)[1]
        shared.reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function, inner)


def embedding_rnn_decoder(decoder_inputs, initial_state, cell, num_symbols, embedding_size, output_projection=None, feed_previous=False,
                          update_embedding_for_previous=True, scope=None):  # fmt: skip
    """A decoder of symbols, which embeds them; with `feed_previous` it reads its own best symbols."""
    with scopes.variable_scope(scope or "embedding_rnn_decoder") as scope:
        check_projection(output_projection, num_symbols, scope.dtype)
        embedding = scopes.get_variable("embedding", [num_symbols, embedding_size])
        updates = update_embedding_for_previous
        loop_function = best_and_embedded(embedding, output_projection, updates) if feed_previous else None
        # Looked up one by one as the decoder asks for them, inside its scope.
        embedded = (embedding_lookup(embedding, i) for i in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop_function)


def with_feed_previous(feed_previous, decode, decoder_inputs, structure):
    """(outputs, state) of `decode(feeds, updates_embedding)`; if a tensor chooses when run, `structure()` is a state."""
    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)

    def flat(feeds):
        with scopes.variable_scope(scopes.get_variable_scope(), reuse=None if feeds else True):
            outputs, state = decode(feeds, False)
            return outputs + (nest.flatten(state) if nest.is_sequence(state) else [state])

    results = cond(feed_previous, lambda: flat(True), lambda: flat(False))
    count = len(decoder_inputs)
    states, like = results[count:], structure()
    state = nest.pack_sequence_as(structure=like, flat_sequence=states) if nest.is_sequence(like) else states[0]
    return results[:count], state
