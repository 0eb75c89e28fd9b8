"""Names on `numpy` that numpy 2 took away, and the way it printed scalars: `1.5`, not `np.float32(1.5)`."""

from __future__ import annotations

import builtins
import functools
import pickle
import sys
import types

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


class _Casts(dict):
    """{type: a function that makes arrays of it}, as `np.cast[np.int32](values)`."""

    def __missing__(self, kind):
        return functools.partial(np.asarray, dtype=np.dtype(kind))


_FUNCTIONS = (asscalar, in1d, asfarray, msort, rank, find_common_type)


def bring_back() -> None:
    _add(np, **{old: getattr(builtins, name) for old, name in _BUILTINS.items()})
    # Some of these are still there in numpy 2.2, and warn.
    vars(np).update({old: getattr(np, name) for old, name in _RENAMED.items() if hasattr(np, name)})
    vars(np).update({function.__name__: function for function in _FUNCTIONS})
    _add(np, **{name: getattr(np.exceptions, name) for name in _EXCEPTIONS if hasattr(np.exceptions, name)})
    _add(np, cast=_Casts(), NINF=-np.inf, PZERO=0.0, NZERO=-0.0, loads=pickle.loads)
    _add(np.lib, **{name: getattr(np, name) for name in _PUBLIC_IN_LIB if hasattr(np, name)})
    for name in ("arraysetops", "index_tricks", "function_base", "twodim_base", "shape_base"):
        _add_module(f"numpy.lib.{name}")
    np.set_printoptions(legacy="1.21")


def _add_module(name: str) -> None:
    """An inner module whose public names are all on numpy itself."""
    module = types.ModuleType(name, "The names that programs took from here are on numpy.")
    vars(module)["__getattr__"] = lambda attribute: getattr(np, attribute)
    sys.modules.setdefault(name, module)
    _add(np.lib, **{name.rpartition(".")[2]: module})


def _add(owner, **names) -> None:
    for name, value in names.items():
        if name not in vars(owner):
            setattr(owner, name, value)
