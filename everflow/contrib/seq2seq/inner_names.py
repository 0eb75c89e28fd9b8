"""Names that programs take from inside TensorFlow's seq2seq modules, to subclass mechanisms and decoders."""

from everflow.contrib.seq2seq.attention import (
    _bahdanau_score,
    _BaseAttentionMechanism,
    _luong_score,
    _maybe_mask_score,
    _prepare_memory,
)
from everflow.contrib.seq2seq.attention_wrapper import _compute_attention
from everflow.contrib.seq2seq.beam_search import _length_penalty
from everflow.contrib.seq2seq.beams import gather_beams as _tensor_gather_helper
from everflow.contrib.seq2seq.feeding import _array_over_time as _unstack_ta
from everflow.contrib.seq2seq.monotonic import _BaseMonotonicAttentionMechanism, _monotonic_probability_fn
from everflow.rnn.shapes import zero_state as _zero_state_tensors

__all__ = [
    "_BaseAttentionMechanism",
    "_BaseMonotonicAttentionMechanism",
    "_bahdanau_score",
    "_compute_attention",
    "_length_penalty",
    "_luong_score",
    "_maybe_mask_score",
    "_monotonic_probability_fn",
    "_prepare_memory",
    "_tensor_gather_helper",
    "_unstack_ta",
    "_zero_state_tensors",
]
