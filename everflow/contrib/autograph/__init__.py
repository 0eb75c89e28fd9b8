"""tf.contrib.autograph: where `tf.autograph` lived first."""

from __future__ import absolute_import, annotations, division, print_function  # noqa: UP010  Names of this module as well.

import functools as _functools

from everflow.ops.autograph import public as _public
from everflow.ops.autograph.conversion import converted as _converted
from everflow.ops.autograph.public import Feature, do_not_convert

__all__ = ["Feature", "convert", "do_not_convert", "to_code", "to_graph"]


def convert(recursive=False, optional_features=None, user_requested=True):
    """Decorator: the function's `if`, `while` and `for` work on tensors when it is called.

    `recursive` converts the functions it calls, too. The two others are hints that change no result.
    """
    del optional_features, user_requested

    def decorator(function):
        @_functools.wraps(function)
        def wrapper(*args, **kwargs):
            return _converted(function, recursive)(*args, **kwargs)

        return wrapper

    return decorator


def to_graph(entity, recursive=True, experimental_optional_features=None):
    """See `tf.autograph.to_graph`."""
    return _public.to_graph(entity, recursive, experimental_optional_features=experimental_optional_features)


def to_code(entity, recursive=True, experimental_optional_features=None):
    """See `tf.autograph.to_code`."""
    return _public.to_code(entity, recursive, experimental_optional_features=experimental_optional_features)
