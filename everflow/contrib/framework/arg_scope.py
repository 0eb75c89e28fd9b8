"""arg_scope: default arguments for functions that opted in, for the length of a `with` block."""

from __future__ import annotations

import contextlib
import functools

from everflow.platform.signatures import options_of

_stack: list[dict] = [{}]
_defaults_of: dict[str, tuple] = {}


def arg_scope_func_key(op):
    """What a function is filed under: the decorated one that a decorator keeps below, or its module and name."""
    return op._key_op if hasattr(op, "_key_op") else (op.__module__, op.__name__)


def current_arg_scope():
    """{function's key: {argument: value}} as it holds here."""
    return _stack[-1]


@contextlib.contextmanager
def arg_scope(list_ops_or_scope, **kwargs):
    """Give functions made with `add_arg_scope` other defaults; yields the scope, which can be entered again.

    Args:
        list_ops_or_scope: The functions, or a scope to enter again.
        **kwargs: Their defaults.

    Yields:
        The scope.

    Raises:
        TypeError: If it is neither.
        ValueError: If a function can't be given defaults so.

    Example:
        >>> slim = tf.contrib.slim
        >>> with slim.arg_scope([slim.fully_connected], activation_fn=None):
        ...     y = slim.fully_connected(tf.ones([2, 3]), 4)
        >>> y.op.type
        'BiasAdd'
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError(f"A scope that is entered again takes no arguments; got {sorted(kwargs)}")
        scope = list_ops_or_scope.copy()
    else:
        if not isinstance(list_ops_or_scope, (list, tuple)):
            raise TypeError(f"arg_scope takes a list of functions or an earlier scope, not {list_ops_or_scope!r}")
        scope = current_arg_scope().copy()
        for function in list_ops_or_scope:
            key = arg_scope_func_key(function)
            if not has_arg_scope(function):
                raise ValueError("%s is not decorated with @add_arg_scope", key)
            scope[key] = {**scope.get(key, {}), **kwargs}
    _stack.append(scope)
    try:
        yield scope
    finally:
        _stack.pop()


def add_arg_scope(func):
    """Decorator: `arg_scope` can give this function's arguments.

    >>> @add_arg_scope
    ... def layer(x, units=10): ...
    """

    @functools.wraps(func)
    def with_scope(*args, **kwargs):
        scoped = current_arg_scope().get(key)
        return func(*args, **({**scoped, **kwargs} if scoped else kwargs))

    key = str(func)
    if hasattr(func, "__signature__"):
        _defaults_of[key] = tuple(options_of(func))
    else:
        code, defaults = func.__code__, func.__defaults__
        # TensorFlow slices all local names here, so functions with locals of their own list fewer arguments.
        _defaults_of[key] = code.co_varnames[-len(defaults) : code.co_argcount] if defaults else ()
    with_scope._key_op = key
    with_scope.__doc__ = func.__doc__
    return with_scope


def has_arg_scope(func):
    """Whether a function was made with `add_arg_scope`."""
    return arg_scope_func_key(func) in _defaults_of


def arg_scoped_arguments(func):
    """The names of the arguments that `arg_scope` can give."""
    if not has_arg_scope(func):
        raise AssertionError
    return _defaults_of[arg_scope_func_key(func)]
