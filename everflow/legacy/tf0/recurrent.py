"""What runs cells over time in TensorFlow 0.12: `tf.nn.rnn` and its kin, and `tf.nn.seq2seq`."""

# ruff: noqa: F401  `tf.nn.seq2seq` is this module, and most of its functions are today's.

from __future__ import annotations

import functools
import inspect

import everflow as tf
from everflow.contrib import legacy_seq2seq as _today
from everflow.contrib.legacy_seq2seq import (
    attention_decoder,
    basic_rnn_seq2seq,
    embedding_attention_decoder,
    embedding_attention_seq2seq,
    embedding_rnn_decoder,
    embedding_rnn_seq2seq,
    embedding_tied_rnn_seq2seq,
    one2many_rnn_seq2seq,
    rnn_decoder,
    tied_rnn_seq2seq,
)


def _changing(today, parameter, change):
    """A function of today, with what it gets for one of its parameters (None by default) changed."""
    signature = inspect.signature(today)

    @functools.wraps(today)
    def function(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.arguments[parameter] = change(given.arguments.get(parameter))
        return today(*given.args, **given.kwargs)

    return function


def _in_scope(today, scope):
    """A function of today, whose variables lie in another scope unless one is given."""
    return _changing(today, "scope", lambda given: given or scope)


rnn = _in_scope(tf.nn.static_rnn, "RNN")
dynamic_rnn = _in_scope(tf.nn.dynamic_rnn, "RNN")
raw_rnn = _in_scope(tf.nn.raw_rnn, "RNN")
state_saving_rnn = _in_scope(tf.nn.static_state_saving_rnn, "RNN")
bidirectional_rnn = _in_scope(tf.nn.static_bidirectional_rnn, "BiRNN")
bidirectional_dynamic_rnn = _in_scope(tf.nn.bidirectional_dynamic_rnn, "BiRNN")


def _with_logits_first(today):
    """A loss whose `softmax_loss_function` takes (logits, labels)."""
    return _changing(
        today, "softmax_loss_function", lambda given: given and (lambda labels, logits: given(logits, labels))
    )


sequence_loss_by_example = _with_logits_first(_today.sequence_loss_by_example)
sequence_loss = _with_logits_first(_today.sequence_loss)
model_with_buckets = _with_logits_first(_today.model_with_buckets)
