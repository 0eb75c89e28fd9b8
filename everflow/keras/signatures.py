"""Parameters of other functions as data: methods that take what others take but for some defaults, or with some more."""

from __future__ import annotations

import inspect

from everflow.train.signatures import REQUIRED, parameters, takes, taking  # noqa: F401  for what is built on Keras


def parameters_of(function, without=(), **defaults):
    """{name: default} of what a method takes besides `self`, some left out, some changed; `**kwargs` is a name, too."""
    found = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        name = f"**{parameter.name}" if parameter.kind is parameter.VAR_KEYWORD else parameter.name
        if name not in without:
            found[name] = defaults.get(name, parameter.default)
    return found


def inserted(listed, after, **more):
    """These parameters with others after one of them."""
    made = {}
    for name, default in listed.items():
        made |= {name: default, **more} if name == after else {name: default}
    return made


def constructor(listed, body):
    """An `__init__` that takes these parameters and calls `body(self, …)` with all of them by name."""
    made = taking(listed, body, "self")
    made.__name__ = made.__qualname__ = "__init__"
    return made
