"""Names that programs take from inside TensorFlow's modules of ops."""

from everflow.ops.initializers import compute_fans as _compute_fans
from everflow.ops.nn_dropout import _noise_shape as _get_noise_shape
from everflow.ops.nn_sampling import sampled_logits as _compute_sampled_logits
from everflow.ops.variable_store import get_variable_store as _get_default_variable_store

__all__ = ["_compute_fans", "_compute_sampled_logits", "_get_default_variable_store", "_get_noise_shape"]
