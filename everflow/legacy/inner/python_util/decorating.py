"""tensorflow.python.util.decorator_utils: names of functions, notices in their documentation, properties of classes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["add_notice_to_docstring", "classproperty", "get_qualified_name", "validate_callable"]


class classproperty:
    """A property that is asked of a class as well as of its objects."""

    def __init__(self, func: Callable[[type], Any]) -> None:
        self._func = func

    def __get__(self, instance: Any, owner: type) -> Any:
        return self._func(owner)


def get_qualified_name(function: Callable) -> str:
    """A function's name with those of the classes and functions it is in."""
    return getattr(function, "__qualname__", None) or function.__name__


def validate_callable(func: Any, decorator_name: str) -> None:
    """ValueError where a decorator was put on what is no function."""
    if not callable(func):
        raise ValueError(f"@{decorator_name} goes on functions, not on {func!r}; write it below @property")


def add_notice_to_docstring(
    doc: str | None, instructions: str, no_doc_str: str, suffix_str: str, notice: Sequence[str]
) -> str:
    """A documentation with a notice below its first line: `notice`, then what to do instead."""
    lines = inspect.cleandoc(doc).splitlines() if doc else [no_doc_str]
    if doc:
        lines[0] += f" {suffix_str}"
    warning = [f"Warning: {notice[0]}", *notice[1:], *([instructions] if instructions else [])]
    rest = lines[1:] if len(lines) < 2 or lines[1].strip() else lines[2:]
    return "\n".join([lines[0], "", *warning, *(["", *rest] if rest else [])])
