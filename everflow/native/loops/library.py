"""Files of compiled loops: made in the background once enough was done without them, and called by name.

Until a file is there, and where there is no compiler, nothing answers and kernels go their plain way. Results are the
same both ways, so it does not matter when one takes over from the other.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import sys
from typing import Any

from everflow.native.background import BACKGROUND, is_possible

# Tenths of microseconds that are spent without a file before it is worth having: to find one on disk takes ten times as
# long, in the background; to make one, once, some hundred times.
ENOUGH = 100_000


class Library:
    """The loops of a module of this package, those in its `EXPORTED`.

    `cost`: what a string, or other piece of work, takes without them, in tenths of microseconds.
    """

    def __init__(self, name: str, cost: int) -> None:
        self._name, self._cost = name, cost
        self._done = 0
        self.code: Any = None  # the functions by name, once they are there

    def ready(self, work: int) -> Any:
        """The functions, if they are there; `work` counts towards having them made.

        `code.name(...)` keeps Python's lock, which what makes objects needs. `code.free.name(...)` leaves it.
        """
        if self.code is None and self._done < ENOUGH:
            self._done += work * self._cost
            if self._done >= ENOUGH or _MODE == "always":
                self._done = ENOUGH
                self._ask()
        return self.code

    def at_once(self) -> Any:
        """The functions, for what only they can do: they are waited for. None without a compiler."""
        if self.code is None and _MODE != "off" and is_supported():
            BACKGROUND.attempt(self.make)
        return self.code

    def _ask(self) -> None:
        if _MODE == "off" or not is_supported():
            return
        if _MODE == "always":
            BACKGROUND.attempt(self.make)
        else:
            BACKGROUND.submit(self.make)

    def make(self) -> None:
        """Compile the module, or find what was compiled before."""
        # By name: they need a library that not every machine has.
        compiling = importlib.import_module("everflow.native.loops.compiling")
        self.code = compiling.compiled(importlib.import_module(f"everflow.native.loops.{self._name}").EXPORTED)


_MODE = os.environ.get("EVERFLOW_NATIVE", "auto")


@functools.cache
def is_supported() -> bool:
    """Whether there is a compiler, and a Python whose objects lie in memory as the loops expect."""
    usual = sys.implementation.name == "cpython" and sys.byteorder == "little" and ctypes.sizeof(ctypes.c_void_p) == 8
    if not usual or not is_possible():
        return False
    sample, head = b"everflow", object.__basicsize__
    return (
        ctypes.c_int64.from_address(id(sample) + head).value == len(sample)
        and ctypes.c_void_p.from_address(id(sample) + head - 8).value == id(bytes)
        and ctypes.string_at(id(sample) + bytes.__basicsize__ - 1) == sample
    )
