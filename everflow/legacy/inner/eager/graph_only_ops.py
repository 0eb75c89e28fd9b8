"""tensorflow.python.eager.graph_only_ops: nodes that are drawn whether or not the program executes eagerly elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor

if TYPE_CHECKING:
    from everflow.framework.hints import DTypeLike, ShapeLike
    from everflow.framework.operation import Tensor


def graph_placeholder(dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """A placeholder, named as a function's argument is without a name of its own."""
    return raw.Placeholder(dtype=dtype, shape=shape, name=name or "placeholder")


def graph_zeros_like(tensor: Tensor) -> Tensor:
    """Zeros of a tensor's type and shape, as a node of its own kind even where they are constant."""
    return raw.ZerosLike(x=convert_to_tensor(tensor), name="zeros_like")
