"""LLVM inside this process: its linker, for object files that `object_files.py` does not know, and its name for the
processor. To load it takes 40 MB, so that it is imported only where it is needed.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable, Mapping

import llvmlite.binding as llvm

from everflow.native import compiler_process

FILES_OF_A_LINKER = 64


@functools.cache
def target_machine() -> llvm.TargetMachine:
    """The processor of this machine."""
    return compiler_process.target_machine()


def processor() -> str:
    """The machine that code is made for, and all it can do."""
    features = llvm.get_host_cpu_features().flatten()
    return "\n".join([target_machine().triple, llvm.get_host_cpu_name(), features])


class _Linkers:
    """Load object files. A linker keeps some kilobytes of every file it has loaded, also of those that are gone, so it
    serves for some, and goes with the last of them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._linker: llvm.LLJIT | None = None

    def link(self, builder: llvm.JITLibraryBuilder) -> tuple[llvm.ResourceTracker, llvm.LLJIT]:
        with self._lock:
            if self._linker is None or self._count % FILES_OF_A_LINKER == 0:
                self._linker = llvm.create_lljit_compiler(target_machine())
            self._count += 1
            return builder.link(self._linker, f"regions{self._count}"), self._linker


_linkers = _Linkers()


class Linked:
    """The code of an object file, ready to be called; its memory goes with it. `names`: what is asked for later."""

    def __init__(self, image: bytes, names: Iterable[str], addresses: Mapping[str, int]) -> None:
        builder = llvm.JITLibraryBuilder().add_object_img(image)
        for name in names:
            builder.export_symbol(name)
        for name, address in addresses.items():
            builder.import_symbol(name, address)
        self._tracker, self._linker = _linkers.link(builder)  # which go in this order

    def __getitem__(self, name: str) -> int:
        return self._tracker[name]
