"""tensorflow.python.util.tf_should_use: results that someone ought to use, and an error in the log where nobody does."""

from __future__ import annotations

import functools
import traceback

from everflow.framework.scopes import executing_eagerly
from everflow.platform import logging
from everflow.platform.decorators import make_decorator


class _Watch:
    """Whether a result was used, and where it was made."""

    def __init__(self, text, fatal):
        self.text, self.fatal, self.used = text, fatal, False
        self.made_at = "".join(traceback.format_stack()[:-3])

    def end(self):
        """Complain of a result that goes unused."""
        if not self.used:
            say = logging.fatal if self.fatal else logging.error
            say(
                f"{self.text} was made and never used. If that is what was meant, call its mark_used(). It was made here:"
                f"\n{self.made_at}"
            )


# What Python does with any object, or what makes and ends one.
_NOT_A_USE = frozenset(dir(object)) - {"__eq__", "__ne__", "__hash__", "__repr__", "__str__", "__format__"}


@functools.cache
def _watched(kind):
    """A class like `kind`, whose objects note that something is asked of them."""

    def __getattribute__(self, name):
        if name != "__dict__":
            _watch_of(self).used = True
        return kind.__getattribute__(self, name)

    def noted(name):
        def method(self, *args, **kwargs):
            _watch_of(self).used = True
            return getattr(kind, name)(self, *args, **kwargs)

        return method

    implied = [name for name in dir(kind) if name.startswith("__") and name not in _NOT_A_USE]
    methods = {
        name: noted(name)
        for name in implied
        if callable(getattr(kind, name)) and name not in ("__getattr__", "__class__")
    }
    own = {
        "__slots__": ("_watch",),
        "__getattribute__": __getattribute__,
        "__del__": lambda self: _watch_of(self).end(),
        "mark_used": lambda self: None,  # asking for it is a use
    }
    made = type(kind.__name__, (kind,), {**methods, **own})
    _slots[made] = made.__dict__["_watch"]
    return made


_slots: dict = {}  # {class: the descriptor of what watches its objects}


def _watch_of(double):
    return _slots[type(double)].__get__(double)


def _add_should_use_warning(x, fatal_error=False):
    """A double of `x` that logs an error when it goes without having been used; what has no double stays as it is."""
    if executing_eagerly() or not hasattr(x, "__dict__") or isinstance(x, type):
        return x
    kind = _watched(type(x))
    double = object.__new__(kind)
    _slots[kind].__set__(double, _Watch(f"The result {x!r}", fatal_error))
    double.__dict__ = x.__dict__
    return double


def _watching(fn, name, fatal):
    def with_watched_result(*args, **kwargs):
        return _add_should_use_warning(fn(*args, **kwargs), fatal)

    note = (
        f"\n\nNote: the result wants to be used; if it isn't, {'the program ends' if fatal else 'an error is logged'}."
    )
    return make_decorator(fn, with_watched_result, name, (fn.__doc__ or "") + note)


def should_use_result(fn):
    """A function whose results log an error when they go unused. `mark_used()` of a result keeps it silent."""
    return _watching(fn, "should_use_result", fatal=False)


def must_use_result_or_fatal(fn):
    """The same as `should_use_result`, with an error that is fatal."""
    return _watching(fn, "must_use_result_or_fatal", fatal=True)
