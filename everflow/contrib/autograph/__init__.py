"""tf.contrib.autograph: where `tf.autograph` lived first."""

# ruff: noqa: F401  Most of it is imported to be shown here.

from __future__ import absolute_import, annotations, division, print_function  # noqa: UP010  Names here.

import functools as _functools

from everflow.ops.autograph import public as _public
from everflow.ops.autograph.conversion import converted as _converted
from everflow.ops.autograph.features import Feature
from everflow.ops.autograph.features import asked_for as _asked_for
from everflow.ops.autograph.lists import set_element_type, stack
from everflow.ops.autograph.options import AutoGraphError, ConversionOptions, converted_call
from everflow.ops.autograph.public import do_not_convert, set_loop_options
from everflow.ops.autograph.source_maps import StackTraceMapper

__all__ = """AutoGraphError ConversionOptions Feature convert converted_call do_not_convert set_element_type
    StackTraceMapper set_loop_options stack to_code to_graph""".split()


def convert(recursive=False, optional_features=None, user_requested=True):
    """Decorator: the function's `if`, `while` and `for` work on tensors when it is called.

    `recursive` converts the functions it calls, too; `optional_features` asks for more of the conversion than is usual.
    The last one is a hint that changes no result.
    """
    del user_requested
    features = _asked_for(optional_features)

    def decorator(function):
        @_functools.wraps(function)
        def wrapper(*args, **kwargs):
            return _converted(function, recursive, features)(*args, **kwargs)

        return wrapper

    return decorator


def to_graph(entity, recursive=True, experimental_optional_features=None):
    """See `tf.autograph.to_graph`."""
    return _public.to_graph(entity, recursive, experimental_optional_features=experimental_optional_features)


def to_code(entity, recursive=True, experimental_optional_features=None):
    """See `tf.autograph.to_code`."""
    return _public.to_code(entity, recursive, experimental_optional_features=experimental_optional_features)
