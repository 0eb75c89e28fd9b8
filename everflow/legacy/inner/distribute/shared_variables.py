"""`tensorflow.python.distribute.shared_variable_creator`: replicas of a program that make their variables once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

# What makes the name of a scope or variable unlike others: a number of one digit.
_VARIABLE_UNIQUIFYING_REGEX = re.compile(r"_\d/")
_VARIABLE_UNIQUIFYING_REGEX_AT_END = re.compile(r"_\d$")


def _canonicalize_variable_name(name: str | None) -> str:
    if name is None:
        return "Variable"
    return _VARIABLE_UNIQUIFYING_REGEX_AT_END.sub("", _VARIABLE_UNIQUIFYING_REGEX.sub("/", name))


def make_fn(shared_variable_store: dict[str, list], device_id: int) -> Callable[..., Any]:
    """A variable creator for one replica: the first makes variables, the others get those of the same names in the same
    order.
    """
    asked: dict[str, int] = {}

    def creator(next_creator: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        name = _canonicalize_variable_name(kwargs.get("name"))
        made = shared_variable_store.setdefault(name, [])
        if device_id == 0:
            made.append(next_creator(*args, **kwargs))
            return made[-1]
        position = asked.get(name, 0)
        asked[name] = position + 1
        if position >= len(made):
            raise RuntimeError(
                f"Replica {device_id} asks for variable {position + 1} named {name!r}; the first replica made {len(made)}"
            )
        return made[position]

    return creator
