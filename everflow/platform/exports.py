"""tensorflow.python.util.tf_export: decorators that mark public names. Here names are public by being in a tf.X module."""

from __future__ import annotations

import functools
import inspect


class tf_export:
    """Keeps the names it is given on the function or class, for tools that ask for them."""

    def __init__(self, *args, v1=None, **_):
        self._names = args
        self._names_v1 = v1 or args

    def __call__(self, func):
        func._tf_api_names = self._names
        func._tf_api_names_v1 = self._names_v1
        return func

    def export_constant(self, module_name, name):
        """A constant needs no mark: nothing to do."""
        del module_name, name


keras_export = estimator_export = tf_export


def kwarg_only(f):
    """A function that takes its arguments by name only; TypeError for others."""

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        if args:
            raise TypeError(f"{f.__name__} only takes keyword args: {', '.join(inspect.signature(f).parameters)}.")
        return f(**kwargs)

    return wrapper
