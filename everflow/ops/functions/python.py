"""`tf.py_func`: Python functions as ops.

The function itself can't be in a graph; a token is, by which this process finds the function when the op runs. It is of
this process only (a secret among the node's debug information says so), so a function belongs to the graph that it was
made for and to copies of that graph: what `as_graph_def` of it gave, imported in this process while the graph is alive.
A GraphDef from anywhere else, a file of another process as well, calls nothing here; in TensorFlow any graph can call
any function, by its number.
"""

from __future__ import annotations

import itertools
import secrets
import threading
import weakref

import numpy as np

from everflow.framework import dtypes, errors, nest
from everflow.framework import raw_ops as raw
from everflow.framework.attributes import Owned
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.forking import renewed
from everflow.framework.registry import not_differentiable
from everflow.framework.scopes import executing_eagerly, get_default_graph, outermost

_tokens = itertools.count()
_functions: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
_lock = renewed(threading.Lock())


class PyFunction:
    """A registered Python function, and the dtypes its results must have."""

    def __init__(self, function, dtypes_out):
        self.function = function
        self.dtypes_out = dtypes_out


def find(token: str) -> PyFunction | None:
    """The function that a token stands for, or None where it is of another process or its graph is gone."""
    with _lock:
        return _functions.get(token)


def registered(token: str | bytes) -> PyFunction:
    """The function that a token stands for; NotFoundError where there is none."""
    found = find(token.key if isinstance(token, Owned) else token)
    if found is None:
        raise errors.NotFoundError(
            None,
            None,
            f"The Python function of token {token!r} is not in this process; a graph from a file can't call it",
        )
    return found


def forget(token: Owned) -> None:
    """Take a function away before its graph goes."""
    with _lock:
        _functions.pop(token.key, None)


def count() -> int:
    """How many functions are registered now."""
    with _lock:
        return len(_functions)


def _register(function: PyFunction, graph) -> Owned:
    """A token for a function; the graph that uses it keeps it alive."""
    token = Owned(b"pyfunc_%d" % next(_tokens), secrets.token_hex(8))
    with _lock:
        _functions[token.key] = function
    if not hasattr(graph, "_py_funcs_used_in_graph"):
        graph._py_funcs_used_in_graph = []
    graph._py_funcs_used_in_graph.append(function)
    return token


def register(function, dtypes_out) -> Owned:
    """A token for a Python function, which lives as long as the graph that is drawn now."""
    return _register(PyFunction(function, dtypes_out), outermost(get_default_graph()))


def check_callable(function):
    if not callable(function):
        raise ValueError(f"func must be a function or other callable, not {type(function)}")


def py_func(func, inp, Tout, stateful=True, name=None):
    """An op that calls `func(*arrays)`, with numpy arrays, and returns tensors of the dtypes `Tout`.

    Args:
        func: The function of arrays; it returns arrays.
        inp: A list of tensors.
        Tout: The type, or list of types, of what it returns.
        stateful: Whether it may return something else for the same arrays.
        name: The name of the operation in the graph.

    Returns:
        A tensor, or list of tensors, of unknown shapes. The function stays in this process: a saved graph doesn't have
        it.

    Raises:
        TypeError: If `func` is a ufunc of numpy.
        ValueError: If `Tout` and what is returned don't fit together, when it runs.

    Example:
        >>> sess.run(tf.py_func(lambda a: np.sinh(a), [tf.constant([0.0, 1.0])], tf.float32))
        array([0.       , 1.1752012], dtype=float32)
    """
    if executing_eagerly():
        return _call(func, inp)
    check_callable(func)
    if isinstance(func, np.ufunc):
        raise TypeError(f"func can't be a ufunc of numpy, which nobody can refer to weakly: put {func} into a function")
    several = isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(t) for t in (Tout if several else [Tout])]
    token = register(func, types)
    build = raw.PyFunc if stateful else raw.PyFuncStateless
    result = build(input=inp, token=token, Tout=types, name=name)
    # With Tout a list the result is one; an op with state and without results is the op itself.
    if not types and not stateful:
        return []
    return result if several else result[0]


def _call(function, inp):
    """The call itself, when executing eagerly: its results one after another, of whatever types they are."""
    results = nest.flatten(function(*[convert_to_tensor(x).numpy() for x in inp]))
    tensors = [None if x is None else convert_to_tensor(x) for x in results]
    return tensors[0] if len(tensors) == 1 else tensors


def numpy_function(func, inp, Tout, name=None):
    """Another name of `py_func` with state.

    Args:
        func: The function of arrays; it returns arrays.
        inp: A list of tensors.
        Tout: The type, or list of types, of what it returns.
        name: The name of the operation in the graph.

    Returns:
        A tensor, or list of tensors, of unknown shapes. The function stays in this process: a saved graph doesn't have
        it.

    Raises:
        ValueError: If `Tout` and what is returned don't fit together, when it runs.

    Example:
        >>> sess.run(tf.numpy_function(lambda a: np.sinh(a), [tf.constant([0.0, 1.0])], tf.float32))
        array([0.       , 1.1752012], dtype=float32)
    """
    return py_func(func, inp, Tout, stateful=True, name=name)


not_differentiable("PyFunc", "PyFuncStateless")
