"""`BeamSearchDecoder`: the best few continuations of each sequence, kept side by side."""

from __future__ import annotations

import collections

import numpy as np

from everflow.contrib.framework.kept_arguments import keep
from everflow.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from everflow.contrib.seq2seq.beams import gather_beams, gather_tree_from_array, split_static, tile_batch
from everflow.contrib.seq2seq.decoder import Decoder, rnn_output_size
from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.layers.base import Layer
from everflow.ops import array, math
from everflow.ops.control_flow import Assert, cond
from everflow.ops.nn import activations as nn
from everflow.ops.nn.embedding import embedding_lookup
from everflow.ops.nn.top_k import top_k
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.platform import logging
from everflow.rnn.wrappers import assert_like_rnncell

__all__ = [
    "BeamSearchDecoder",
    "BeamSearchDecoderOutput",
    "BeamSearchDecoderState",
    "FinalBeamSearchDecoderOutput",
    "tile_batch",
]


_STATE = "cell_state log_probs finished lengths accumulated_attention_probs"


class BeamSearchDecoderState(collections.namedtuple("BeamSearchDecoderState", _STATE)):
    """The state of a beam search: that of the cell, and of each beam its log probability, end and length."""


class BeamSearchDecoderOutput(collections.namedtuple("BeamSearchDecoderOutput", "scores predicted_ids parent_ids")):
    """What one step gives: scores, ids and the beam each came from, [batch, beam] each."""


_FINAL = "predicted_ids beam_search_decoder_output"


class FinalBeamSearchDecoderOutput(collections.namedtuple("FinalBeamDecoderOutput", _FINAL)):
    """The ids of whole sequences, best beam first, and the outputs of all steps."""


