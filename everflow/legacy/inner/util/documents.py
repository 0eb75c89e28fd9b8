"""TensorFlow's `python.util.decorator_utils` and what `deprecation` has beside its decorators: names, notices in
docstrings, attributes that are hidden.
"""

from __future__ import annotations

import collections
import inspect
import re
from collections.abc import Callable
from typing import Any

from everflow.platform.deprecation import add_notice_to_docstring  # noqa: F401  It is a name of decorator_utils.

# Of an argument that is going away: where it stands, and the value, if any, that may still be given.
DeprecatedArgSpec = collections.namedtuple("DeprecatedArgSpec", ["position", "has_ok_value", "ok_value"])


def get_qualified_name(function: Any) -> str:
    """A function's name with that of its class."""
    return getattr(function, "__qualname__", function.__name__)


def validate_callable(func: Any, decorator_name: str) -> None:
    """ValueError for what can't be called: @property, for one, goes above other decorators."""
    if not callable(func):
        raise ValueError(f"@{decorator_name} decorates functions, not {func!r}. With @property it goes below it.")


class classproperty:
    """A property of the class itself.

    >>> class Layer:
    ...     @classproperty
    ...     def kind(cls):
    ...         return cls.__name__.lower()
    >>> Layer.kind
    'layer'
    """

    def __init__(self, func: Callable[[Any], Any]):
        self._function = func

    def __get__(self, instance: object, owner: type) -> Any:
        return self._function(owner)


def _normalize_docstring(docstring: str | None) -> str:
    """A docstring without the indentation that its place gives it, and without blanks around it."""
    return inspect.cleandoc(docstring or "").strip()


def rewrite_argument_docstring(old_doc: str, old_argument: str, new_argument: str) -> str:
    """A docstring in which an argument has another name."""
    quoted = old_doc.replace(f"`{old_argument}`", f"`{new_argument}`")
    return re.sub(rf"\b{re.escape(old_argument)}:", f"{new_argument}:", quoted)


class HiddenTfApiAttribute(property):
    """An attribute that a class has and its objects have not: AttributeError, with a message of why."""

    def __init__(self, deprecation_message: str):
        def refuse(_: object) -> None:
            raise AttributeError(deprecation_message)

        super().__init__(refuse)


hide_attribute_from_api = HiddenTfApiAttribute
