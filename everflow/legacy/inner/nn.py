"""Names that programs take from inside TensorFlow's modules of ops."""

from everflow.ops.nn.candidate_sampling import sampled_logits as _compute_sampled_logits
from everflow.ops.nn.dropout import _noise_shape as _get_noise_shape
from everflow.ops.variables.initializers import compute_fans as _compute_fans
from everflow.ops.variables.store import get_variable_store as _get_default_variable_store

__all__ = ["_compute_fans", "_compute_sampled_logits", "_get_default_variable_store", "_get_noise_shape"]
