"""Decoders unrolled over a list of inputs, which may feed their own output back."""

from __future__ import annotations

import copy

from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import array, math, nn
from everflow.ops import variable_scope as scopes
from everflow.ops.control_flow import cond
from everflow.ops.embedding import embedding_lookup
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


def rnn_decoder(decoder_inputs, initial_state, cell, loop_function=None, scope=None):
    """(outputs, state) of a cell unrolled over inputs; after the first, `loop_function(previous output, i)` replaces them."""
    with scopes.variable_scope(scope or "rnn_decoder"):
        state, outputs, prev = initial_state, [], None
        for i, value in enumerate(decoder_inputs):
            if loop_function is not None and prev is not None:
                with scopes.variable_scope("loop_function", reuse=True):
                    value = loop_function(prev, i)
            if i > 0:
                scopes.get_variable_scope().reuse_variables()
            output, state = cell(value, state)
            outputs.append(output)
            if loop_function is not None:
                prev = output
    return outputs, state


def basic_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, dtype=dtypes.float32, scope=None):
    """An encoder and a decoder of the same kind of cell, with variables of their own."""
    with scopes.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, loop_function=None, dtype=dtypes.float32, scope=None):
    """An encoder and a decoder that share their variables."""
    with scopes.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        scopes.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def embedding_rnn_decoder(decoder_inputs, initial_state, cell, num_symbols, embedding_size, output_projection=None, feed_previous=False,
                          update_embedding_for_previous=True, scope=None):  # fmt: skip
    """A decoder of symbols, which embeds them; with `feed_previous` it reads its own best symbols."""
    with scopes.variable_scope(scope or "embedding_rnn_decoder") as scope:
        if output_projection is not None:
            weights = convert_to_tensor(output_projection[0], dtype=scope.dtype)
            weights.shape.assert_is_compatible_with([None, num_symbols])
            biases = convert_to_tensor(output_projection[1], dtype=scope.dtype)
            biases.shape.assert_is_compatible_with([num_symbols])
        embedding = scopes.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = best_and_embedded(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        # Looked up one by one as the decoder asks for them, inside its scope.
        embedded = (embedding_lookup(embedding, i) for i in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop_function)


def with_feed_previous(feed_previous, decode, decoder_inputs, structure):
    """(outputs, state) of `decode(feed_previous: bool)`, chosen by a boolean tensor when run; `structure()` is a state."""

    def flat(feeds):
        with scopes.variable_scope(scopes.get_variable_scope(), reuse=None if feeds else True):
            outputs, state = decode(feeds)
            return outputs + (nest.flatten(state) if nest.is_sequence(state) else [state])

    results = cond(feed_previous, lambda: flat(True), lambda: flat(False))
    count = len(decoder_inputs)
    states, like = results[count:], structure()
    state = nest.pack_sequence_as(structure=like, flat_sequence=states) if nest.is_sequence(like) else states[0]
    return results[:count], state
