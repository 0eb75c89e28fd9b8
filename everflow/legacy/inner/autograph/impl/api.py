"""tensorflow.python.autograph.impl.api: functions that are converted when they are called.

What is run is made by the conversion that `tf.function` uses (`ops/autograph`).
"""

from __future__ import annotations

import functools
import types

from everflow.legacy.inner.autograph.function_contexts import ControlStatusCtx, Status
from everflow.legacy.inner.autograph.impl.conversion import is_whitelisted_for_graph
from everflow.legacy.inner.autograph.operators import py_builtins
from everflow.ops.autograph import operators, public
from everflow.ops.autograph.features import asked_for
from everflow.ops.autograph.options import AutoGraphError, ConversionOptions
from everflow.ops.autograph.public import to_code, to_graph

to_graph_v1, to_code_v1 = to_graph, to_code


class ConversionError(AutoGraphError):
    """Raised where a function can't be converted."""


class StagingError(AutoGraphError):
    """Raised where a converted function fails while it draws its graph."""


def is_autograph_strict_conversion_mode():
    """Whether a function that can't be converted is an error, rather than run as it is."""
    return False


def _in_status(function, status, options=None, call=None):
    """A function that runs where conversion is wanted, or not."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with ControlStatusCtx(status=status, options=options):
            return (call or function)(*args, **kwargs)

    return wrapper


def converted_call(f, options, args, kwargs, caller_fn_scope=None):
    """Call a function as converted code calls it: the user's own are converted, some builtins know tensors."""
    if not callable(f):
        raise TypeError(f"{f!r} can't be called")
    named = kwargs or {}
    if f in (eval, super) and caller_fn_scope is not None:
        original = py_builtins.eval_in_original_context if f is eval else py_builtins.super_in_original_context
        return original(f, args, caller_fn_scope)
    if isinstance(f, (types.BuiltinFunctionType, type)) and py_builtins.overload_of(f) is not f:
        return py_builtins.overload_of(f)(*args, **named)
    if not options.internal_convert_user_code or is_whitelisted_for_graph(f):
        return f(*args, **named)
    return operators._callable_of(asked_for(options.optional_features), f)(*args, **named)


def convert(recursive=False, optional_features=None, user_requested=True):
    """A decorator: the function is converted when it is called."""

    def decorator(f):
        options = ConversionOptions(recursive, user_requested, optional_features=optional_features)

        def call(*args, **kwargs):
            return converted_call(f, options, args, kwargs)

        return _in_status(f, Status.ENABLED, options, call)

    return decorator


def do_not_convert(func=None):
    """Decorator for functions that stay as they are."""
    if func is None:
        return do_not_convert
    return public.do_not_convert(_in_status(func, Status.DISABLED))


do_not_convert_internal = do_not_convert


def call_with_unspecified_conversion_status(func):
    """A function that doesn't see whether its caller wants conversion."""
    return _in_status(func, Status.UNSPECIFIED)


def tf_convert(f, ctx, convert_by_default=True, user_requested=False):
    """A function converted as a context says, or by default."""
    if ctx.status == Status.DISABLED:
        return do_not_convert(f)
    if ctx.status == Status.ENABLED or convert_by_default:
        return convert(recursive=True, user_requested=user_requested)(f)
    return call_with_unspecified_conversion_status(f)
