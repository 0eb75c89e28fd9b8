"""Functions of the language as functions for Python: translated, compiled or found on disk, loaded."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from everflow.native import toolchain
from everflow.native.loops import translation
from everflow.native.loops.words import Type

_KINDS: dict[str, Any] = {
    "I64": ctypes.c_int64,
    "U64": ctypes.c_uint64,
    "F64": ctypes.c_double,
    "F32": ctypes.c_float,
    "NOTHING": None,
}


def compiled(functions: list[Callable[..., Any]]) -> SimpleNamespace:
    """The functions by name; `free` has them again, as ones that leave Python's lock while they run."""
    names = [function.__name__ for function in functions]
    file = toolchain.Loaded(
        toolchain.object_code(str(translation.Module(functions).ir)), names, process(), for_python=False
    )
    held, free = (
        SimpleNamespace(
            file=file,
            **{f.__name__: _callable(kind, file.address(f.__name__), *translation.signature(f)) for f in functions},
        )
        for kind in (ctypes.PYFUNCTYPE, ctypes.CFUNCTYPE)
    )
    held.free = free
    return held


def _callable(kind: Callable[..., Any], address: int, result: Type, arguments: dict[str, Type]) -> Any:
    types = [_KINDS.get(type.name, ctypes.c_void_p) for type in (result, *arguments.values())]
    return kind(*types)(address)


@functools.cache
def process() -> dict[str, int]:
    """What loops may use of the process: Python's own functions, and the two that LLVM writes copies with."""
    names = ("PyBytes_FromStringAndSize", "Py_IncRef", "Py_DecRef")
    found = {name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in names}
    move, fill = (ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (ctypes.memmove, ctypes.memset))
    return {**found, "PyBytes_Type": id(bytes), "memcpy": move, "memmove": move, "memset": fill}
