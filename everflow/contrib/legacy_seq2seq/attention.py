"""Unrolled decoders with attention over the encoder's outputs."""

from __future__ import annotations

import copy

from everflow.contrib.legacy_seq2seq.decoders import best_and_embedded, step_input, with_feed_previous
from everflow.contrib.rnn.linear import Linear
from everflow.contrib.rnn.wrappers import EmbeddingWrapper, OutputProjectionWrapper
from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import array, math
from everflow.ops.nn import activations as nn
from everflow.ops.nn.convolution import conv2d
from everflow.ops.nn.embedding import embedding_lookup
from everflow.ops.variables import scope as scopes
from everflow.platform.signatures import inserted, takes
from everflow.rnn.static import static_rnn


class _Attention:
    """Heads of attention over states [batch, length, size], with variables AttnW_i and AttnV_i each."""

    def __init__(self, states, heads, dtype):
        self._length = states.shape.size(1)
        if self._length is None:
            self._length = array.shape(states)[1]
        self.size = states.shape.size(2)
        self._dtype = dtype
        self._hidden = array.reshape(states, [-1, self._length, 1, self.size])
        self._features, self._vectors = [], []
        for head in range(heads):
            kernel = scopes.get_variable(f"AttnW_{head}", [1, 1, self.size, self.size], dtype=dtype)
            self._features.append(conv2d(self._hidden, kernel, [1, 1, 1, 1], "SAME"))
            self._vectors.append(scopes.get_variable(f"AttnV_{head}", [self.size], dtype=dtype))

    def __call__(self, query):
        """What each head attends to."""
        if nest.is_sequence(query):
            parts = nest.flatten(query)
            for part in parts:
                if part.shape.rank not in (None, 2):
                    raise ValueError(f"Expected the state's parts to be matrices, saw shape: {part.shape}")
            query = array.concat(parts, 1)
        results = []
        for head, (features, vector) in enumerate(zip(self._features, self._vectors)):
            with scopes.variable_scope(f"Attention_{head}"):
                y = Linear(query, self.size, True)(query)
                y = math.cast(array.reshape(y, [-1, 1, 1, self.size]), self._dtype)
                score = math.reduce_sum(vector * math.tanh(features + y), [2, 3])
                weights = math.cast(nn.softmax(math.cast(score, dtypes.float32)), self._dtype)
                attended = math.reduce_sum(array.reshape(weights, [-1, self._length, 1, 1]) * self._hidden, [1, 2])
                results.append(array.reshape(attended, [-1, self.size]))
        return results


def attention_decoder(
    decoder_inputs,
    initial_state,
    attention_states,
    cell,
    output_size=None,
    num_heads=1,
    loop_function=None,
    dtype=None,
    scope=None,
    initial_state_attention=False,
):
    """(outputs, state) of an unrolled decoder that attends to states [batch, length, size] at every step."""
    if not decoder_inputs:
        raise ValueError("decoder_inputs is empty: a decoder is unrolled over at least 1 input")
    if num_heads < 1:
        raise ValueError(f"num_heads={num_heads}: without attention, take rnn_decoder")
    if attention_states.shape.size(2) is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    if output_size is None:
        output_size = cell.output_size
    with scopes.variable_scope(scope or "attention_decoder", dtype=dtype) as scope:
        dtype = scope.dtype
        batch_size = array.shape(decoder_inputs[0])[0]
        attention = _Attention(attention_states, num_heads, dtype)
        state, outputs = initial_state, []
        shape = array.stack([batch_size, attention.size])
        attended = [array.zeros(shape, dtype=dtype) for _ in range(num_heads)]
        for value in attended:
            value.set_shape([None, attention.size])
        if initial_state_attention:
            attended = attention(initial_state)
        for i, value in enumerate(decoder_inputs):
            value = step_input(value, outputs, loop_function)
            input_size = value.shape.with_rank(2).size(1)
            if input_size is None:
                raise ValueError(f"Could not infer input size from input: {value.name}")
            inputs = [math.cast(x, dtype) for x in [value] + attended]
            cell_output, state = cell(Linear(inputs, input_size, True)(inputs), state)
            if i == 0 and initial_state_attention:
                with scopes.variable_scope(scopes.get_variable_scope(), reuse=True):
                    attended = attention(state)
            else:
                attended = attention(state)
            with scopes.variable_scope("AttnOutputProjection"):
                inputs = [math.cast(cell_output, dtype)] + attended
                output = Linear(inputs, output_size, True)(inputs)
            outputs.append(output)
    return outputs, state


_ATTENDING = {
    "num_heads": 1,
    "output_projection": None,
    "feed_previous": False,
    "dtype": None,
    "scope": None,
    "initial_state_attention": False,
}


@takes(inserted(_ATTENDING, num_heads={"output_size": None}, feed_previous={"update_embedding_for_previous": True}))
def embedding_attention_decoder(
    decoder_inputs, initial_state, attention_states, cell, num_symbols, embedding_size, **given
):
    """As `attention_decoder`, for symbols, which it embeds."""
    projection, dtype = given["output_projection"], given["dtype"]
    if projection is not None:
        biases = convert_to_tensor(projection[1], dtype=dtype)
        biases.shape.assert_is_compatible_with([num_symbols])
    with scopes.variable_scope(given["scope"] or "embedding_attention_decoder", dtype=dtype):
        embedding = scopes.get_variable("embedding", [num_symbols, embedding_size])
        options = {name: given[name] for name in ("output_size", "num_heads", "initial_state_attention")}
        if given["feed_previous"]:
            updates = given["update_embedding_for_previous"]
            options["loop_function"] = best_and_embedded(embedding, projection, updates)
        embedded = [embedding_lookup(embedding, i) for i in decoder_inputs]
        return attention_decoder(embedded, initial_state, attention_states, cell, **options)


@takes(_ATTENDING)
def embedding_attention_seq2seq(
    encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols, embedding_size, **given
):
    """(outputs, state) of an encoder and a decoder of symbols that attends to the encoder's outputs."""
    with scopes.variable_scope(given.pop("scope") or "embedding_attention_seq2seq", dtype=given.pop("dtype")) as scope:
        sizes = {"embedding_classes": num_encoder_symbols, "embedding_size": embedding_size}
        encoder_cell = EmbeddingWrapper(copy.deepcopy(cell), **sizes)
        encoder_outputs, encoder_state = static_rnn(encoder_cell, encoder_inputs, dtype=scope.dtype)
        attention_states = array.concat([array.reshape(e, [-1, 1, cell.output_size]) for e in encoder_outputs], 1)
        if given["output_projection"] is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            given["output_size"] = num_decoder_symbols
        feed_previous = given.pop("feed_previous")

        def decode(feeds, updates):
            fed = {"feed_previous": feeds, "update_embedding_for_previous": updates}
            states = encoder_state, attention_states, cell, num_decoder_symbols, embedding_size
            return embedding_attention_decoder(decoder_inputs, *states, **fed, **given)

        return with_feed_previous(feed_previous, decode, decoder_inputs, lambda: encoder_state)
