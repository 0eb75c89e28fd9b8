"""The best sequence of tags: in the graph (`crf_decode`) and of numpy arrays (`viterbi_decode`)."""

from __future__ import annotations

import itertools

import numpy as np

from everflow.contrib.crf.cells import CrfDecodeBackwardRnnCell, CrfDecodeForwardRnnCell
from everflow.contrib.crf.likelihood import by_length, length_less_one
from everflow.framework import dtypes
from everflow.ops import array, math
from everflow.rnn.dynamic import dynamic_rnn


def viterbi_decode(score, transition_params):
    """(list of the best tags, their score) of one sequence's scores [time, tags], as numpy arrays."""
    best, came_from = score[0], []
    for of_tags in score[1:]:
        ways = best[:, None] + transition_params
        came_from.append(ways.argmax(axis=0).astype(np.int32))
        best = (of_tags + ways.max(axis=0)).astype(score.dtype)
    back = itertools.accumulate(reversed(came_from), lambda tag, pointers: pointers[tag], initial=best.argmax())
    return list(back)[::-1], best.max()


def crf_decode(potentials, transition_params, sequence_length):
    """(best tags [batch, time], their scores) of a batch of scores [batch, time, tags].

    >>> tags, scores = tf.contrib.crf.crf_decode(logits, transitions, lengths)
    """

    def single():
        squeezed = array.squeeze(potentials, [1])
        tags = array.expand_dims(math.argmax(squeezed, axis=1), 1)
        best = math.reduce_max(squeezed, axis=1)
        return math.cast(tags, dtypes.int32), best

    def several():
        forward = CrfDecodeForwardRnnCell(transition_params)
        first = array.squeeze(array.slice_(potentials, [0, 0, 0], [-1, 1, -1]), axis=[1])
        rest = array.slice_(potentials, [0, 1, 0], [-1, -1, -1])
        transitions = length_less_one(sequence_length)
        given = {"sequence_length": transitions, "initial_state": first, "dtype": dtypes.int32}
        backpointers, last_score = dynamic_rnn(forward, inputs=rest, time_major=False, **given)
        backpointers = array.reverse_sequence(backpointers, transitions, seq_axis=1)
        backward = CrfDecodeBackwardRnnCell(potentials.shape.size(2))
        last = array.expand_dims(math.cast(math.argmax(last_score, axis=1), dtypes.int32), axis=-1)
        given = {"sequence_length": transitions, "initial_state": last, "dtype": dtypes.int32}
        tags, _ = dynamic_rnn(backward, inputs=backpointers, time_major=False, **given)
        tags = array.concat([last, array.squeeze(tags, axis=[2])], axis=1)
        tags = array.reverse_sequence(tags, sequence_length, seq_axis=1)
        return tags, math.reduce_max(last_score, axis=1)

    return by_length(potentials, single, several)
