"""Names on `numpy` that numpy 2 took away, and the way it printed scalars: `1.5`, not `np.float32(1.5)`."""

from __future__ import annotations

import builtins
import functools
import math
import pickle
import sys
import types
import warnings

import numpy as np

# old name: what it was another name for
_BUILTINS = {"int": "int", "float": "float", "complex": "complex", "object": "object", "str": "str", "unicode": "str"}
_RENAMED = {
    "float_": "float64",
    "complex_": "complex128",
    "cfloat": "complex128",
    "singlecomplex": "complex64",
    "longfloat": "longdouble",
    "longcomplex": "clongdouble",
    "clongfloat": "clongdouble",
    "string_": "bytes_",
    "unicode_": "str_",
    "Inf": "inf",
    "Infinity": "inf",
    "infty": "inf",
    "PINF": "inf",
    "NaN": "nan",
    "NAN": "nan",
    "product": "prod",
    "cumproduct": "cumprod",
    "sometrue": "any",
    "alltrue": "all",
    "round_": "round",
    "row_stack": "vstack",
    "trapz": "trapezoid",
    "mat": "asmatrix",
    "bool8": "bool_",
    "int0": "intp",
    "uint0": "uintp",
    "object0": "object_",
    "str0": "str_",
    "bytes0": "bytes_",
    "void0": "void",
    "typeDict": "sctypeDict",
}
_EXCEPTIONS = (
    "AxisError ComplexWarning RankWarning TooHardError VisibleDeprecationWarning ModuleDeprecationWarning".split()
)
_PUBLIC_IN_LIB = ("pad", "take_along_axis", "apply_along_axis", "expand_dims", "unique", "in1d", "sliding_window_view")


def asscalar(a):
    """The one value of an array, as a Python number."""
    return np.asarray(a).item()


def in1d(ar1, ar2, assume_unique=False, invert=False):
    """np.isin of the flattened array."""
    return np.isin(np.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def asfarray(a, dtype=np.float64):
    """An array of floats."""
    return np.asarray(a, dtype=dtype if np.issubdtype(np.dtype(dtype), np.inexact) else np.float64)


def msort(a):
    """A sorted copy, along the first axis."""
    return np.sort(a, axis=0)


def rank(a):
    """How many dimensions an array has."""
    return np.ndim(a)


def find_common_type(array_types, scalar_types):
    """The type that holds all of these."""
    return np.result_type(*array_types, *scalar_types)


def alen(a):
    """How many rows an array has; 1 where it is a number."""
    return len(np.atleast_1d(a))


def obj2sctype(rep, default=None):
    """The scalar type that an array, a type or a name of one stands for."""
    if issubclass_(rep, np.generic):
        return rep
    try:
        return np.dtype(rep if isinstance(rep, (type, str, np.dtype)) else np.asarray(rep).dtype).type
    except TypeError:
        return default


def issctype(rep):
    """Whether something is a scalar type, or stands for one."""
    return isinstance(rep, (type, np.dtype)) and obj2sctype(rep) not in (None, np.object_)


def issubclass_(arg1, arg2):
    """Whether the first is a class below the second; False where it is no class."""
    return isinstance(arg1, type) and issubclass(arg1, arg2)


def issubsctype(arg1, arg2):
    """Whether the scalar type of the first is below that of the second."""
    return issubclass(obj2sctype(arg1), obj2sctype(arg2))


def sctype2char(sctype):
    """The letter of a scalar type."""
    return np.dtype(obj2sctype(sctype)).char


_SCALARS = {
    "int": [np.int8, np.int16, np.int32, np.int64],
    "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
    "float": [np.float16, np.float32, np.float64, np.longdouble],
    "complex": [np.complex64, np.complex128, np.clongdouble],
    "others": [bool, object, bytes, str, np.void],
}


class _Casts(dict):
    """{type: a function that makes arrays of it}, as `np.cast[np.int32](values)`."""

    def __missing__(self, kind):
        return functools.partial(np.asarray, dtype=np.dtype(kind))


_FUNCTIONS = (
    *(asscalar, in1d, asfarray, msort, rank, find_common_type, alen),
    *(obj2sctype, issctype, issubclass_, issubsctype, sctype2char),
)


def bring_back() -> None:
    _add(np, **{old: getattr(builtins, name) for old, name in _BUILTINS.items()})
    # Some of these are still there in numpy 2.2, and warn.
    vars(np).update({old: getattr(np, name) for old, name in _RENAMED.items() if hasattr(np, name)})
    vars(np).update({function.__name__: function for function in _FUNCTIONS})
    _add(np, **{name: getattr(np.exceptions, name) for name in _EXCEPTIONS if hasattr(np.exceptions, name)})
    _add(np, cast=_Casts(), NINF=-np.inf, PZERO=0.0, NZERO=-0.0, loads=pickle.loads, sctypes=_SCALARS)
    _add(np, math=math, sys=sys, warnings=warnings)  # which programs took for parts of it
    _add(np.lib, **{name: getattr(np, name) for name in _PUBLIC_IN_LIB if hasattr(np, name)})
    for name in ("arraysetops", "index_tricks", "function_base", "twodim_base", "shape_base"):
        _add_module(np.lib, name, np)
    _add_module(np.linalg, "linalg", np.linalg)
    _add_module(np.fft, "helper", np.fft)
    np.set_printoptions(legacy="1.21")


def _add_module(package: types.ModuleType, name: str, shown: types.ModuleType) -> None:
    """An inner module of numpy, whose public names are all on a module that is still there."""
    path = f"{package.__name__}.{name}"
    module = types.ModuleType(path, f"The names that programs took from here are on {shown.__name__}.")
    vars(module)["__getattr__"] = lambda attribute: getattr(shown, attribute)
    sys.modules.setdefault(path, module)
    _add(package, **{name: module})


def _add(owner, **names) -> None:
    for name, value in names.items():
        if name not in vars(owner):
            setattr(owner, name, value)
