"""tf.nn: what neural networks are built of."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

__path__: list[str] = []  # so that `from tensorflow.nn.rnn_cell import LSTMCell` looks further

from everflow.framework.lazy_names import lazy_names as _lazy_names
from everflow.ops.array.blocks import depth_to_space, space_to_batch, space_to_depth
from everflow.ops.math import sigmoid, tanh
from everflow.ops.nn.activations import (
    bias_add,
    crelu,
    elu,
    leaky_relu,
    log_softmax,
    relu,
    relu6,
    relu_layer,
    selu,
    softmax,
    softplus,
    softsign,
    swish,
    xw_plus_b,
    zero_fraction,
)
from everflow.ops.nn.atrous import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    convolution,
    depthwise_conv2d,
    pool,
    separable_conv2d,
    with_space_to_batch,
)
from everflow.ops.nn.candidate_sampling import (
    all_candidate_sampler,
    compute_accidental_hits,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    nce_loss,
    sampled_softmax_loss,
    uniform_candidate_sampler,
)
from everflow.ops.nn.convolution import (
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv2d_transpose,
    conv3d,
    conv3d_backprop_filter,
    conv3d_transpose,
    conv_transpose,
    depthwise_conv2d_native,
    depthwise_conv2d_native_backprop_filter,
    depthwise_conv2d_native_backprop_input,
    dilation2d,
    erosion2d,
)
from everflow.ops.nn.ctc import (
    collapse_repeated,
    ctc_beam_search_decoder,
    ctc_beam_search_decoder_v2,
    ctc_greedy_decoder,
    ctc_loss,
    ctc_loss_v2,
    ctc_unique_labels,
)
from everflow.ops.nn.dropout import dropout
from everflow.ops.nn.losses import (
    compute_average_loss,
    l2_loss,
    log_poisson_loss,
    scale_regularization_loss,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from everflow.ops.nn.normalization import (
    batch_norm_with_global_normalization,
    batch_normalization,
    fused_batch_norm,
    l2_normalize,
    local_response_normalization,
    lrn,
    moments,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
)
from everflow.ops.nn.pooling import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    avg_pool_v2,
    fractional_avg_pool,
    fractional_max_pool,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_v2,
    max_pool_with_argmax,
)
from everflow.ops.nn.quantized import quantized_avg_pool, quantized_conv2d, quantized_max_pool, quantized_relu_x
from everflow.ops.nn.top_k import in_top_k, top_k

# Older names.
conv3d_backprop_filter_v2 = conv3d_backprop_filter
depthwise_conv2d_backprop_filter = depthwise_conv2d_native_backprop_filter
depthwise_conv2d_backprop_input = depthwise_conv2d_native_backprop_input

# Embeddings are loaded when touched; so are recurrent networks, which everflow/__init__.py adds.
if _TYPE_CHECKING:
    from everflow.ops.nn.embedding import embedding_lookup, embedding_lookup_sparse, safe_embedding_lookup_sparse

__getattr__, __dir__ = _lazy_names(__name__, __file__)
