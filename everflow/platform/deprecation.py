"""Decorators that warn of what is going away, for programs that mark their own functions with TensorFlow's.

Everflow's own functions don't warn: the interface it keeps is a finished one.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys

from everflow.platform import logging

# Programs set it to False for silence.
_PRINT_DEPRECATION_WARNINGS = True
_warned: set = set()


def _removed(date):
    return f"after {date}" if date else "in a future version"


def _warn(key, what, date, instructions, once):
    if not _PRINT_DEPRECATION_WARNINGS or (once and key in _warned):
        return
    _warned.add(key)
    frame = sys._getframe(2)
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    logging.warning(
        "From %s: %s is deprecated and will be removed %s.\nInstructions for updating:\n%s", place, what, _removed(date), instructions
    )


def _document(function, subject, date, instructions):
    first = inspect.getdoc(function) or ""
    return "\n\n".join(filter(None, [first, f"Warning: {subject} will be removed {_removed(date)}. {instructions}"]))


def deprecated(date, instructions, warn_once=True):
    """Mark a function or class: using it logs a warning, once or every time."""

    def mark(function):
        if inspect.isclass(function):
            function.__init__ = mark_function(function.__init__, function.__name__)
            return function
        return mark_function(function, function.__name__)

    def mark_function(function, name):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            _warn(function, f"{name} (from {function.__module__})", date, instructions, warn_once)
            return function(*args, **kwargs)

        wrapper.__doc__ = _document(function, "This function", date, instructions)
        return wrapper

    return mark


def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples, warn_once=True):
    """Mark arguments: a call that gives one logs a warning. A pair (name, value) is fine with that value."""
    fine = dict(item if isinstance(item, tuple) else (item, inspect.Parameter.empty) for item in deprecated_arg_names_or_tuples)

    def mark(function):
        signature = inspect.signature(function)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            given = signature.bind_partial(*args, **kwargs).arguments
            for name, ok in fine.items():
                if name in given and given[name] is not None and (ok is inspect.Parameter.empty or given[name] != ok):
                    _warn(
                        (function, name),
                        f"calling {function.__name__} (from {function.__module__}) with {name}",
                        date,
                        instructions,
                        warn_once,
                    )
            return function(*args, **kwargs)

        wrapper.__doc__ = _document(function, f"Arguments ({', '.join(fine)})", date, instructions)
        return wrapper

    return mark


def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs):
    """Mark values of arguments: a call with one of them logs a warning."""

    def mark(function):
        signature = inspect.signature(function)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            given = signature.bind_partial(*args, **kwargs).arguments
            for name, value in deprecated_kwargs.items():
                if name in given and given[name] == value:
                    what = f"calling {function.__name__} (from {function.__module__}) with {name}={value}"
                    _warn((function, name), what, date, instructions, warn_once)
            return function(*args, **kwargs)

        wrapper.__doc__ = _document(
            function, f"Arguments ({', '.join(f'{k}={v}' for k, v in deprecated_kwargs.items())})", date, instructions
        )
        return wrapper

    return mark


class DeprecatedNamesAlreadySet(Exception):
    """Names were marked as deprecated twice."""


def deprecated_endpoints(*args):
    """Decorator that keeps the old public names of a function on it, for tools that ask for them."""

    def mark(function):
        if "_tf_deprecated_api_names" in vars(function):
            raise DeprecatedNamesAlreadySet(
                f"Cannot set deprecated names for {function.__name__} to {args}. "
                f"Deprecated names are already set to {function._tf_deprecated_api_names}."
            )
        function._tf_deprecated_api_names = args
        return function

    return mark


def deprecated_alias(deprecated_name, name, func_or_class, warn_once=True):
    """`func_or_class` under an old name; using it logs a warning."""
    if inspect.isclass(func_or_class):

        class Alias(func_or_class):
            def __init__(self, *args, **kwargs):
                _warn(func_or_class, f"The name {deprecated_name}", None, f"Please use {name} instead.", warn_once)
                super().__init__(*args, **kwargs)

        Alias.__name__ = Alias.__qualname__ = func_or_class.__name__
        return Alias

    @functools.wraps(func_or_class)
    def alias(*args, **kwargs):
        _warn(func_or_class, f"The name {deprecated_name}", None, f"Please use {name} instead.", warn_once)
        return func_or_class(*args, **kwargs)

    return alias


def deprecated_argument_lookup(new_name, new_value, old_name, old_value):
    """The value of an argument that has an old and a new name; ValueError where both are given."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value
    return new_value


@contextlib.contextmanager
def silence():
    """Within it nothing is warned of."""
    global _PRINT_DEPRECATION_WARNINGS
    before, _PRINT_DEPRECATION_WARNINGS = _PRINT_DEPRECATION_WARNINGS, False
    try:
        yield
    finally:
        _PRINT_DEPRECATION_WARNINGS = before


def experimental(func):
    """Mark a function that may change or go: calling it logs a warning."""
    if not callable(func):
        raise ValueError(f"{func} is not a function. @property goes above @experimental, not below it.")

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        logging.warning("%s (from %s) is experimental and may change or be removed at any time.", func.__name__, func.__module__)
        return func(*args, **kwargs)

    first, *rest = (func.__doc__ or "A function").split("\n", 1)
    wrapper.__doc__ = "\n".join([f"{first} (experimental)", "", "It may change or be removed at any time.", *rest])
    return wrapper
