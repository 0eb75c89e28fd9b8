"""tf.contrib.seq2seq: decoders, attention, beam search and losses of sequence models."""

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

__all__ = [
    "AttentionMechanism",
    "AttentionWrapper",
    "AttentionWrapperState",
    "BahdanauAttention",
    "BahdanauMonotonicAttention",
    "BasicDecoder",
    "BasicDecoderOutput",
    "BeamSearchDecoder",
    "BeamSearchDecoderOutput",
    "BeamSearchDecoderState",
    "CustomHelper",
    "Decoder",
    "FinalBeamSearchDecoderOutput",
    "GreedyEmbeddingHelper",
    "Helper",
    "InferenceHelper",
    "LuongAttention",
    "LuongMonotonicAttention",
    "SampleEmbeddingHelper",
    "ScheduledEmbeddingTrainingHelper",
    "ScheduledOutputTrainingHelper",
    "TrainingHelper",
    "dynamic_decode",
    "gather_tree",
    "gather_tree_from_array",
    "hardmax",
    "monotonic_attention",
    "safe_cumprod",
    "sequence_loss",
    "tile_batch",
]
