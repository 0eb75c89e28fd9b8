"""Decorators of the kinds there are, for tests: one that says what it wraps, one that doesn't, and one that is made by a call."""

from __future__ import annotations

import functools


def wrapping_decorator(f):
    """One that says what it wraps."""

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    return wrapper


def standalone_decorator(f):
    """One whose result is a function of its own."""

    def standalone_wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    return standalone_wrapper


def functional_decorator():
    """One that is made by a call."""
    return _wrapped


def _wrapped(f):
    def functional_wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    return functional_wrapper
