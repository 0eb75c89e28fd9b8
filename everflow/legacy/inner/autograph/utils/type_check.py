"""tensorflow.python.autograph.utils.type_check."""

from __future__ import annotations

from typing import Any

from everflow.framework.operation import Tensor
from everflow.ops.variables.variable import Variable


def is_tensor(*args: Any) -> bool:
    """Whether any of the arguments is a tensor or variable."""
    return any(isinstance(arg, (Tensor, Variable)) for arg in args)
