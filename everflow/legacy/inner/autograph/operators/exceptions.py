"""tensorflow.python.autograph.operators.exceptions: `assert`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from everflow.ops.autograph import operators


def assert_stmt(expression1: Any, expression2: Callable[[], Any]) -> Any:
    """`assert expression1, expression2()`; a tensor is checked when it is run."""
    if not callable(expression2) or inspect.signature(expression2).parameters:
        raise ValueError(f"The message must come from a function without arguments, not be {expression2!r}")
    return operators.assert_stmt(lambda: expression1, expression2)
