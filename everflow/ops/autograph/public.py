"""The functions of `tf.autograph`."""

from __future__ import annotations

import functools
import inspect
import types

from everflow.ops.autograph.conversion import converted, is_users, source_of
from everflow.ops.autograph.features import asked_for


def to_graph(entity, recursive=True, arg_values=None, arg_types=None, experimental_optional_features=None):
    """A function like `entity` whose `if`, `while` and `for` work on tensors; of a method, one whose first argument is
    `self`.

    Of a class, one made from it whose methods are converted.

    Args:
        entity: A function, method or class.
        recursive: Whether functions that it calls are converted, too.
        arg_values: No effect.
        arg_types: No effect.
        experimental_optional_features: Further features of the conversion.

    Returns:
        A function or class.

    Raises:
        ValueError: If its source can't be found.
        NotImplementedError: If it can't be converted.

    Example:
        >>> import fractions
        >>> callable(tf.autograph.to_graph(fractions.Fraction.limit_denominator))
        True
    """
    _check_options(arg_values, arg_types)
    features = asked_for(experimental_optional_features)
    if inspect.isclass(entity):
        return _converted_class(entity, recursive, features)
    if not isinstance(entity, (types.FunctionType, types.MethodType, functools.partial)):
        raise NotImplementedError(f'cannot convert entity "{entity}": it is of a kind that has no conversion')
    # A method's instance is given anew with every call.
    return converted(getattr(entity, "__func__", entity), recursive, features)


def _converted_class(entity, recursive, features):
    """A class like this one whose methods, the user's among those it has, are converted."""
    methods = {
        name: converted(method, recursive, features)
        for name, method in inspect.getmembers(entity, inspect.isfunction)
        if is_users(method) and name != "__init__"
    }
    return type(entity)(
        f"Tf{entity.__name__}", (entity,), {**methods, "__module__": entity.__module__, "__doc__": entity.__doc__}
    )


def to_code(
    entity, recursive=True, arg_values=None, arg_types=None, indentation="  ", experimental_optional_features=None
):
    """The source that `to_graph` runs, for reading.

    Args:
        entity: A function, method or class.
        recursive: Whether functions that it calls are converted, too.
        arg_values: No effect.
        arg_types: No effect.
        indentation: What lines are indented by.
        experimental_optional_features: Further features of the conversion.

    Returns:
        The source.

    Example:
        >>> import statistics
        >>> "def mean" in tf.autograph.to_code(statistics.mean)
        True
    """
    _check_options(arg_values, arg_types)
    del recursive  # the source of one function is the same either way
    return source_of(entity, asked_for(experimental_optional_features)).replace("    ", indentation)


def _check_options(arg_values, arg_types):
    if arg_values is not None or arg_types is not None:
        raise NotImplementedError("arg_values and arg_types: the conversion doesn't need to know arguments beforehand")


def do_not_convert(func=None):
    """Decorator for functions that AutoGraph leaves as they are.

    Args:
        func: The function. Without it, the result is a decorator.

    Returns:
        The function.

    Example:
        >>> @tf.autograph.experimental.do_not_convert
        ... def half(x):
        ...     return x / 2
        >>> half(4.0)
        2.0
    """
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        return func(*args, **kwargs)

    wrapper._autograph_keeps = True
    return wrapper


_UNSPECIFIED = object()


def set_loop_options(
    parallel_iterations=_UNSPECIFIED, back_prop=_UNSPECIFIED, swap_memory=_UNSPECIFIED, maximum_iterations=_UNSPECIFIED
):
    """Wishes for the loop that it stands in. They are taken and change nothing, as in TensorFlow 1.15: the loop runs to
    its end.

    Args:
        parallel_iterations: How many rounds may be under way at the same time.
        back_prop: Whether gradients can be taken through it.
        swap_memory: Whether values kept for the gradient may move to the host's memory; memory is the host's already.
        maximum_iterations: The most rounds.

    Returns:
        None.

    Example:
        >>> tf.autograph.experimental.set_loop_options(parallel_iterations=1)
    """


def set_verbosity(level, alsologtostdout=False):
    """How much is told of the conversion: nothing is told here at any level, so that none is too loud.

    Args:
        level: The level.
        alsologtostdout: Whether it is printed, too.

    Returns:
        None.

    Raises:
        TypeError: If the level is no number.

    Example:
        >>> tf.autograph.set_verbosity(1)
    """
    if not isinstance(level, int):
        raise TypeError(f"level is a number, not {level!r}")
    del alsologtostdout


def trace(*args):
    """Print arguments while the function is traced.

    Args:
        *args: What to print.

    Returns:
        None.

    Example:
        >>> tf.autograph.trace("traced", 3)
        traced 3
    """
    print(*args)
