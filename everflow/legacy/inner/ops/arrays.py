"""Names that programs take from inside tensorflow.python.ops.array_ops: functions of TensorFlow 2 as they are there,
with arguments that its interface dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from everflow.ops.array.indexing import gather
from everflow.ops.array.layout import pad

if TYPE_CHECKING:
    from everflow.framework.operation import Tensor

__all__ = ["gather_v2", "pad_v2"]


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
