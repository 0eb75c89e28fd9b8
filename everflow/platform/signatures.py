"""Parameters as data: functions and methods that take what a line of text, a table or another function says.

Families of functions with long lists of parameters share them so, and hand on what they don't look at themselves.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Container, Mapping
from typing import Any

# The default of a parameter that has none.
REQUIRED = inspect.Parameter.empty
_KIND = inspect.Parameter.POSITIONAL_OR_KEYWORD


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


def optional(words: str, **defaults: Any) -> dict[str, Any]:
    """Parameters in the order of words, None by default unless there is another one.

    >>> optional("rate scope", rate=1)
    {'rate': 1, 'scope': None}
    """
    return {**dict.fromkeys(words.split()), **defaults}


def parameters_of(method: Callable, without: Container[str] = (), **defaults: Any) -> dict[str, Any]:
    """{name: default} of what a method takes besides `self`, some left out, some changed; `**kwargs` is a name, too."""
    found = {}
    for parameter in list(inspect.signature(method).parameters.values())[1:]:
        name = f"**{parameter.name}" if parameter.kind is parameter.VAR_KEYWORD else parameter.name
        if name not in without:
            found[name] = defaults.get(name, parameter.default)
    return found


def options_of(function: Callable, without: Container[str] = (), **defaults: Any) -> dict[str, Any]:
    """{name: default} of the parameters of a function that have defaults, some left out, some changed or added."""
    found = {p.name: p.default for p in inspect.signature(function).parameters.values() if p.default is not REQUIRED}
    return {**{name: default for name, default in found.items() if name not in without}, **defaults}


def inserted(listed: Mapping[str, Any], **after: Mapping[str, Any]) -> dict[str, Any]:
    """These parameters with more of them, those of `after`, behind the ones that it names.

    >>> inserted({"trainable": True, "scope": None}, trainable={"rate": 1})
    {'trainable': True, 'rate': 1, 'scope': None}
    """
    return {key: value for name in listed for key, value in ({name: listed[name]} | dict(after.get(name, {}))).items()}


def taking(listed: Mapping[str, Any], body: Callable, *first: str) -> Callable:
    """A function that takes these parameters, {name: default}, by position or name, and calls `body` with them by name.

    What is named in `first` comes before the others and is handed on by position: "self", for a method.
    """
    signature = inspect.Signature([*(inspect.Parameter(name, _KIND) for name in first), *_as_parameters(listed)])
    return _calling(body, signature, first)


def constructor(listed: Mapping[str, Any], body: Callable) -> Callable:
    """An `__init__` that takes these parameters and calls `body(self, …)` with all of them by name."""
    made = taking(listed, body, "self")
    made.__name__ = made.__qualname__ = "__init__"
    return made


def takes(listed: str | Mapping[str, Any] | Callable, **objects: Any) -> Callable[[Callable], Callable]:
    """Decorator: a function takes what is listed besides its own parameters, and is called with all by name.

    `listed` is text, {name: default}, or a function whose options are meant. A parameter that the function gives a
    default itself keeps that and its place; its keyword-only parameters come last, and can be given by position, too.

    >>> @takes({"trainable": True, "scope": None})
    ... def layer(inputs, units, *, last=0, **given):
    ...     return inputs, units, given
    >>> layer("x", 3, False)
    ('x', 3, {'trainable': False, 'scope': None})
    """
    table = (
        parameters(listed, **objects) if isinstance(listed, str) else options_of(listed) if callable(listed) else listed
    )

    def decorate(function: Callable) -> Callable:
        own = inspect.signature(function).parameters.values()
        kept = [p for p in own if p.kind is _KIND and (p.name not in table or p.default is not REQUIRED)]
        last = [p.replace(kind=_KIND) for p in own if p.kind is p.KEYWORD_ONLY and p.name not in table]
        named = {p.name for p in kept}
        shared = _as_parameters({name: default for name, default in table.items() if name not in named})
        rest = [p for p in shared if p.kind is p.VAR_KEYWORD]
        signature = inspect.Signature([*kept, *(p for p in shared if p not in rest), *last, *rest])
        return functools.wraps(function)(_calling(function, signature))

    return decorate


def standing_for(function: Callable) -> Callable[[Callable], Callable]:
    """`functools.wraps`, for functions of which `inspect.getfullargspec` shall tell the parameters, too: it doesn't
    look behind a wrapper.
    """

    def decorate(wrapper: Callable) -> Callable:
        wrapper = functools.wraps(function)(wrapper)
        try:
            wrapper.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        except ValueError:  # some built-in functions tell nobody what they take
            return wrapper
        return wrapper

    return decorate


def _as_parameters(listed: Mapping[str, Any]) -> list[inspect.Parameter]:
    return [
        inspect.Parameter(name[2:], inspect.Parameter.VAR_KEYWORD)
        if name.startswith("**")
        else inspect.Parameter(name, _KIND, default=default)
        for name, default in listed.items()
    ]


def _bound(signature: inspect.Signature, function: Callable, args: Any, kwargs: Any) -> inspect.BoundArguments:
    """What a function is given, by name, with defaults."""
    try:
        given = signature.bind(*args, **kwargs)
    except TypeError as e:
        raise TypeError(f"{function.__name__}() {e}") from None  # as Python says it: a signature knows no name
    given.apply_defaults()
    return given


def _calling(body: Callable, signature: inspect.Signature, first: tuple[str, ...] = ()) -> Callable:
    """A function of this signature that calls `body` with what it is given: by name but for what is in `first`."""
    rest = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)

    def function(*args: Any, **kwargs: Any) -> Any:
        given = _bound(signature, function, args, kwargs)
        named = dict(given.arguments)
        more = named.pop(rest) if rest else {}
        before = [named.pop(name) for name in first]
        return body(*before, **named, **more)

    function.__signature__ = signature  # type: ignore[attr-defined]
    return function
