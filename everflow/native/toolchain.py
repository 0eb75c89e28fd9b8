"""IR to machine code: compiled by another process, kept on disk, loaded into memory that is given back."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import importlib.util
import os
import pathlib
import platform
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import llvmlite

from everflow.native import object_files, python_calls, team
from everflow.native.background import Ending
from everflow.native.cache import Cache
from everflow.native.tensor_objects import ATEN

if TYPE_CHECKING:
    from types import ModuleType

    from everflow.native.linker import Linked

# What compiled code may call besides itself: the BLAS that ATen has brought along.
BLAS = ("sgemm_", "dgemm_")
# Seconds that the compiler may take for one module.
PATIENCE = 120.0
# What says of a processor what it can do: on x86-64, and on ARM.
_OF_PROCESSORS = (
    *("vendor_id", "cpu family", "model", "stepping", "flags"),
    *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features"),
)
_CPU_INFO = pathlib.Path("/proc/cpuinfo")
_COMPILER = pathlib.Path(__file__).with_name("compiler_process.py")


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
        if self._is_over:
            raise Ending
        if not image:
            raise CompilerError("LLVM ended without an object file")
        return image

    def _ask(self, text: str, vectorise: bool) -> bytes:
        if self._is_over:
            return b""
        if self._process is None:
            command = [sys.executable, str(_COMPILER)]
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
        except (OSError, ValueError):  # the process is gone, or the program ends and has closed the pipe
            image, size = b"", 1
        finally:
            watch.cancel()
        if not image or len(image) < size:
            self.close()
            return b""
        return image

    def close(self) -> None:
        process, self._process = self._process, None  # the end of the program and a thread may both come here
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not written yet is lost on purpose
                    pipe.close()
        process.wait()

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
def _cache() -> Cache:
    """Where object files are kept: EVERFLOW_CACHE, or the user's directory for such things."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Cache(pathlib.Path(os.environ.get("EVERFLOW_CACHE") or os.path.join(home, "everflow")) / "native")


def _llvm() -> ModuleType:
    """LLVM in this process, for those who can't do without."""
    from everflow.native import linker  # takes 40 MB

    return linker


@functools.cache
def _processor() -> str:
    """What code is made for: the processor, and all it can do."""
    if sys.platform == "linux" and (told := _told_by_linux()):
        return told
    processor: str = _llvm().processor()
    return processor


def _told_by_linux() -> str:
    """What Linux says of the first processor, but for what changes from one moment to the next."""
    try:
        text = _CPU_INFO.read_text()
    except OSError:
        return ""
    said = dict(re.findall(r"^(\S[^\t:]*?)\s*: (.*)$", text.partition("\n\n")[0], re.MULTILINE))
    named = [f"{name} {said[name]}" for name in _OF_PROCESSORS if name in said]
    return "\n".join([platform.machine(), *named]) if len(named) >= 3 else ""


_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def can(machine: str, *features: str) -> bool:
    """Whether the processor is of a kind, and has one of these features: names of Linux, or of LLVM with a plus."""
    here = platform.machine().lower()
    said = re.split(r"[\s,]+", _processor())
    return _MACHINES.get(here, here) == machine and not set(features).isdisjoint(said)


def object_code(text: str) -> bytes:
    """The object file of a module: the one that was kept, or a new one."""
    return _cache().get("\n".join([llvmlite.__version__, _processor(), text]), lambda: _compiler.compile(text))


@functools.cache
def imports() -> dict[str, int]:
    """Addresses of what code may call, by name; those only that are at hand here."""
    found = {team.STATE: team.address()}
    loaded = ctypes.CDLL(_aten())
    for name in (*BLAS, *ATEN):
        function = getattr(loaded, name, None)
        if function is not None:
            found[name] = ctypes.cast(function, ctypes.c_void_p).value or 0
    return found


def _aten() -> str:
    """The file that holds ATen's kernels and the BLAS they call."""
    name = {"darwin": "libtorch_cpu.dylib", "win32": "torch_cpu.dll"}.get(sys.platform, "libtorch_cpu.so")
    found = importlib.util.find_spec("torch")
    assert found is not None and found.origin is not None
    return os.path.join(os.path.dirname(found.origin), "lib", name)


def can_share() -> bool:
    """Whether code may have threads share a loop."""
    return team.is_possible()


def gather_helpers(threads: int, prepare: Callable[[], object] = lambda: None) -> None:
    """Have helpers for regions that so many threads may share; each of them is `prepare`d in its own thread."""
    if threads < 2 or threads - 1 <= team.HELPERS.count or not can_share():
        return
    module = team.helping()
    python_calls.write(module, module.globals["help"])
    help_out = Loaded(object_code(str(module)), ["help"]).function("help")

    def work() -> None:
        prepare()
        help_out()

    team.HELPERS.gather(threads - 1, work)


def can_multiply() -> bool:
    """Whether code may have matrices multiplied."""
    return imports().keys() >= set(BLAS)


def knows_tensors() -> bool:
    """Whether code may look at tensors that Python hands over."""
    return imports().keys() >= set(ATEN)


class Loaded:
    """An object file in memory. Its code goes with it. `names`: the functions that Python calls; `process`: addresses of
    what else they use, by name; `also_held`: whether each has a second form, which keeps Python's lock.
    """

    def __init__(
        self, image: bytes, names: list[str], process: dict[str, int] | None = None, also_held: bool = False
    ) -> None:
        addresses = {**imports(), **python_calls.imports(), **(process or {})}
        self._code: object_files.Image | Linked
        try:
            self._code = object_files.Image(image, addresses)
        except object_files.Foreign:
            forms = [python_calls.form_of(name, held) for name in names for held in (False, True)[: 1 + also_held]]
            self._code = _llvm().Linked(image, forms, addresses)

    def function(self, name: str, keeps_lock: bool = False) -> Callable[..., int]:
        """A function of the file: it takes addresses and numbers. It holds the file."""
        return python_calls.function_at(self._code[python_calls.form_of(name, keeps_lock)], self)
