"""How likely a sequence of tags is: its score, and the logarithm of the sum over all sequences."""

from __future__ import annotations

from everflow.contrib.crf.cells import CrfForwardRnnCell
from everflow.framework import dtypes
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import smart_cond
from everflow.ops.variables import scope as scopes
from everflow.rnn.dynamic import dynamic_rnn


def by_length(inputs, single, several):
    """`single()` where sequences have one step, else `several()`: chosen now where that is known."""
    return smart_cond(math.equal(inputs.shape.size(1) or array.shape(inputs)[1], 1), true_fn=single, false_fn=several)


def _zero_where_empty(values, lengths):
    return array.where(math.less_equal(lengths, 0), array.zeros_like(values), values)


def length_less_one(lengths):
    """The number of transitions of each sequence."""
    return math.maximum(constant(0, dtype=lengths.dtype), lengths - 1)


def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
    """The unnormalised score of each sequence of tags."""

    def single():
        batch_size = array.shape(inputs, out_type=tag_indices.dtype)[0]
        examples = array.reshape(math.range(batch_size, dtype=tag_indices.dtype), [-1, 1])
        scores = array.gather_nd(array.squeeze(inputs, [1]), array.concat([examples, tag_indices], axis=1))
        return _zero_where_empty(scores, sequence_lengths)

    def several():
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    return by_length(inputs, single, several)


def crf_multitag_sequence_score(inputs, tag_bitmap, sequence_lengths, transition_params):
    """The score of all sequences of tags that a bitmap [batch, time, tags] allows, summed."""

    def allowed():
        return array.where(tag_bitmap, inputs, array.fill(array.shape(inputs), float("-inf")))

    def single():
        return math.reduce_logsumexp(allowed(), axis=[1, 2], keepdims=False)

    def several():
        return crf_log_norm(inputs=allowed(), sequence_lengths=sequence_lengths, transition_params=transition_params)

    return by_length(inputs, single, several)


def crf_log_norm(inputs, sequence_lengths, transition_params):
    """The logarithm of the sum over all sequences of tags."""
    first = array.squeeze(array.slice_(inputs, [0, 0, 0], [-1, 1, -1]), [1])

    def single():
        return _zero_where_empty(math.reduce_logsumexp(first, [1]), sequence_lengths)

    def several():
        rest = array.slice_(inputs, [0, 1, 0], [-1, -1, -1])
        cell = CrfForwardRnnCell(transition_params)
        transitions = length_less_one(sequence_lengths)
        _, alphas = dynamic_rnn(cell, rest, sequence_length=transitions, initial_state=first, dtype=dtypes.float32)
        return _zero_where_empty(math.reduce_logsumexp(alphas, [1]), sequence_lengths)

    return by_length(inputs, single, several)


def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params=None):
    """(log likelihood of each sequence of tags, transition scores, which are a variable unless they are given).

    >>> log_likelihood, transitions = tf.contrib.crf.crf_log_likelihood(logits, tags, lengths)
    >>> loss = tf.reduce_mean(-log_likelihood)
    """
    tags = inputs.shape.size(2)
    if transition_params is None:
        transition_params = scopes.get_variable("transitions", [tags, tags])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    log_norm = crf_log_norm(inputs, sequence_lengths, transition_params)
    return scores - log_norm, transition_params


def crf_unary_score(tag_indices, sequence_lengths, inputs):
    """The sum of the scores of the tags themselves."""
    batch_size, steps, tags = (array.shape(inputs)[i] for i in range(3))
    flat_inputs = array.reshape(inputs, [-1])
    offsets = array.expand_dims(math.range(batch_size) * steps * tags, 1)
    offsets += array.expand_dims(math.range(steps) * tags, 0)
    if tag_indices.dtype == dtypes.int64:
        offsets = math.cast(offsets, dtypes.int64)
    flat_indices = array.reshape(offsets + tag_indices, [-1])
    scores = array.reshape(array.gather(flat_inputs, flat_indices), [batch_size, steps])
    mask = array.sequence_mask(sequence_lengths, maxlen=array.shape(tag_indices)[1], dtype=dtypes.float32)
    return math.reduce_sum(scores * mask, 1)


def crf_binary_score(tag_indices, sequence_lengths, transition_params):
    """The sum of the scores of the transitions between tags."""
    tags = transition_params.shape.size(0)
    transitions = array.shape(tag_indices)[1] - 1
    start = array.slice_(tag_indices, [0, 0], [-1, transitions])
    end = array.slice_(tag_indices, [0, 1], [-1, transitions])
    flat_indices = start * tags + end
    flat_transitions = array.reshape(transition_params, [-1])
    scores = array.gather(flat_transitions, flat_indices)
    mask = array.sequence_mask(sequence_lengths, maxlen=array.shape(tag_indices)[1], dtype=dtypes.float32)
    return math.reduce_sum(scores * array.slice_(mask, [0, 1], [-1, -1]), 1)
