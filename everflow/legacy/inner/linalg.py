"""Names that programs take from inside TensorFlow's `linear_operator_util`: solving with batches that broadcast, and
arguments that may be variables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.shapes import Dimension
from everflow.ops.linalg.operators.broadcasting import assert_compatible_matrix_dimensions
from everflow.ops.linalg.operators.broadcasting import cholesky_solve as cholesky_solve_with_broadcast
from everflow.ops.linalg.operators.broadcasting import matrix_solve as matrix_solve_with_broadcast
from everflow.ops.linalg.operators.broadcasting import matrix_triangular_solve as matrix_triangular_solve_with_broadcast
from everflow.ops.variables.module import Module
from everflow.ops.variables.variable import Variable

__all__ = [
    "assert_compatible_matrix_dimensions",
    "assert_is_batch_matrix",
    "assert_not_ref_type",
    "base_dtype",
    "cholesky_solve_with_broadcast",
    "convert_nonref_to_tensor",
    "dtype_name",
    "is_ref",
    "matrix_solve_with_broadcast",
    "matrix_triangular_solve_with_broadcast",
    "shape_tensor",
    "use_operator_or_provided_hint_unless_contradicting",
]


def is_ref(x: Any) -> bool:
    """Whether something may have another value when it is looked at again: a variable, or a module with a type and a
    shape.
    """
    return isinstance(x, Variable) or (isinstance(x, Module) and hasattr(x, "dtype") and hasattr(x, "shape"))


def assert_not_ref_type(x: Any, arg_name: str) -> None:
    """TypeError where an argument is a variable."""
    if is_ref(x):
        raise TypeError(f"{arg_name} is a {type(x).__name__}, and must be a value that doesn't change")


def base_dtype(dtype: Any) -> Any:
    """A type without the mark of a reference; None for None."""
    if dtype is None:
        return None
    return dtypes.as_dtype(dtype).base_dtype if isinstance(dtype, dtypes.DType) else dtype


def dtype_name(dtype: Any) -> str:
    """The name of a type, of ours or of numpy's."""
    dtype = base_dtype(dtype)
    return dtype.name if hasattr(dtype, "name") else getattr(dtype, "__name__", str(dtype))


def convert_nonref_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """A value as a tensor; None and what may change as they are, TypeError where that is of another type."""
    if value is None:
        return None
    if not is_ref(value):
        return convert_to_tensor(value, dtype=dtype, preferred_dtype=dtype_hint, name=name)
    if dtype is not None and dtype_name(value.dtype) != dtype_name(dtype):
        raise TypeError(f"{dtype_name(dtype)} is wanted; {value!r} is of type {dtype_name(value.dtype)}")
    return value


def shape_tensor(shape: Any, name: str | None = None) -> Tensor:
    """A shape as a tensor, of int32 unless its sizes say otherwise."""
    dtype = None
    if isinstance(shape, (tuple, list)):
        shape = [size.value if isinstance(size, Dimension) else size for size in shape]
        if not shape or all(isinstance(size, (int, np.integer)) for size in shape):
            dtype = dtypes.int32
    return convert_to_tensor(shape, dtype=dtype, name=name)


def use_operator_or_provided_hint_unless_contradicting(
    operator: Any, hint_attr_name: str, provided_hint_value: bool | None, message: str
) -> bool | None:
    """A hint that an operator or its user gives; ValueError with `message` where they differ."""
    own = getattr(operator, hint_attr_name)
    given = {bool(hint) for hint in (own, provided_hint_value) if hint is not None}
    if len(given) > 1:
        raise ValueError(message)
    return given.pop() if given else None


def assert_is_batch_matrix(tensor: Tensor) -> None:
    """ValueError where a tensor is known to have fewer than two dimensions."""
    if tensor.shape.rank is not None and tensor.shape.rank < 2:
        raise ValueError(
            f"A matrix, or a batch of them, has at least two dimensions; {tensor!r} has {tensor.shape.rank}"
        )
