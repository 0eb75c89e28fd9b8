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
from everflow.contrib.seq2seq.beam_search import _only_the_end_where as _mask_probs
from everflow.contrib.seq2seq.beam_search import _scores as _get_scores
from everflow.contrib.seq2seq.beams import gather_beams as _tensor_gather_helper
from everflow.contrib.seq2seq.beams import tile_one as _tile_batch
from everflow.contrib.seq2seq.decoder import zero_outputs as _create_zero_outputs
from everflow.contrib.seq2seq.draws import bernoulli_sample, categorical_sample
from everflow.contrib.seq2seq.draws import sampled as _call_sampler
from everflow.contrib.seq2seq.feeding import _array_over_time as _unstack_ta
from everflow.contrib.seq2seq.monotonic import _BaseMonotonicAttentionMechanism, _monotonic_probability_fn
from everflow.rnn.dynamic import transpose_batch_time as _transpose_batch_time
from everflow.rnn.shapes import zero_state as _zero_state_tensors

__all__ = [
    "_BaseAttentionMechanism",
    "_BaseMonotonicAttentionMechanism",
    "_bahdanau_score",
    "_call_sampler",
    "_compute_attention",
    "_create_zero_outputs",
    "_get_scores",
    "_length_penalty",
    "_luong_score",
    "_mask_probs",
    "_maybe_mask_score",
    "_monotonic_probability_fn",
    "_prepare_memory",
    "_tensor_gather_helper",
    "_tile_batch",
    "_transpose_batch_time",
    "_unstack_ta",
    "_zero_state_tensors",
    "bernoulli_sample",
    "categorical_sample",
]
