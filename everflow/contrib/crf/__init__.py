"""tf.contrib.crf: linear-chain conditional random fields, which score and find sequences of tags."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.crf.cells import CrfDecodeBackwardRnnCell, CrfDecodeForwardRnnCell, CrfForwardRnnCell
from everflow.contrib.crf.decoding import crf_decode, viterbi_decode
from everflow.contrib.crf.likelihood import (
    crf_binary_score,
    crf_log_likelihood,
    crf_log_norm,
    crf_multitag_sequence_score,
    crf_sequence_score,
    crf_unary_score,
)
