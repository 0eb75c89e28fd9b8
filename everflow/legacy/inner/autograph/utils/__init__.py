"""tensorflow.python.autograph.utils: small functions that converted programs and conversions use."""

# ruff: noqa: F401  Names handed on are the purpose of this file.

from everflow.legacy.inner.autograph.utils.functions import (
    MatchDType,
    alias_tensors,
    capitalize_initial,
    control_dependency_on_returns,
    get_range_len,
    wrap_py_func,
)
from everflow.legacy.inner.autograph.utils.tensors import (
    TensorList,
    dynamic_list_append,
    is_dense_tensor,
    is_range_tensor,
    is_tensor_array,
    is_tensor_list,
)
from everflow.legacy.inner.autograph.utils.testing import fake_tf
from everflow.legacy.inner.autograph.utils.type_check import is_tensor
