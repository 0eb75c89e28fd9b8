"""TensorFlow's `python.util.dispatch`: functions that let types of people's own take part.

A function with dispatch runs first as it is; if it refuses its arguments (TypeError or ValueError), the dispatchers
registered for it are asked in turn, and the first result that isn't NOT_SUPPORTED counts. Ops begin to ask when the first
dispatcher is registered for them: until then a call costs nothing more.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
import pathlib
import types
from collections.abc import Callable
from typing import Any

import everflow
from everflow.platform import inspection
from everflow.platform.decorators import make_decorator

DISPATCH_ATTR = "_tf_dispatchers"
# Ops that look at an argument before they convert it say of a foreign one that it lacks an attribute.
_REFUSALS = (TypeError, ValueError, AttributeError)


class OpDispatcher:
    """Handles calls of a function for arguments of some kind; people write `handle`, and `register` it for a function."""

    NOT_SUPPORTED = object()

    def handle(self, args: tuple, kwargs: dict) -> Any:
        """The call's result, or NOT_SUPPORTED."""
        del args, kwargs
        return self.NOT_SUPPORTED

    def register(self, op: Callable) -> None:
        """Ask this one too when `op` refuses its arguments."""
        if not hasattr(op, DISPATCH_ATTR):
            _let_ask(op)
        getattr(op, DISPATCH_ATTR).append(self)


class _ForTypes(OpDispatcher):
    """Calls a function if an argument, or an element of a list, is of one of the types."""

    def __init__(self, function: Callable, kinds: tuple[type, ...]):
        self._function, self._kinds = function, kinds

    def handle(self, args: tuple, kwargs: dict) -> Any:
        given = [a if isinstance(a, (list, tuple)) else (a,) for a in (*args, *kwargs.values())]
        if not any(isinstance(value, self._kinds) for value in itertools.chain(*given)):
            return self.NOT_SUPPORTED
        return self._function(*args, **kwargs)


def dispatch(op: Callable, *args: Any, **kwargs: Any) -> Any:
    """What the dispatchers of `op` make of a call, NOT_SUPPORTED where none takes it."""
    answers = (dispatcher.handle(args, kwargs) for dispatcher in getattr(op, DISPATCH_ATTR))
    return next((a for a in answers if a is not OpDispatcher.NOT_SUPPORTED), OpDispatcher.NOT_SUPPORTED)


def dispatch_for_types(op: Callable, *types: type) -> Callable[[Callable], Callable]:
    """Decorator: call this function where `op` refuses arguments among which there is one of `types`."""

    def register(function: Callable) -> Callable:
        wanted, found = inspection.getargspec(op), inspection.getargspec(function)
        if wanted != found:
            raise AssertionError(f"{function} must take the arguments of {op}: {wanted}; it takes {found}.")
        _ForTypes(function, types).register(op)
        return function

    return register


def add_dispatch_list(target: Callable) -> Callable:
    """Decorator: a list of dispatchers, which the function asks by itself with `dispatch`."""
    if hasattr(target, DISPATCH_ATTR):
        raise AssertionError(f"{target} has dispatchers already.")
    setattr(target, DISPATCH_ATTR, [])
    return target


def add_dispatch_support(target: Callable) -> Callable:
    """Decorator: dispatchers are asked when the function raises TypeError or ValueError."""
    asking: Callable = functools.wraps(target)(_asking(target, lambda: asking))
    return make_decorator(target, add_dispatch_list(asking), "add_dispatch_support")


def _asking(function: Callable, op: Callable[[], Callable]) -> Callable:
    """A function like this one that asks the dispatchers of `op()` about calls it refuses."""

    def asking(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except _REFUSALS:
            result = dispatch(op(), *args, **kwargs)
            if result is OpDispatcher.NOT_SUPPORTED:
                raise
            return result

    return asking


@functools.cache
def _ops_that_ask() -> frozenset[Callable]:
    """The public functions that TensorFlow lets dispatchers take calls of: a file lists them by namespace."""
    found = set()
    for line in pathlib.Path(__file__).with_name("dispatching_ops.txt").read_text().splitlines():
        space, _, names = line.partition(":")
        module = operator.attrgetter(space)(everflow) if space != "tf" else everflow
        found.update(getattr(module, name) for name in names.split())
    return frozenset(found)


def _hand_on(*args: Any, **kwargs: Any) -> Any:
    target: Any = "what is to be called"
    return target(*args, **kwargs)


def _let_ask(op: Callable) -> None:
    """Have an op of this package ask dispatchers from now on, whoever holds it: the function stays, its code changes."""
    if not isinstance(op, types.FunctionType) or op not in _ops_that_ask():
        raise AssertionError(f"{op} asks no dispatchers: decorate it with add_dispatch_support or add_dispatch_list.")
    shown = inspect.signature(op)
    plain = types.FunctionType(op.__code__, op.__globals__, op.__name__, op.__defaults__, op.__closure__)
    plain.__kwdefaults__ = op.__kwdefaults__
    code = _hand_on.__code__
    asking = _asking(plain, lambda: op)
    constants = tuple(asking if value == "what is to be called" else value for value in code.co_consts)
    op.__code__ = code.replace(co_consts=constants, co_freevars=op.__code__.co_freevars, co_name=op.__name__)
    op.__signature__ = shown  # type: ignore[attr-defined]
    add_dispatch_list(op)
