"""tf.contrib.layers: layers with model variables and collections, regularizers, and `optimize_loss`."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.contrib.framework.arg_scope import arg_scope
from everflow.contrib.layers import outputs as utils
from everflow.contrib.layers.column_inputs import (
    check_feature_columns,
    create_feature_spec_for_parsing,
    infer_real_valued_columns,
    input_from_feature_columns,
    joint_weighted_sum_from_feature_columns,
    make_place_holder_tensors_for_base_features,
    parse_feature_columns_from_examples,
    parse_feature_columns_from_sequence_examples,
    sequence_input_from_feature_columns,
    transform_features,
    weighted_sum_from_feature_columns,
)
from everflow.contrib.layers.convolutions import (
    conv1d,
    conv2d,
    conv2d_in_plane,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    convolution,
    convolution1d,
    convolution2d,
    convolution2d_in_plane,
    convolution2d_transpose,
    convolution3d,
    convolution3d_transpose,
    separable_conv2d,
    separable_convolution2d,
)
from everflow.contrib.layers.dense import (
    bias_add,
    elu,
    fully_connected,
    legacy_fully_connected,
    legacy_linear,
    legacy_relu,
    linear,
    relu,
    relu6,
)
from everflow.contrib.layers.embedding_columns import (
    embedding_column,
    one_hot_column,
    scattered_embedding_column,
    shared_embedding_columns,
)
from everflow.contrib.layers.embeddings import (
    bow_encoder,
    embed_sequence,
    embedding_lookup_unique,
    safe_embedding_lookup_sparse,
)
from everflow.contrib.layers.feature_columns import bucketized_column, real_valued_column
from everflow.contrib.layers.gdn import GDN, gdn
from everflow.contrib.layers.initializers import (
    variance_scaling_initializer,
    xavier_initializer,
    xavier_initializer_conv2d,
)
from everflow.contrib.layers.normalization import batch_norm
from everflow.contrib.layers.norms import group_norm, instance_norm, layer_norm, unit_norm
from everflow.contrib.layers.optimizers import (
    OPTIMIZER_CLS_NAMES,
    OPTIMIZER_SUMMARIES,
    adaptive_clipping_fn,
    optimize_loss,
)
from everflow.contrib.layers.pooling import avg_pool2d, avg_pool3d, max_pool2d, max_pool3d, pool
from everflow.contrib.layers.regularizers import (
    apply_regularization,
    l1_l2_regularizer,
    l1_regularizer,
    l2_regularizer,
    sum_regularizer,
)
from everflow.contrib.layers.reversible import RevBlock, recompute_grad, rev_block, scale_gradient
from everflow.contrib.layers.shaping import (
    dense_to_sparse,
    dropout,
    flatten,
    images_to_sequence,
    maxout,
    one_hot_encoding,
    sequence_to_images,
    softmax,
    spatial_softmax,
)
from everflow.contrib.layers.sparse_columns import (
    crossed_column,
    sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature,
    sparse_column_with_keys,
    sparse_column_with_vocabulary_file,
    weighted_sparse_column,
)
from everflow.contrib.layers.sparse_tensors import dense_to_sparse_tensor, indicators_to_sparse_ids
from everflow.contrib.layers.stacking import repeat, stack
from everflow.contrib.layers.summaries import (
    summarize_activation,
    summarize_activations,
    summarize_biases,
    summarize_collection,
    summarize_tensor,
    summarize_tensors,
    summarize_variables,
    summarize_weights,
)
from everflow.contrib.layers.target_columns import multi_class_target, regression_target

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 956888297470
