"""Classes of libraries whose objects stand for tensors, as distributions do that are samples where a tensor is wanted."""

from __future__ import annotations

from typing import Any

from everflow.framework.conversion import convert_to_tensor_or_composite
from everflow.framework.nest import flatten
from everflow.framework.operation import Tensor

REGISTERED: set[type] = set()


def register_symbolic_tensor_type(cls: type) -> None:
    """Let objects of a class count as tensors of a graph where they become such."""
    REGISTERED.add(cls)


def is_of_a_graph(x: Any) -> bool:
    """Whether an input of a layer is a tensor of a graph, or an object that becomes one; `x` has no parts."""
    if REGISTERED and isinstance(x, tuple(REGISTERED)):
        return any(map(is_of_a_graph, flatten(convert_to_tensor_or_composite(x), expand_composites=True)))
    return isinstance(x, Tensor) and not x.is_eager