class BeamSearchDecoder(Decoder):
    """A decoder that keeps the `beam_width` best sequences; memory and state must be tiled with `tile_batch` first.

    >>> decoder = tf.contrib.seq2seq.BeamSearchDecoder(cell, table, tf.fill([batch], GO), EOS, tiled_state, beam_width=5, output_layer=project)
    >>> outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=20)
    >>> best = outputs.predicted_ids[:, :, 0]
    """

    def __init__(self, cell, embedding, start_tokens, end_token, initial_state, beam_width, output_layer=None, length_penalty_weight=0.0,
                 coverage_penalty_weight=0.0, reorder_tensor_arrays=True):  # fmt: skip
        assert_like_rnncell("cell", cell)
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        keep(self, locals(), "embedding", "initial_state")
        self._embedding_fn = embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)
        self._start_tokens = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
        if self._start_tokens.shape.rank != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._end_token.shape.rank != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = array.size(start_tokens)
        self._initial_cell_state = nest.map_structure(self._maybe_split, initial_state, cell.state_size)
        self._start_tokens = array.tile(array.expand_dims(self._start_tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        zeros = array.zeros([self._batch_size], dtype=dtypes.int32)
        self._finished = array.one_hot(zeros, beam_width, on_value=False, off_value=True, dtype=dtypes.bool)

    batch_size = property(lambda self: self._batch_size)
    tracks_own_finished = property(lambda self: True)

    def _rnn_output_size(self):
        return rnn_output_size(self._cell, self._output_layer)

    @property
    def output_size(self):
        beams = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(scores=beams, predicted_ids=beams, parent_ids=beams)

    @property
    def output_dtype(self):
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        types = nest.map_structure(lambda _: dtype, self._rnn_output_size())
        return BeamSearchDecoderOutput(types, predicted_ids=dtypes.int32, parent_ids=dtypes.int32)

    def initialize(self, name=None):
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        # Only the first beam is alive, so that the first step's choices differ.
        zeros = array.zeros([self._batch_size], dtype=dtypes.int32)
        on, off = convert_to_tensor(0.0, dtype=dtype), convert_to_tensor(-np.inf, dtype=dtype)
        log_probs = array.one_hot(zeros, depth=self._beam_width, on_value=on, off_value=off, dtype=dtype)
        attention = attention_probabilities(self._initial_cell_state, self._coverage_penalty_weight)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=array.zeros([self._batch_size, self._beam_width], dtype=dtypes.int64),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return self._finished, self._start_inputs, state

    # --- batch and beams, together and apart ---------------------------------------------------

    def _static_batch(self):
        known = constant_value(self._batch_size)
        return None if known is None else int(known)

    def _merge(self, t, inner):
        """[batch, beam, …] as [batch * beam, …]."""
        inner = _known_size(inner)
        sizes = array.shape(t)
        batch = self._static_batch()
        result = array.reshape(t, array.concat(([self._batch_size * self._beam_width], sizes[2:]), 0))
        result.set_shape(TensorShape([None if batch is None else batch * self._beam_width]).concatenate(inner))
        return result

    def _split(self, t, inner):
        """[batch * beam, …] as [batch, beam, …]."""
        inner = _known_size(inner)
        sizes = array.shape(t)
        result = array.reshape(t, array.concat(([self._batch_size, self._beam_width], sizes[1:]), 0))
        expected = TensorShape([self._static_batch(), self._beam_width]).concatenate(inner)
        if not result.shape.is_compatible_with(expected):
            cause = "was the state tiled by tile_batch, or made by zero_state with batch_size * beam_width?"
            raise ValueError(
                f"Split into batch and beams, {t.name} is of shape {result.shape} and not {expected}: {cause}"
            )
        result.set_shape(expected)
        return result

    def _maybe_split(self, t, inner):
        if isinstance(t, TensorArray):
            return t
        _check_rank(t)
        return self._split(t, inner) if t.shape.rank >= 1 else t

    def _maybe_merge(self, t, inner):
        if isinstance(t, TensorArray):
            return t
        _check_rank(t)
        return self._merge(t, inner) if t.shape.rank >= 2 else t

    # --- steps ---------------------------------------------------------------------------------

    def step(self, time, inputs, state, name=None):
        with name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            inputs = nest.map_structure(lambda t: self._merge(t, t.shape[2:]), inputs)
            cell_state = nest.map_structure(self._maybe_merge, state.cell_state, self._cell.state_size)
            outputs, next_cell_state = self._cell(inputs, cell_state)
            outputs = nest.map_structure(lambda t: self._split(t, t.shape[1:]), outputs)
            next_cell_state = nest.map_structure(self._maybe_split, next_cell_state, self._cell.state_size)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            output, next_state = self._search(outputs, next_cell_state, state)
            finished = math.reduce_all(next_state.finished)
            next_inputs = cond(finished, lambda: self._start_inputs, lambda: self._embedding_fn(output.predicted_ids))
        return output, next_state, next_inputs, next_state.finished

    def _search(self, logits, next_cell_state, state):
        """The best `beam_width` of all continuations of all beams."""
        batch_size, beam_width, end_token = self._batch_size, self._beam_width, self._end_token
        was_finished = state.finished
        not_finished = math.logical_not(was_finished)
        step_log_probs = _only_the_end_where(nn.log_softmax(logits), end_token, was_finished)
        total_probs = array.expand_dims(state.log_probs, 2) + step_log_probs
        vocabulary = logits.shape.size(-1) or array.shape(logits)[-1]
        new_lengths = self._lengths_with(vocabulary, not_finished, state.lengths)
        accumulated = None
        attention = attention_probabilities(next_cell_state, self._coverage_penalty_weight)
        if attention is not None:
            attention *= array.expand_dims(math.cast(not_finished, dtypes.float32), 2)
            accumulated = state.accumulated_attention_probs + attention
        penalties = self._length_penalty_weight, self._coverage_penalty_weight
        scores = _scores(total_probs, new_lengths, *penalties, was_finished, accumulated)
        flat_scores = array.reshape(scores, [batch_size, -1])
        count = convert_to_tensor(beam_width, dtype=dtypes.int32, name="beam_width")
        next_scores, word_indices = top_k(flat_scores, k=count)
        for found in (next_scores, word_indices):
            found.set_shape([self._static_batch(), beam_width])
        given = {"range_size": beam_width * vocabulary, "gather_shape": [-1], "name": "next_beam_probs"}
        next_log_probs = gather_beams(word_indices, total_probs, batch_size, **given)
        word_ids = math.cast(math.mod(word_indices, vocabulary, name="next_beam_word_ids"), dtypes.int32)
        parent_ids = math.cast(word_indices / vocabulary, dtypes.int32, name="next_beam_parent_ids")

        def of_parents(values, gather_shape=(-1,), name=None):
            given = {"range_size": beam_width, "gather_shape": list(gather_shape), "name": name}
            return gather_beams(parent_ids, values, batch_size, **given)

        was_finished = of_parents(was_finished)
        next_finished = math.logical_or(was_finished, math.equal(word_ids, end_token), name="next_beam_finished")
        one_longer = math.cast(math.logical_not(was_finished), dtypes.int64)
        next_lengths = of_parents(state.lengths)
        next_lengths += one_longer
        next_accumulated = ()
        if accumulated is not None:
            shape = [batch_size * beam_width, -1]
            next_accumulated = of_parents(accumulated, shape, "next_accumulated_attention_probs")

        def state_of_parent(t):
            shape = [batch_size * beam_width, -1]
            if isinstance(t, TensorArray):
                return t
            _check_rank(t)
            return of_parents(t, shape) if t.shape.rank >= 2 else t

        next_cell_state = nest.map_structure(state_of_parent, next_cell_state)
        output = BeamSearchDecoderOutput(scores=next_scores, predicted_ids=word_ids, parent_ids=parent_ids)
        scores = next_log_probs, next_finished, next_lengths, next_accumulated
        return output, BeamSearchDecoderState(next_cell_state, *scores)

    def _lengths_with(self, vocabulary, not_finished, lengths):
        """The length of each beam with each word: longer by one, but for the end token and beams that are finished."""
        ends = array.fill([self._batch_size, self._beam_width], self._end_token)
        on, off = math.to_int64(0), math.to_int64(1)
        longer = array.one_hot(ends, depth=vocabulary, on_value=on, off_value=off, dtype=dtypes.int64)
        longer *= array.expand_dims(math.cast(not_finished, dtypes.int64), 2)
        return longer + array.expand_dims(lengths, 2)

    def finalize(self, outputs, final_state, sequence_lengths):
        """Follows the beams back from the end: whole sequences, and arrays of the state in their order."""
        longest = math.cast(math.reduce_max(final_state.lengths, axis=1), dtypes.int32)
        tree = {"step_ids": outputs.predicted_ids, "parent_ids": outputs.parent_ids}
        predicted_ids = raw.GatherTree(**tree, max_sequence_lengths=longest, end_token=self._end_token)
        if self._reorder_tensor_arrays:
            parents, lengths = outputs.parent_ids, final_state.lengths
            cells = nest.map_structure(lambda t: self._maybe_reorder(t, parents, lengths), final_state.cell_state)
            final_state = final_state._replace(cell_state=cells)
        return FinalBeamSearchDecoderOutput(predicted_ids, beam_search_decoder_output=outputs), final_state

    def _maybe_reorder(self, t, parent_ids, lengths):
        if not isinstance(t, TensorArray):
            return t
        # Not a public attribute of the array: what is known of its elements decides whether beams can be told apart.
        if t.element_shape.rank is None or t.element_shape.rank < 1:
            message = "The TensorArray %s stays in the order of steps: its elements, of shape %s, have no known beams."
            logging.info(message, t.handle.name, t.element_shape)
            return t
        if not split_static(t.element_shape, parent_ids.shape.size(1), self._beam_width):
            return t
        stacked = t.stack()
        with control_dependencies([self._assert_beams(stacked)]):
            return gather_tree_from_array(stacked, parent_ids, lengths)

    def _assert_beams(self, t):
        message = (
            f"Elements of {t.name} can't be put in the order of the beams, as their shape is not "
            "[batch_size, beam_size, ...]: pass reorder_tensor_arrays=False to leave them as they are."
        )
        sizes = array.shape(t)
        together = math.equal(sizes[1], self._batch_size * self._beam_width)
        if t.shape.rank == 2:
            return Assert(together, [message])
        apart = math.logical_and(math.equal(sizes[1], self._batch_size), math.equal(sizes[2], self._beam_width))
        return Assert(math.logical_or(together, apart), [message])


def _known_size(size):
    """A size as a shape, as far as it is known."""
    return TensorShape(constant_value(size)) if isinstance(size, Tensor) else TensorShape(size)


def _check_rank(t):
    if t.shape.rank is None:
        raise ValueError(f"Beams are told apart in tensors of known rank, which {t.name} is not")


def _mean(probabilities):
    """The mean of several tensors of one shape; the only one as it is."""
    if len(probabilities) == 1:
        return probabilities[0]
    return math.reduce_mean(array.concat([array.expand_dims(p, -1) for p in probabilities], -1), -1)


def attention_probabilities(cell_state, coverage_penalty_weight):
    """The alignments in a state: the mean over mechanisms, then over layers; None where no coverage is asked for."""
    if coverage_penalty_weight == 0.0:
        return None
    is_stack = isinstance(cell_state, tuple) and not isinstance(cell_state, AttentionWrapperState)
    layers = cell_state if is_stack else (cell_state,)
    found = [
        _mean(layer.alignments if isinstance(layer.alignments, tuple) else (layer.alignments,))
        for layer in layers
        if isinstance(layer, AttentionWrapperState)
    ]
    if not found:
        raise ValueError("coverage_penalty_weight penalizes attention, but no cell has any: set it to 0.0")
    return _mean(found)


def _only_the_end_where(probs, eos_token, finished):
    """Log probabilities where finished beams can only go on with the end token."""
    vocabulary = array.shape(probs)[2]
    on = convert_to_tensor(0.0, dtype=probs.dtype)
    row = array.one_hot(eos_token, vocabulary, dtype=probs.dtype, on_value=on, off_value=probs.dtype.min)
    rows = array.tile(array.reshape(row, [1, 1, -1]), array.concat([array.shape(finished), [1]], 0))
    mask = array.tile(array.expand_dims(finished, 2), [1, 1, vocabulary])
    return array.where(mask, rows, probs)


def _scores(
    log_probs, sequence_lengths, length_penalty_weight, coverage_penalty_weight, finished, accumulated_attention_probs
):
    """Log probabilities divided by the length penalty, plus the coverage penalty of finished beams."""
    scores = log_probs / math.cast(_length_penalty(sequence_lengths, length_penalty_weight), log_probs.dtype)
    weight = convert_to_tensor(coverage_penalty_weight, name="coverage_penalty_weight")
    if weight.shape.rank != 0:
        raise ValueError(f"coverage_penalty_weight must be a scalar, not of shape {weight.shape}")
    if accumulated_attention_probs is None:
        return scores
    attended = accumulated_attention_probs
    accumulated_attention_probs = array.where(math.equal(attended, 0.0), array.ones_like(attended), attended)
    penalty = math.reduce_sum(math.log(math.minimum(accumulated_attention_probs, 1.0)), 2)
    penalty *= math.cast(finished, dtypes.float32)
    return scores + array.expand_dims(penalty * weight, 2)


def _length_penalty(lengths, penalty_factor):
    """((5 + length) / 6) ** factor; 1 where the factor is known to be 0."""
    penalty_factor = convert_to_tensor(penalty_factor, name="penalty_factor")
    if penalty_factor.shape.rank != 0:
        raise ValueError(f"The length penalty's weight must be a scalar, not of shape {penalty_factor.shape}")
    known = constant_value(penalty_factor)
    if known is not None and known == 0:
        return 1.0
    return math.div((5.0 + math.cast(lengths, dtypes.float32)) ** penalty_factor, (5.0 + 1.0) ** penalty_factor)
