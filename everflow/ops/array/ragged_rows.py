"""How functions of tensors come to take ragged ones: applied to their values, or through a form of their own in
`ops/ragged`.

The forms are registered when `ops/ragged` is loaded; before that there is no ragged tensor.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from everflow.framework.composites import CompositeTensor
from everflow.framework.conversion import convert_to_tensor
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


def plainly(function: Callable, *args, **kwargs):
    """What a function makes of ragged arguments as it does of others, or None where it fails, as nearly all do.

    TensorFlow turns to the ragged form only then: the names and nodes that this took in a graph stay.
    """
    if not get_default_graph().executes:
        with contextlib.suppress(TypeError, ValueError):
            return function(*args, **kwargs)
    return None


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
            if (made := plainly(function, *args, **kwargs)) is not None:
                return made
            given = list(args[:operands])
            for name in names[len(given) :]:  # operands by name
                if name in kwargs:
                    given.append(kwargs.pop(name))
            return form(function, given, args[operands:], kwargs)

        return build

    return decorate


# Arguments of which TensorFlow makes tensors to see whether they are ragged; in a graph these stay.
_LOOKED_AT = {
    "batch_gather": ("params", "indices"),
    "concat": ("values",),
    "dynamic_partition": ("data", "partitions"),
    "gather": ("params", "indices"),
    "gather_nd": ("params", "indices"),
    "where": ("condition", "x", "y"),
    **{f"unsorted_segment_{kind}": ("data", "segment_ids") for kind in ("sum", "prod", "max", "min", "mean", "sqrt_n")},
}
# Those of functions that it turns to only where a call was refused; two functions may have looked, one inside of the
# other.
_LOOKED_AT_AFTER_REFUSAL = {
    **_LOOKED_AT,
    "expand_dims": ("input", "input"),
    "one_hot": ("indices",),
    "reduce_join": ("inputs",),
    "squeeze": ("input",),
    "stack": ("values",),
    "string_join": ("inputs",),
    "tile": ("input",),
    **{f"reduce_{kind}": ("input_tensor",) for kind in ("all", "any", "max", "mean", "min", "prod", "sum")},
}
# Functions that take a list of tensors.
_OF_LISTS = ("concat", "stack", "string_join")


def _look_at(function: str, names: Iterable[str], given: dict[str, Any], kinds: tuple[type, ...]) -> None:
    """Make tensors of the arguments that are of some kinds, as looking at them does."""
    if get_default_graph().executes:
        return
    for name in names:
        value = given.get(name)
        for each in value if function in _OF_LISTS and isinstance(value, (list, tuple)) else [value]:
            if isinstance(each, kinds):
                with contextlib.suppress(TypeError, ValueError):
                    convert_to_tensor(each)


def looks_for_ragged(function):
    """Leave in the graph, where a call is refused, the constants that TensorFlow makes when it looks for a ragged tensor
    among the arguments.
    """
    signature = inspect.signature(function)
    names = _LOOKED_AT_AFTER_REFUSAL.get(function.__name__, ())

    @standing_for(function)
    def build(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            with contextlib.suppress(TypeError):  # arguments that the function doesn't have
                _look_at(function.__name__, names, signature.bind(*args, **kwargs).arguments, (list, tuple))
            raise

    return build


def has_ragged_form(function):
    """Leave ragged arguments, which may stand in a list, to the form of the function's name."""
    parameters = list(inspect.signature(function).parameters)
    names = _LOOKED_AT.get(function.__name__, ())
    plain = looks_for_ragged(function)

    @standing_for(function)
    def build(*args, **kwargs):
        given = [*args, *kwargs.values()]
        form = ragged_form(function.__name__, *given, *(v for a in given if isinstance(a, (list, tuple)) for v in a))
        if form is None:
            return plain(*args, **kwargs)
        if (made := plainly(function, *args, **kwargs)) is not None:
            return made
        by_name = {**dict(zip(parameters, args)), **kwargs}
        _look_at(function.__name__, names, by_name, (list, tuple, np.ndarray))
        return form(*args, **kwargs)

    return build
