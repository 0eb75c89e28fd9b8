"""Parameters as data: functions and methods that take what a line of text or a table says.

Families of functions with long lists of parameters share them so, and hand on what they don't look at themselves.
It lives here because training is the lowest package with many such families: those above may import it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from typing import Any

# The default of a parameter that has none.
REQUIRED = inspect.Parameter.empty


def parameters(text: str, **objects: Any) -> dict[str, Any]:
    """{name: default} of a list of parameters, written as Python has it; `**kwargs` is a name, too. Defaults are
    constants, or named among `objects`.

    >>> parameters("rate, seed=None")
    {'rate': <class 'inspect._empty'>, 'seed': None}
    """
    function = ast.parse(f"(lambda {text}: 0)", mode="eval").body
    assert isinstance(function, ast.Lambda)
    taken = function.args
    names = [parameter.arg for parameter in taken.args]
    found: dict[str, Any] = dict.fromkeys(names, REQUIRED)
    for name, value in zip(names[len(names) - len(taken.defaults) :], taken.defaults):
        found[name] = objects[value.id] if isinstance(value, ast.Name) else ast.literal_eval(value)
    return found | ({f"**{taken.kwarg.arg}": REQUIRED} if taken.kwarg else {})


def taking(listed: Mapping[str, Any], body: Callable, *first: str) -> Callable:
    """A function that takes these parameters, {name: default}, by position or name, and calls `body` with them by name.

    What is named in `first` comes before the others and is handed on by position: "self", for a method.
    """
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [inspect.Parameter(name, kind) for name in first]
        + [
            inspect.Parameter(name[2:], inspect.Parameter.VAR_KEYWORD)
            if name.startswith("**")
            else inspect.Parameter(name, kind, default=default)
            for name, default in listed.items()
        ]
    )

    def function(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        named = dict(given.arguments)
        more = named.pop("kwargs", {}) if "**kwargs" in listed else {}
        before = [named.pop(name) for name in first]
        return body(*before, **named, **more)

    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def takes(listed: str | Mapping[str, Any], *first: str, **objects: Any) -> Callable[[Callable], Callable]:
    """Decorator: a function takes what is listed, as text or {name: default}, and is called with it by name.

    >>> @takes("rate, seed=None", "self")
    ... def call(self, rate, **more): ...
    """
    taken = parameters(listed, **objects) if isinstance(listed, str) else listed

    def decorate(body: Callable) -> Callable:
        function = taking(taken, body, *first)
        for name in ("__name__", "__qualname__", "__doc__", "__module__"):
            setattr(function, name, getattr(body, name))
        return function

    return decorate
