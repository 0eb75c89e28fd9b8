"""What machine code of a loop is made of besides expressions: op type → the function that writes its step.

    @step("Assert")
    def check(t, node):
        ...

`t`, the translator of the loop, knows where values lie. A step that `makes` its result asks it for a place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from everflow.runtime.plan.native.loops import Translator
    from everflow.runtime.plan.program import Node

Step = Callable[["Translator", "Node"], None]
_F = TypeVar("_F", bound=Step)
STEPS: dict[str, Step] = {}
# Op types whose result lies where the translator wants it.
MAKES: set[str] = set()


class NotNative(Exception):
    """Something in a loop has no machine code."""


def step(*op_types: str, makes: bool = False) -> Callable[[_F], _F]:
    """Register the decorated function as the step of these op types."""

    def register(function: _F) -> _F:
        STEPS.update(dict.fromkeys(op_types, function))
        if makes:
            MAKES.update(op_types)
        return function

    return register
