"""Decorators that warn of what is going away, for programs that mark their own functions with TensorFlow's.

Everflow's own functions don't warn: the interface it keeps is a finished one.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import sys

import numpy as np

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


def _warn(key, once, form, *told):
    """Log a warning that begins with the line of the call; `told` are what its `%s` stand for."""
    if not _PRINT_DEPRECATION_WARNINGS or (once and key in _warned):
        return
    _warned.add(key)
    frame = sys._getframe(2)
    logging.warning("From %s: " + form, f"{frame.f_code.co_filename}:{frame.f_lineno}", *told)


def _facts(function):
    return function.__qualname__, function.__module__


def add_notice_to_docstring(doc, instructions, no_doc_str, suffix_str, notice):
    """`doc` with a suffix to its first line and a warning below it; `no_doc_str` stands in for a missing one."""
    if not notice:
        raise ValueError("a notice has lines")
    first, *rest = inspect.cleandoc(doc or "").splitlines() or [""]
    head = f"{first} {suffix_str}" if first else no_doc_str
    body = "\n".join(rest).strip("\n")
    told = "\n".join([f"Warning: {notice[0]}", *notice[1:], instructions])
    return "\n\n".join(filter(None, [head, told, body]))


def _document(function, kind, subject, date, instructions):
    """A function's docstring with what is deprecated of it."""
    notice = [f"{subject} removed {_removed(date)}.", "Instructions for updating:"]
    return add_notice_to_docstring(
        function.__doc__, instructions, f"DEPRECATED FUNCTION{kind.upper()}", f"(deprecated{kind})", notice
    )


def deprecated(date, instructions, warn_once=True):
    """Mark a function or class: using it logs a warning, once or every time."""
    _check(date, instructions)

    def mark(function):
        if not callable(function):
            raise ValueError(f"{function!r} is no function: @property goes above @deprecated, not below it")
        if inspect.isclass(function):
            function.__init__ = mark_function(function.__init__)
            return function
        return mark_function(function)

    def mark_function(function):
        @standing_for(function)
        def wrapper(*args, **kwargs):
            form = "%s (from %s) is deprecated and will be removed %s.\nInstructions for updating:\n%s"
            _warn(function, warn_once, form, *_facts(function), _removed(date), instructions)
            return function(*args, **kwargs)

        subject = "THIS FUNCTION IS DEPRECATED. It will be"
        wrapper.__doc__ = _document(function, "", subject, date, instructions)
        return wrapper

    return mark


def _is(value, other):
    """Whether a value is another, where `==` may be anything."""
    return value is other or (type(value) is type(other) and bool(np.all(value == other)))


def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples, warn_once=True):
    """Mark arguments: a call that gives one logs a warning. A pair (name, value) is fine with that value."""
    _check(date, instructions)
    fine = {
        item[0]: item[1:] for item in ((i if isinstance(i, tuple) else (i,)) for i in deprecated_arg_names_or_tuples)
    }
    if not fine:
        raise ValueError("No argument is named that would be deprecated")

    def mark(function):
        signature = inspect.signature(function)
        if missing := sorted(set(fine) - set(signature.parameters)):
            raise ValueError(f"Arguments {missing} are not present in {function.__name__}, so they can't be deprecated")

        @standing_for(function)
        def wrapper(*args, **kwargs):
            for name, value in _bound(signature, args, kwargs).items():
                if name in fine and not any(_is(value, ok) for ok in fine[name]):
                    form = "calling %s (from %s) with %s is deprecated and will be removed %s."
                    told = (*_facts(function), name, _removed(date), instructions)
                    _warn((function, name), warn_once, form + "\nInstructions for updating:\n%s", *told)
            return function(*args, **kwargs)

        subject = f"SOME ARGUMENTS ARE DEPRECATED: `({', '.join(fine)})`. They will be"
        wrapper.__doc__ = _document(function, " arguments", subject, date, instructions)
        return wrapper

    return mark


def _bound(signature, args, kwargs):
    """What a call gives, by the names of parameters; nothing where the call is a wrong one, which will say so itself."""
    try:
        return signature.bind_partial(*args, **kwargs).arguments
    except TypeError:
        return {}


def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs):
    """Mark values of arguments: a call with one of them, given or by default, logs a warning."""
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("No argument is named that would be deprecated")

    def mark(function):
        signature = inspect.signature(function)
        defaults = {name: p.default for name, p in signature.parameters.items() if p.default is not p.empty}

        @standing_for(function)
        def wrapper(*args, **kwargs):
            for name, value in {**defaults, **_bound(signature, args, kwargs)}.items():
                if name in deprecated_kwargs and _is(value, deprecated_kwargs[name]):
                    form = "calling %s (from %s) with %s=%s is deprecated and will be removed %s."
                    told = (*_facts(function), name, value, _removed(date), instructions)
                    _warn((function, name), warn_once, form + "\nInstructions for updating:\n%s", *told)
            return function(*args, **kwargs)

        shown = ", ".join(f"{name}={value}" for name, value in sorted(deprecated_kwargs.items()))
        subject = f"SOME ARGUMENT VALUES ARE DEPRECATED: `({shown})`. They will be"
        wrapper.__doc__ = _document(function, " argument values", subject, date, instructions)
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
    form = "The name %s is deprecated. Please use %s instead.\n"
    doc = add_notice_to_docstring(
        func_or_class.__doc__,
        f"Please use {name} instead.",
        "DEPRECATED CLASS",
        "(deprecated)",
        ["THIS NAME IS DEPRECATED."],
    )
    if inspect.isclass(func_or_class):

        class _NewClass(func_or_class):
            __doc__ = doc
            __module__ = func_or_class.__module__

            def __init__(self, *args, **kwargs):
                _warn(_NewClass, warn_once, form, deprecated_name, name)
                super().__init__(*args, **kwargs)

        return _NewClass

    @standing_for(func_or_class)
    def alias(*args, **kwargs):
        _warn(alias, warn_once, form, deprecated_name, name)
        return func_or_class(*args, **kwargs)

    alias.__doc__ = doc
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
