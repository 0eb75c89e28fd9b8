"""How functions of tensors come to take ragged ones: applied to their values, or through a form of their own in
`ops/ragged`.

The forms are registered when `ops/ragged` is loaded; before that there is no ragged tensor.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable

from everflow.framework.composites import CompositeTensor
from everflow.framework.scopes import get_default_graph
from everflow.platform.signatures import standing_for

_forms: dict[str, Callable] = {}
_kinds: tuple[type, ...] = (CompositeTensor,)


def register_forms(kinds: tuple[type, ...] = (), **forms: Callable) -> None:
    """What takes the place of functions, by name, where ragged tensors are given; `elementwise` is for all that
    `takes_ragged`. `kinds` are further classes of what is ragged.
    """
    global _kinds
    _kinds += kinds
    _forms.update(forms)


def ragged_form(name: str, *values) -> Callable | None:
    """The form of a function for ragged tensors where one of some values may be one, else None."""
    return _forms.get(name) if any(isinstance(v, _kinds) for v in values) else None


def takes_ragged(operands: int = 1):
    """Let the first `operands` arguments of an element-wise function be ragged tensors: it is applied to their values,
    row by row.
    """

    def decorate(function):
        names = list(inspect.signature(function).parameters)[:operands]

        @standing_for(function)
        def build(*args, **kwargs):
            form = ragged_form("elementwise", *args, *kwargs.values())
            if form is None:
                return function(*args, **kwargs)
            if not get_default_graph().executes:
                # TensorFlow tries the function as it is before; the names that this takes stay taken.
                with contextlib.suppress(TypeError, ValueError):
                    return function(*args, **kwargs)
            given = list(args[:operands])
            for name in names[len(given) :]:  # operands by name
                if name in kwargs:
                    given.append(kwargs.pop(name))
            return form(function, given, args[operands:], kwargs)

        return build

    return decorate


def has_ragged_form(function):
    """Leave ragged arguments to the form of the function's name."""

    @standing_for(function)
    def build(*args, **kwargs):
        form = ragged_form(function.__name__, *args, *kwargs.values())
        return (function if form is None else form)(*args, **kwargs)

    return build
