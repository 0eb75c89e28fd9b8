"""Decorators that warn of what is going away, for programs that mark their own functions with TensorFlow's.

Everflow's own functions don't warn: the interface it keeps is a finished one.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import sys

from everflow.platform import logging
from everflow.platform.signatures import standing_for

# Programs set it to False for silence.
_PRINT_DEPRECATION_WARNINGS = True
_warned: set = set()
_OLD_NAMES = "_tf_deprecated_api_names"  # the attribute that tools look for


def _check(date, instructions):
    """ValueError where what a decorator was told can't be told to users."""
    if date is not None and not re.match(r"20\d\d-[01]\d-[0-3]\d", date):
        raise ValueError(f"The date of a deprecation is written YYYY-MM-DD, not {date!r}")
    if not instructions:
        raise ValueError("Whoever uses what is deprecated has to be told what to do: instructions are empty")


def _removed(date):
    return f"after {date}" if date else "in a future version"


def _warn(key, what, date, instructions, once):
    if not _PRINT_DEPRECATION_WARNINGS or (once and key in _warned):
        return
    _warned.add(key)
    frame = sys._getframe(2)
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    logging.warning(
        "%s: %s is deprecated and will be removed %s. Instead of it:\n%s", place, what, _removed(date), instructions
    )


def _document(function, subject, date, instructions):
    first, *rest = (inspect.getdoc(function) or "").split("\n")
    first = "\n".join([f"{first} (deprecated)".strip(), *rest])
    return "\n\n".join(filter(None, [first, f"Warning: {subject} will be removed {_removed(date)}. {instructions}"]))


def deprecated(date, instructions, warn_once=True):
    """Mark a function or class: using it logs a warning, once or every time."""
    _check(date, instructions)

    def mark(function):
        if not callable(function):
            raise ValueError(f"{function!r} is no function: @property goes above @deprecated, not below it")
        if inspect.isclass(function):
            function.__init__ = mark_function(function.__init__, function.__name__)
            return function
        return mark_function(function, function.__name__)

    def mark_function(function, name):
        @standing_for(function)
        def wrapper(*args, **kwargs):
            _warn(function, f"{name} (from {function.__module__})", date, instructions, warn_once)
            return function(*args, **kwargs)

        wrapper.__doc__ = _document(function, "This function", date, instructions)
        return wrapper

    return mark


def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples, warn_once=True):
    """Mark arguments: a call that gives one logs a warning. A pair (name, value) is fine with that value."""
    fine = dict(item if isinstance(item, tuple) else (item, None) for item in deprecated_arg_names_or_tuples)

    def is_old(name, value):
        return name in fine and value is not None and (fine[name] is None or value != fine[name])

    return _mark_arguments(date, instructions, warn_once, is_old, {name: name for name in fine}, must_exist=True)


def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs):
    """Mark values of arguments: a call with one of them logs a warning."""

    def is_old(name, value):
        return name in deprecated_kwargs and value == deprecated_kwargs[name]

    shown = {name: f"{name}={value}" for name, value in deprecated_kwargs.items()}
    return _mark_arguments(date, instructions, warn_once, is_old, shown)


def _mark_arguments(date, instructions, warn_once, is_old, shown, must_exist=False):
    """The decorator that warns of arguments for which `is_old(name, value)`; `shown` has what it calls them."""
    _check(date, instructions)
    if not shown:
        raise ValueError("No argument is named that would be deprecated")

    def mark(function):
        signature = inspect.signature(function)
        takes_any = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
        if missing := [] if takes_any or not must_exist else sorted(set(shown) - set(signature.parameters)):
            raise ValueError(f"Arguments {missing} are not present in {function.__name__}, so they can't be deprecated")

        @standing_for(function)
        def wrapper(*args, **kwargs):
            for name, value in signature.bind_partial(*args, **kwargs).arguments.items():
                if is_old(name, value):
                    what = f"calling {function.__name__} (from {function.__module__}) with {shown[name]}"
                    _warn((function, name), what, date, instructions, warn_once)
            return function(*args, **kwargs)

        wrapper.__doc__ = _document(function, f"Arguments ({', '.join(shown.values())})", date, instructions)
        return wrapper

    return mark


class DeprecatedNamesAlreadySet(Exception):
    """Names were marked as deprecated twice."""


def deprecated_endpoints(*args):
    """Decorator that keeps the old public names of a function on it, for tools that ask for them."""

    def mark(function):
        if (before := vars(function).get(_OLD_NAMES)) is not None:
            raise DeprecatedNamesAlreadySet(
                f"{function.__name__} has the deprecated names {before} already; {args} came second."
            )
        setattr(function, _OLD_NAMES, args)
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

    @standing_for(func_or_class)
    def alias(*args, **kwargs):
        _warn(func_or_class, f"The name {deprecated_name}", None, f"Please use {name} instead.", warn_once)
        return func_or_class(*args, **kwargs)

    return alias


def deprecated_argument_lookup(new_name, new_value, old_name, old_value):
    """The value of an argument that has an old and a new name; ValueError where both are given."""
    given = [value for value in (old_value, new_value) if value is not None]
    if len(given) > 1:
        raise ValueError(
            f"Cannot specify both '{old_name}' and '{new_name}', the old and the new name of one argument."
        )
    return given[0] if given else None


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

    @standing_for(func)
    def wrapper(*args, **kwargs):
        logging.warning(
            "%s (from %s) is experimental: later versions may change it or leave it out.",
            func.__name__,
            func.__module__,
        )
        return func(*args, **kwargs)

    first, *rest = (func.__doc__ or "A function").split("\n", 1)
    wrapper.__doc__ = "\n".join([f"{first} (experimental)", "", "Later versions may change it or leave it out.", *rest])
    return wrapper
