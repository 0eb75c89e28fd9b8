"""tf.contrib.model_pruning: layers whose small weights are masked out, more and more of them as training goes on."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.model_pruning.layers import masked_conv2d, masked_convolution, masked_fully_connected
from everflow.contrib.model_pruning.learning import train
from everflow.contrib.model_pruning.masks import (
    apply_mask,
    get_masked_weights,
    get_masks,
    get_thresholds,
    get_weight_sparsity,
    get_weights,
)
from everflow.contrib.model_pruning.pruning import Pruning, get_pruning_hparams
from everflow.contrib.model_pruning.rnn_cells import MaskedBasicLSTMCell, MaskedLSTMCell
from everflow.contrib.model_pruning.stripping import graph_def_from_checkpoint, strip_pruning_vars_fn
