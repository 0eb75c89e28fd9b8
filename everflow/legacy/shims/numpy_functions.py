"""numpy's functions with what they took in its first version: rows of unequal lengths, lists of a graph's tensors, generators,
`newshape`, bytes in `fromstring`.

Each function is today's own, asked first; only what it refuses is done in the old way.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator

import numpy as np

from everflow.platform.object_arrays import array_of_objects


def bring_back() -> None:
    np.array = _lenient(np.array)
    np.asarray = _lenient(np.asarray)
    np.reshape = _reshape(np.reshape)
    np.fromstring = _fromstring(np.fromstring)
    for name in ("stack", "vstack", "hstack", "dstack", "column_stack", "row_stack", "sum"):
        setattr(np, name, _taking_iterators(getattr(np, name)))
    for name in ("max", "min", "amax", "amin", "sum"):
        setattr(np, name, _of_uneven_rows(getattr(np, name)))
    for name in (
        "array",
        "asarray",
        "asanyarray",
        "prod",
        "sum",
        "mean",
        "max",
        "min",
        "amax",
        "amin",
        "size",
        "where",
    ):
        setattr(np, name, _taking_tensors(getattr(np, name)))
    for name in ("meshgrid", "broadcast_arrays", "atleast_1d", "atleast_2d", "atleast_3d"):
        setattr(np, name, _giving_lists(getattr(np, name)))


def _giving_lists(today: Callable) -> Callable:
    """A function of several arrays that gave a list, to which programs append."""

    @functools.wraps(today)
    def function(*args, **kwargs):
        made = today(*args, **kwargs)
        return list(made) if isinstance(made, tuple) and not _asked_by_a_library() else made

    return function


def _of_uneven_rows(today: Callable) -> Callable:
    """A reduction that takes rows of unequal lengths, and compares or adds them as Python's lists."""

    @functools.wraps(today)
    def function(*args, **kwargs):
        try:
            return today(*args, **kwargs)
        except ValueError as refused:
            if "inhomogeneous" not in str(refused) or not args or _asked_by_a_library():
                raise
            return today(np.array(args[0], dtype=object), *args[1:], **kwargs)

    return function


def _taking_tensors(today: Callable) -> Callable:
    """A function that takes a list with tensors of a graph in it for an array of objects, as numpy did when it passed
    over what an element's `__array__` raised.
    """

    @functools.wraps(today)
    def function(*args, **kwargs):
        try:
            return today(*args, **kwargs)
        except NotImplementedError:
            if not any(isinstance(arg, list | tuple) for arg in args) or _asked_by_a_library():
                raise
            return today(*(array_of_objects(arg) if isinstance(arg, list | tuple) else arg for arg in args), **kwargs)

    return function


def _lenient(make: Callable) -> Callable:
    """np.array that takes rows of unequal lengths, wraps integers around, and copies where it has to."""

    @functools.wraps(make)
    def array(*args, **kwargs):
        try:
            return make(*args, **kwargs)
        except (ValueError, OverflowError) as refused:
            if _asked_by_a_library() or not args:
                raise
            if isinstance(refused, OverflowError):
                given = make(args[0])
                if given.dtype.kind not in "iu":
                    raise
                return given.astype(args[1] if len(args) > 1 else kwargs["dtype"])
            if "inhomogeneous" in str(refused) and len(args) == 1 and kwargs.get("dtype") is None:
                return make(args[0], **{**kwargs, "dtype": object})
            if "avoid copy" in str(refused) and kwargs.get("copy") is False:
                return array(*args, **{**kwargs, "copy": None})
            raise

    return array


def _raise(error: Exception):
    raise error


def _asked_by_a_library() -> bool:
    """Whether the call came from code of today, which expects today's errors."""
    frame = sys._getframe(2)
    while frame.f_globals is globals() and frame.f_back is not None:  # a function in two manners of old
        frame = frame.f_back
    return frame.f_globals.get("__name__", "").partition(".")[0] in ("numpy", "everflow", "torch", "scipy")


def _reshape(today: Callable) -> Callable:
    @functools.wraps(today)
    def reshape(*args, **kwargs):
        if "newshape" in kwargs:
            kwargs["shape"] = kwargs.pop("newshape")
        return today(*args, **kwargs)

    return reshape


def _fromstring(today: Callable) -> Callable:
    @functools.wraps(today)
    def fromstring(string, dtype=float, count=-1, *, sep="", **kwargs):
        if sep != "":
            return today(string, dtype, count, sep=sep, **kwargs)
        data = string.encode("latin1") if isinstance(string, str) else string
        return np.frombuffer(data, dtype, count).copy()

    return fromstring


def _taking_iterators(today: Callable) -> Callable:
    @functools.wraps(today)
    def function(*args, **kwargs):
        if args and isinstance(args[0], Iterator):
            args = (list(args[0]), *args[1:])
        return today(*args, **kwargs)

    return function
