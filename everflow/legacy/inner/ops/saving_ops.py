"""tensorflow.python.ops.io_ops: tensors written to a checkpoint of the first format, whole or as slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everflow.framework import raw_ops as raw
from everflow.framework.operation import Operation

__all__ = ["_save"]


def _save(
    filename: Any,
    tensor_names: Any,
    tensors: Sequence[Any],
    tensor_slices: Any = None,
    name: str = "save",
) -> Operation:
    """An op that writes tensors under these names; with slices, as parts of larger ones."""
    if tensor_slices is None:
        return raw.Save(filename=filename, tensor_names=tensor_names, data=tensors, name=name)
    return raw.SaveSlices(
        filename=filename, tensor_names=tensor_names, shapes_and_slices=tensor_slices, data=tensors, name=name
    )
