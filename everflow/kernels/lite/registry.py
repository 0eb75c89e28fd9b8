"""The table of TensorFlow Lite's kernels, and what a kernel is told of the operator it computes.

A kernel is `fn(call, *inputs)` on torch tensors (strings: numpy object arrays; an optional input that isn't there:
None) and returns one value or a tuple. An op can have three: a plain one, one for quantized tensors, and one for float
tensors with 8-bit weights (hybrid).
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from everflow.kernels.registry import function_of

if TYPE_CHECKING:
    from everflow.kernels.tensors import AnyTensor

PLAIN, QUANTIZED, HYBRID = "plain", "quantized", "hybrid"
_FAMILIES = ("arithmetic", "arrays", "layers", "recurrent", "quantized", "quantized_layers", "hybrid")
_F = TypeVar("_F", bound=Callable)
_kernels: dict[tuple[str, str], Callable] = {}


@dataclass(frozen=True)
class Operand:
    """A tensor as an operator sees it: its type and, where quantized, the numbers that make reals of its integers."""

    dtype: np.dtype
    scale: np.ndarray | None = None
    zero_point: np.ndarray | None = None
    axis: int = 0

    @property
    def quantized(self) -> bool:
        return self.scale is not None and self.dtype in (np.dtype("u1"), np.dtype("i1"), np.dtype("i2"))

    @property
    def step(self) -> np.float32:
        """The one scale of a tensor that is quantized as a whole."""
        assert self.scale is not None
        return np.float32(self.scale[0])

    @property
    def zero(self) -> int:
        assert self.zero_point is not None
        return int(self.zero_point[0])


@dataclass(frozen=True)
class Call:
    """An operator: its name, its options (every field there, whatever the file left out), and its operands."""

    name: str
    options: SimpleNamespace
    inputs: tuple[Any, ...]  # Operands; None for an optional one that isn't there
    outputs: tuple[Operand, ...]


def lite(*names: str, kind: str = PLAIN) -> Callable[[_F], _F]:
    """Register the decorated function as a kernel of these ops."""

    def register(function: _F) -> _F:
        for name in names:
            _kernels[name, kind] = function
        return function

    return register


def tensorflow_op(op_type: str, *inputs: AnyTensor | Sequence[AnyTensor], **attributes: Any) -> Any:
    """Compute an op of TensorFlow."""
    return function_of(op_type)(*inputs, **attributes)


def find(call: Call) -> Callable | None:
    """The kernel of a call, by what its operands are; None where there is none."""
    _load()
    first = call.inputs[0] if call.inputs else None
    weights = call.inputs[1] if len(call.inputs) > 1 else None
    kind = PLAIN
    if any(operand is not None and operand.quantized for operand in (*call.inputs, *call.outputs)):
        kind = HYBRID if first and weights and first.dtype == np.float32 and weights.quantized else QUANTIZED
    return _kernels.get((call.name, kind)) or _kernels.get((call.name, PLAIN))


def names() -> list[str]:
    """All ops that have a kernel."""
    _load()
    return sorted({name for name, _ in _kernels})


@functools.cache
def _load() -> None:
    for family in _FAMILIES:
        importlib.import_module(f"everflow.kernels.lite.{family}")
