"""Parameters that several functions share, said once: those of a table or a function stand for `**given`."""

from __future__ import annotations

import functools
import inspect

_KIND = inspect.Parameter.POSITIONAL_OR_KEYWORD


def parameters_of(function, without=(), **defaults):
    """{name: default} of the parameters of a function that have defaults, some left out, some changed or added."""
    found = {p.name: p.default for p in inspect.signature(function).parameters.values() if p.default is not p.empty}
    return {**{name: default for name, default in found.items() if name not in without}, **defaults}


def optional(words, **defaults):
    """A table of parameters in the order of words, None by default unless there is another one.

    >>> optional("rate scope", rate=1)
    {'rate': 1, 'scope': None}
    """
    return {**dict.fromkeys(words.split()), **defaults}


def inserted(parameters, **after):
    """A table of parameters with more of them, those of `after`, behind the ones that it names.

    >>> inserted({"trainable": True, "scope": None}, trainable={"rate": 1})
    {'trainable': True, 'rate': 1, 'scope': None}
    """
    return {
        key: value for name in parameters for key, value in ({name: parameters[name]} | after.get(name, {})).items()
    }


def taking(parameters):
    """Decorator: in place of its `**given` a function takes these parameters, {name: default}, or those of a function.

    What it names itself stays where it is; its keyword-only parameters come last, and can be given by position, too.

    >>> @taking({"trainable": True, "scope": None})
    ... def layer(inputs, units, **given):
    ...     return inputs, units, given
    >>> layer("x", 3, False)
    ('x', 3, {'trainable': False, 'scope': None})
    """
    table = parameters if isinstance(parameters, dict) else parameters_of(parameters)

    def decorate(function):
        own = list(inspect.signature(function).parameters.values())
        named = {p.name for p in own}
        shared = [inspect.Parameter(name, _KIND, default=table[name]) for name in table if name not in named]
        last = [p.replace(kind=_KIND) for p in own if p.kind is p.KEYWORD_ONLY]
        signature = inspect.Signature([*(p for p in own if p.kind is _KIND), *shared, *last])

        @functools.wraps(function)
        def call(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return function(**bound.arguments)

        call.__signature__ = signature
        return call

    return decorate
