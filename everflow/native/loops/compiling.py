"""Functions of the language as functions for Python: translated, compiled or found on disk, loaded."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from everflow.native import python_calls, toolchain
from everflow.native.loops import translation


def compiled(functions: list[Callable[..., Any]]) -> SimpleNamespace:
    """The functions by name; `free` has them again, as ones that leave Python's lock while they run."""
    module = translation.Module(functions)
    for function in functions:
        for keeps_lock in (True, False):
            python_calls.write(module.ir, module.function(function), keeps_lock=keeps_lock)
    names = [function.__name__ for function in functions]
    file = toolchain.Loaded(toolchain.object_code(str(module.ir)), names, process(), also_held=True)
    held, free = (
        SimpleNamespace(**{name: file.function(name, keeps_lock) for name in names}) for keeps_lock in (True, False)
    )
    held.free = free
    return held


@functools.cache
def process() -> dict[str, int]:
    """What loops may use of the process: Python's own functions, and the two that LLVM writes copies with."""
    names = ("PyBytes_FromStringAndSize", "Py_IncRef", "Py_DecRef")
    found = {name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in names}
    move, fill = (ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (ctypes.memmove, ctypes.memset))
    return {**found, "PyBytes_Type": id(bytes), "memcpy": move, "memmove": move, "memset": fill}
