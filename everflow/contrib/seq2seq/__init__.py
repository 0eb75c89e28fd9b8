"""tf.contrib.seq2seq: decoders, attention, beam search and losses of sequence models."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.seq2seq.attention import AttentionMechanism, BahdanauAttention, LuongAttention, hardmax
from everflow.contrib.seq2seq.attention_wrapper import AttentionWrapper, AttentionWrapperState
from everflow.contrib.seq2seq.basic_decoder import BasicDecoder, BasicDecoderOutput
from everflow.contrib.seq2seq.beam_search import (
    BeamSearchDecoder,
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    FinalBeamSearchDecoderOutput,
)
from everflow.contrib.seq2seq.beams import gather_tree, gather_tree_from_array, tile_batch
from everflow.contrib.seq2seq.decoder import Decoder, dynamic_decode
from everflow.contrib.seq2seq.feeding import (
    CustomHelper,
    GreedyEmbeddingHelper,
    Helper,
    InferenceHelper,
    SampleEmbeddingHelper,
    ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper,
    TrainingHelper,
)
from everflow.contrib.seq2seq.loss import sequence_loss
from everflow.contrib.seq2seq.monotonic import (
    BahdanauMonotonicAttention,
    LuongMonotonicAttention,
    monotonic_attention,
    safe_cumprod,
)
from everflow.framework.lazy_names import imported_names as _imported_names

__all__ = [name for name in _imported_names(__file__) if not name.startswith("_")]
