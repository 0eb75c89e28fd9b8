"""tensorflow.python.autograph.operators.special_values: what stands for variables and results that have no value yet."""

from __future__ import annotations

from typing import Any

from everflow.ops.autograph import operators


class Undefined(operators.Undefined):
    """Stands for a variable without a value."""

    def __init__(self, symbol_name: str) -> None:
        super().__init__(symbol_name)
        self.symbol_name = symbol_name


class UndefinedReturnValue:
    """Stands for the result of a function that hasn't returned."""


def is_undefined(value: Any) -> bool:
    """Whether a value stands for a variable without one."""
    return isinstance(value, operators.Undefined)


def is_undefined_return(value: Any) -> bool:
    """Whether a value stands for a result that isn't there."""
    return isinstance(value, UndefinedReturnValue)


def retval(value: Any) -> Any:
    """A function's result, None where it has none."""
    return None if is_undefined_return(value) else value
