"""Encoder-decoders of symbols: plain, with shared embeddings, and with one encoder for many decoders."""

from __future__ import annotations

import copy

from everflow.contrib.legacy_seq2seq.decoders import (
    best_and_embedded,
    check_projection,
    embedding_rnn_decoder,
    tied_rnn_seq2seq,
    with_feed_previous,
)
from everflow.contrib.rnn.wrappers import EmbeddingWrapper, OutputProjectionWrapper
from everflow.ops import array
from everflow.ops.nn.embedding import embedding_lookup
from everflow.ops.variables import scope as scopes
from everflow.platform.signatures import takes
from everflow.rnn.static import static_rnn

_DECODING = {"output_projection": None, "feed_previous": False, "dtype": None, "scope": None}


@takes(_DECODING)
def embedding_rnn_seq2seq(
    encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols, embedding_size, **given
):
    """(outputs, state) of an encoder and a decoder of symbols; `feed_previous` may be a boolean tensor."""
    output_projection, dtype = given["output_projection"], given["dtype"]
    with scopes.variable_scope(given["scope"] or "embedding_rnn_seq2seq") as scope:
        if dtype is not None:
            scope.set_dtype(dtype)
        else:
            dtype = scope.dtype
        sizes = {"embedding_classes": num_encoder_symbols, "embedding_size": embedding_size}
        encoder_cell = EmbeddingWrapper(copy.deepcopy(cell), **sizes)
        _, encoder_state = static_rnn(encoder_cell, encoder_inputs, dtype=dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feeds, updates):
            sizes = num_decoder_symbols, embedding_size
            return embedding_rnn_decoder(decoder_inputs, encoder_state, cell, *sizes, output_projection, feeds, updates)

        return with_feed_previous(given["feed_previous"], decode, decoder_inputs, lambda: encoder_state)


@takes(_DECODING)
def embedding_tied_rnn_seq2seq(
    encoder_inputs, decoder_inputs, cell, num_symbols, embedding_size, num_decoder_symbols=None, **given
):
    """(outputs, state) of an encoder and a decoder that share one embedding and all variables."""
    output_projection = given["output_projection"]
    with scopes.variable_scope(given["scope"] or "embedding_tied_rnn_seq2seq", dtype=given["dtype"]) as scope:
        dtype = scope.dtype
        check_projection(output_projection, num_symbols, dtype)
        embedding = scopes.get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        embedded_inputs = [embedding_lookup(embedding, x) for x in encoder_inputs]
        embedded_targets = [embedding_lookup(embedding, x) for x in decoder_inputs]
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_symbols if num_decoder_symbols is None else num_decoder_symbols)

        def decode(feeds, update_embedding):
            loop_function = best_and_embedded(embedding, output_projection, update_embedding) if feeds else None
            return tied_rnn_seq2seq(embedded_inputs, embedded_targets, cell, loop_function=loop_function, dtype=dtype)

        def any_state():
            batch_size = encoder_inputs[0].shape.size(0) or array.shape(encoder_inputs[0])[0]
            return cell.zero_state(batch_size, dtype)

        return with_feed_previous(given["feed_previous"], decode, decoder_inputs, any_state)


def one2many_rnn_seq2seq(
    encoder_inputs,
    decoder_inputs_dict,
    enc_cell,
    dec_cells_dict,
    num_encoder_symbols,
    num_decoder_symbols_dict,
    embedding_size,
    feed_previous=False,
    dtype=None,
    scope=None,
):
    """(outputs, states), by name, of one encoder and a decoder for each name."""
    outputs_dict, state_dict = {}, {}
    with scopes.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as scope:
        dtype = scope.dtype
        enc_cell = EmbeddingWrapper(enc_cell, embedding_classes=num_encoder_symbols, embedding_size=embedding_size)
        _, encoder_state = static_rnn(enc_cell, encoder_inputs, dtype=dtype)
        for name, decoder_inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with scopes.variable_scope("one2many_decoder_" + str(name)):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)

                def decode(feeds, _, cell=cell, inputs=decoder_inputs, symbols=symbols):
                    sizes = symbols, embedding_size
                    return embedding_rnn_decoder(inputs, encoder_state, cell, *sizes, feed_previous=feeds)

                found = with_feed_previous(feed_previous, decode, decoder_inputs, lambda: encoder_state)
            outputs_dict[name], state_dict[name] = found
    return outputs_dict, state_dict
