"""The table of lowerings: what an op type computes, as expressions (`values.py`), for regions that become machine code.

    @lowers("SigmoidGrad")
    def _sigmoid_grad(y, dy):
        return dy * y * (1.0 - y)

They stand beside the kernels, and say the same. A lowering gets its inputs as expressions, attributes by keyword, and
numpy arrays for the input positions that are `known` when planning; one with a keyword `result_shape` is told the static
shape of its first result, one with a keyword `place` draws random numbers at it (`draws.py`). It returns one expression or a tuple of them; None,
or a ValueError, where it has nothing to say of these types and shapes.

One that `checks` may return its results as `Checked`: they hold under a condition. That of an op that `updates`
variables gets what they hold, and returns what they shall hold, for each of them; that of one that `reads` them through
a handle gets what they hold, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from everflow.native.values import Value, apply

Lowered = Value | tuple[Value, ...] | None
_F = TypeVar("_F", bound=Callable[..., Lowered])


@dataclass(frozen=True, slots=True)
class Lowering:
    """How an op type is said in expressions."""

    function: Callable[..., Lowered]
    known: tuple[int, ...]
    attribute_names: tuple[str, ...]
    updates: bool = False
    checks: bool = False
    reads: bool = False

    @property
    def draws(self) -> bool:
        return "place" in self.attribute_names


_lowerings: dict[str, Lowering] = {}


def lowers(
    *op_types: str, known: tuple[int, ...] = (), updates: bool = False, checks: bool = False, reads: bool = False
) -> Callable[[_F], _F]:
    """Register the decorated function as the lowering of these op types."""

    def register(function: _F) -> _F:
        parameters = inspect.signature(function).parameters.values()
        names = tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
        for op_type in op_types:
            if op_type in _lowerings:
                raise ValueError(f"Op type {op_type!r} has a lowering already")
            _lowerings[op_type] = Lowering(function, known, names, updates, checks, reads)
        return function

    return register


def lower_maps(functions: dict[str, str]) -> None:
    """Register op types that are element-wise functions by themselves: op type → function."""
    for op_type, name in functions.items():

        def lowered(*operands: Value, function: Any = name) -> Value:
            return apply(function, *operands)

        _lowerings[op_type] = Lowering(lowered, (), ())


def find(op_type: str) -> Lowering | None:
    """The lowering of an op type, or None. Families of kernels bring theirs when they are loaded."""
    return _lowerings.get(op_type)


def op_types() -> list[str]:
    """All op types with a lowering."""
    return sorted(_lowerings)
