"""tf.contrib.legacy_seq2seq: encoder-decoders unrolled over lists of steps, and their losses."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.legacy_seq2seq.attention import (
    attention_decoder,
    embedding_attention_decoder,
    embedding_attention_seq2seq,
)
from everflow.contrib.legacy_seq2seq.decoders import (
    basic_rnn_seq2seq,
    embedding_rnn_decoder,
    rnn_decoder,
    tied_rnn_seq2seq,
)
from everflow.contrib.legacy_seq2seq.embedded import (
    embedding_rnn_seq2seq,
    embedding_tied_rnn_seq2seq,
    one2many_rnn_seq2seq,
)
from everflow.contrib.legacy_seq2seq.losses import model_with_buckets, sequence_loss, sequence_loss_by_example
from everflow.framework.lazy_names import imported_names as _imported_names

__all__ = [name for name in _imported_names(__file__) if not name.startswith("_")]
