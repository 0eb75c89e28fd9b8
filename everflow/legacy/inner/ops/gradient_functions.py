"""The functions of TensorFlow's modules of gradients, `_MatMulGrad(op, grad)` and the like: what is registered for the op
type that a function is named after.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from everflow.framework.registry import find_gradient

if TYPE_CHECKING:
    from everflow.framework.hints import GradientFunction

__all__: list[str] = []


def __getattr__(name: str) -> GradientFunction:
    found = re.fullmatch(r"_(\w+)Grad", name)
    try:
        function = find_gradient(found[1]) if found else None
    except LookupError:
        function = None
    if function is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return function
