"""Names that programs take from inside tensorflow.python.ops.array_ops: functions of TensorFlow 2 as they are there,
with arguments that its interface dropped; and what its own functions check their arguments with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.ops.array.basic import ones_like as ones_like_impl
from everflow.ops.array.basic import zeros_like as zeros_like_impl
from everflow.ops.array.indexing import gather, setdiff1d
from everflow.ops.array.layout import pad

if TYPE_CHECKING:
    from everflow.framework.operation import Tensor

__all__ = [
    "NEW_AXIS",
    "SHRINK_AXIS",
    "convert_to_int_tensor",
    "gather_v2",
    "get_positive_axis",
    "listdiff",
    "ones_like_impl",
    "pad_v2",
    "zeros_like_impl",
]

# How a list of axes says that one is made, or taken away.
NEW_AXIS = -1
SHRINK_AXIS = -2


def get_positive_axis(axis: int, ndims: int | None) -> int:
    """An axis counted from the first one, where negative ones count from the last."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if ndims is None:
        if axis < 0:
            raise ValueError(
                f"axis={axis} counts from the last axis, and how many there are is not known: give a positive one."
            )
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError(f"axis={axis} out of bounds: expected -{ndims}<=axis<{ndims}")
    return axis + ndims if axis < 0 else axis


def convert_to_int_tensor(tensor: Any, name: str, dtype: Any = dtypes.int32) -> Tensor:
    """A tensor of integers, cast to a type of them; TypeError for other numbers."""
    tensor = convert_to_tensor(tensor, name=name, preferred_dtype=dtype)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={tensor.dtype}")
    return raw.Cast(x=tensor, DstT=dtype)


def listdiff(x: Any, y: Any, out_idx: Any = None, name: str | None = None) -> Any:
    """`tf.setdiff1d`, under its first name."""
    return setdiff1d(x, y, dtypes.int32 if out_idx is None else out_idx, name)


def gather_v2(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """`tf.gather`, with the axis the last of the dimensions of batches where none is given."""
    return gather(params, indices, validate_indices, name, axis, batch_dims)


def pad_v2(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None
) -> Tensor:
    """`tf.pad`, with the name last."""
    return pad(tensor, paddings, mode, name, constant_values)
