"""TensorFlow's `python.util.dispatch`: functions that let types of people's own take part.

A function with dispatch runs first as it is; if it refuses its arguments (TypeError or ValueError), the dispatchers
registered for it are asked in turn, and the first result that isn't NOT_SUPPORTED counts.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from everflow.platform import inspection
from everflow.platform.decorators import make_decorator

DISPATCH_ATTR = "_tf_dispatchers"


class OpDispatcher:
    """Handles calls of a function for arguments of some kind; people write `handle`, and `register` it for a function."""

    NOT_SUPPORTED = object()

    def handle(self, args: tuple, kwargs: dict) -> Any:
        """The call's result, or NOT_SUPPORTED."""
        del args, kwargs
        return self.NOT_SUPPORTED

    def register(self, op: Callable) -> None:
        """Ask this one too when `op` refuses its arguments."""
        _dispatchers(op).append(self)


def _dispatchers(op: Callable) -> list[OpDispatcher]:
    if not hasattr(op, DISPATCH_ATTR):
        raise AssertionError(f"{op} asks no dispatchers: decorate it with add_dispatch_support or add_dispatch_list.")
    return getattr(op, DISPATCH_ATTR)


def dispatch(op: Callable, *args: Any, **kwargs: Any) -> Any:
    """What the dispatchers of `op` make of a call, NOT_SUPPORTED where none takes it."""
    for dispatcher in getattr(op, DISPATCH_ATTR):
        result = dispatcher.handle(args, kwargs)
        if result is not OpDispatcher.NOT_SUPPORTED:
            return result
    return OpDispatcher.NOT_SUPPORTED


class _TypeBasedDispatcher(OpDispatcher):
    """Calls a function if an argument, or an element of a list, is of one of the types."""

    def __init__(self, override_func: Callable, types: tuple[type, ...]):
        self._function = override_func
        self._types = types

    def _handles(self, args: tuple, kwargs: dict) -> bool:
        given = itertools.chain(args, kwargs.values())
        elements = itertools.chain.from_iterable(a if isinstance(a, (list, tuple)) else [a] for a in given)
        return any(isinstance(element, self._types) for element in elements)

    def handle(self, args: tuple, kwargs: dict) -> Any:
        return self._function(*args, **kwargs) if self._handles(args, kwargs) else self.NOT_SUPPORTED


def dispatch_for_types(op: Callable, *types: type) -> Callable[[Callable], Callable]:
    """Decorator: call this function where `op` refuses arguments among which there is one of `types`."""

    def register(function: Callable) -> Callable:
        wanted, found = inspection.getargspec(op), inspection.getargspec(function)
        if wanted != found:
            raise AssertionError(f"{function} must take the arguments of {op}: {wanted}; it takes {found}.")
        _TypeBasedDispatcher(function, types).register(op)
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

    @functools.wraps(target)
    def asking(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            result = dispatch(asking, *args, **kwargs)
            if result is OpDispatcher.NOT_SUPPORTED:
                raise
            return result

    return make_decorator(target, add_dispatch_list(asking), "add_dispatch_support")
