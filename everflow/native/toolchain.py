"""IR to machine code: compiled by another process, kept on disk, loaded into memory that is given back."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import itertools
import os
import pathlib
import subprocess
import sys
import threading
from collections.abc import Callable

import llvmlite
import llvmlite.binding as llvm

from everflow.native import compiler_process
from everflow.native.cache import Cache

_serial = itertools.count()
# What compiled code may call besides itself: OpenMP's runtime, which ATen has brought along.
IMPORTS = ("GOMP_parallel", "omp_get_thread_num", "omp_get_num_threads")
# Seconds that the compiler may take for one module.
PATIENCE = 120.0


class CompilerError(Exception):
    """The compiler could not make code of a module."""


class _Compiler:
    """The compiling process; started when it is first needed, and again if it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._is_over = False  # the program ends

    def compile(self, text: str) -> bytes:
        """The object file of a module; where vectorising fails, one without vectors."""
        with self._lock:
            image = self._ask(text, True) or self._ask(text, False)
        if not image:
            raise CompilerError("LLVM ended without an object file")
        return image

    def _ask(self, text: str, vectorise: bool) -> bytes:
        if self._is_over:
            return b""
        if self._process is None:
            command = [sys.executable, compiler_process.__file__]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        process, data = self._process, text.encode()
        assert process.stdin is not None and process.stdout is not None
        watch = threading.Timer(PATIENCE, process.kill)
        watch.start()
        try:
            process.stdin.write(len(data).to_bytes(8, "little") + bytes([vectorise]) + data)
            process.stdin.flush()
            size = int.from_bytes(process.stdout.read(8), "little")
            image = process.stdout.read(size)
        except OSError:
            image, size = b"", 1
        finally:
            watch.cancel()
        if not image or len(image) < size:
            self.close()
            return b""
        return image

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):  # what was not written yet is lost on purpose
                        pipe.close()
            self._process.wait()
            self._process = None

    def end(self) -> None:
        """The program ends: whoever waits for code gets none."""
        self._is_over = True
        self.close()

    def leave(self) -> None:
        """In a child that was forked: the process is the parent's."""
        self._process, self._lock = None, threading.Lock()


_compiler = _Compiler()
atexit.register(_compiler.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_compiler.leave)


@functools.cache
def target_machine() -> llvm.TargetMachine:
    """The processor of this machine."""
    return compiler_process.target_machine()


@functools.cache
def _cache() -> Cache:
    """Where object files are kept: EVERFLOW_CACHE, or the user's directory for such things."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Cache(pathlib.Path(os.environ.get("EVERFLOW_CACHE") or os.path.join(home, "everflow")) / "native")


def object_code(text: str) -> bytes:
    """The object file of a module: the one that was kept, or a new one."""
    machine = target_machine()
    features = llvm.get_host_cpu_features().flatten()
    key = "\n".join([llvmlite.__version__, machine.triple, llvm.get_host_cpu_name(), features, text])
    return _cache().get(key, lambda: _compiler.compile(text))


@functools.cache
def _jit() -> llvm.LLJIT:
    return llvm.create_lljit_compiler(target_machine())


_linking = threading.Lock()


@functools.cache
def imports() -> dict[str, int]:
    """Addresses of what code may call, by name; none where OpenMP's runtime is not at hand."""
    try:
        process = ctypes.CDLL(None)
    except (OSError, TypeError):  # on Windows a process has no names of its own
        return {}
    found = {name: getattr(process, name, None) for name in IMPORTS}
    return {name: ctypes.cast(f, ctypes.c_void_p).value or 0 for name, f in found.items() if f is not None}


def can_share() -> bool:
    """Whether code may have threads share a loop."""
    return set(imports()) == set(IMPORTS)


class Loaded:
    """An object file in memory. Its code goes with it. `process`: addresses of what it uses, by name."""

    def __init__(self, image: bytes, names: list[str], process: dict[str, int] | None = None) -> None:
        builder = llvm.JITLibraryBuilder().add_object_img(image)
        for name in names:
            builder.export_symbol(name)
        for name, address in (imports() if process is None else process).items():
            builder.import_symbol(name, address)
        with _linking:
            self._tracker = builder.link(_jit(), f"regions{next(_serial)}")

    def address(self, name: str) -> int:
        """Where a function of the file begins."""
        return self._tracker[name]

    def function(self, name: str, pointers: int) -> Callable[..., None]:
        """A function of the file, for Python: it takes so many addresses and an integer. It holds the file."""
        kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * pointers, ctypes.c_int)
        made = kind(self._tracker[name])
        made.file = self  # type: ignore[attr-defined]
        return made
