"""Names that programs take from inside tensorflow.python.ops.weights_broadcast_ops: whether weights fit, and how the error
that says they don't begins.
"""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.ops.nn.weights import _PREFIX as _ASSERT_BROADCASTABLE_ERROR_PREFIX
from everflow.ops.nn.weights import _fits as _has_valid_nonscalar_shape
from everflow.ops.nn.weights import _sides_fit as _has_valid_dims
