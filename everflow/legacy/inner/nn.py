"""Names that programs take from inside TensorFlow's modules of ops."""

from __future__ import annotations

import contextlib

from everflow.framework import dtypes
from everflow.ops.gradients.reverse import is_trainable
from everflow.ops.math.binary import multiply, subtract
from everflow.ops.math.elementwise import negative
from everflow.ops.nn.candidate_sampling import sampled_logits as _compute_sampled_logits
from everflow.ops.nn.dropout import _noise_shape as _get_noise_shape
from everflow.ops.variables import scope as variable_scopes
from everflow.ops.variables.initializers import compute_fans as _compute_fans
from everflow.ops.variables.resource import ResourceVariable
from everflow.ops.variables.store import PartitionInfo as _PartitionInfo
from everflow.ops.variables.store import get_variable_store as _get_default_variable_store
from everflow.ops.variables.variable import Variable
from everflow.platform.signatures import takes

__all__ = [
    "_IsBackpropagatable",
    "_PartitionInfo",
    "_assert_float_dtype",
    "_compute_fans",
    "_compute_sampled_logits",
    "_from_proto_fn",
    "_get_default_variable_store",
    "_get_noise_shape",
    "_pure_variable_scope",
    "_to_proto_fn",
    "mul",
    "neg",
    "sub",
]
# The names of these functions before 1.0.
mul, neg, sub = multiply, negative, subtract


@takes(
    """name_or_scope, reuse=None, initializer=None, regularizer=None, caching_device=None, partitioner=None,
    custom_getter=None, old_name_scope=None, dtype=float32, use_resource=None, constraint=None""",
    float32=dtypes.float32,
)
@contextlib.contextmanager
def _pure_variable_scope(name_or_scope, reuse, old_name_scope, **defaults):
    """`tf.variable_scope` without a name scope for the ops inside."""
    named = (
        old_name_scope if old_name_scope is not None else getattr(name_or_scope, "original_name_scope", name_or_scope)
    )
    entered = variable_scopes._Entered(name_or_scope, reuse or None, defaults, named)
    try:
        yield entered.scope
    finally:
        entered.leave()


def _assert_float_dtype(dtype):
    """A type, where it is one of floats; else ValueError."""
    if not dtype.is_floating:
        raise ValueError(f"A type of floats is wanted, not {dtype}")
    return dtype


def _IsBackpropagatable(tensor):
    """Whether gradients can pass through a tensor."""
    return is_trainable(tensor) or tensor.dtype.base_dtype == dtypes.bfloat16


def _to_proto_fn(v, export_scope=None):
    """The VariableDef of a variable."""
    return v.to_proto(export_scope=export_scope)


def _from_proto_fn(v, import_scope=None):
    """The variable of a VariableDef."""
    if v.is_resource:
        return ResourceVariable.from_proto(v, import_scope=import_scope)
    return Variable.from_proto(v, import_scope=import_scope)
