"""Names that programs take from inside tensorflow.python.ops.template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["_skip_common_stack_elements"]


def _skip_common_stack_elements(stacktrace: Sequence[Any], base_case: Sequence[Any]) -> Sequence[Any]:
    """What a stack has from the first frame on that differs from another's; its last frame where none does."""
    for place, (frame, other) in enumerate(zip(stacktrace, base_case, strict=False)):
        if frame != other:
            return stacktrace[place:]
    return stacktrace[-1:]
