"""Names of TensorFlow's `tensor_array_ops` and `tensor_array_grad`: the three kinds of TensorArrays, one with another flow,
and the call of tf.gradients that a tensor belongs to.
"""

from __future__ import annotations

from typing import Any

from everflow.ops.tensor_arrays.as_lists import ListTensorArray as _GraphTensorArrayV2
from everflow.ops.tensor_arrays.eager import EagerTensorArray as _EagerTensorArray
from everflow.ops.tensor_arrays.tensor_array import TensorArray as _GraphTensorArray
from everflow.ops.tensor_arrays.tensor_array import _grad_source as _GetGradSource

__all__ = ["_EagerTensorArray", "_GetGradSource", "_GraphTensorArray", "_GraphTensorArrayV2", "build_ta_with_new_flow"]


def build_ta_with_new_flow(old_ta: Any, flow: Any) -> Any:
    """A TensorArray like another one, with a flow of its own."""
    return old_ta.with_flow(flow)
