"""How torch is loaded: without the parts of it that kernels have no use for, and without keeping what only loading needed.

`import torch` runs some 770 modules. A third of them, rules for tracing, exporting and quantising among them, are put
off until somebody touches one: half a second and 26 MB less. What it registers once then lies in the pages of its
libraries, 50 MB that nobody calls again, and that the system has in the file anyway.

A program that imports torch itself before its first run has all of it, as ever; so has one with EVERFLOW_WHOLE_TORCH=1.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

# Versions of torch whose modules bear to be run in another order: this has been seen of them.
SEEN = ("2.13.",)
# Modules that are put off, with all inside them.
PUT_OFF = frozenset(
    f"torch.{name}"
    for name in """
    _meta_registrations ao distributed._meta_registrations distributions export masked nn.intrinsic nn.qat
    nn.quantizable nn.quantized optim profiler quantization quasirandom
    """.split()
)
# Who traces programs needs the rules for tensors without numbers, and does not ask for them by name.
_NEEDS_RULES, _RULES = ("torch._dynamo", "torch._export", "torch._inductor", "torch.onnx"), "torch._meta_registrations"
# madvise's advice that pages are not needed.
_DONT_NEED = 4


class Later(ModuleType):
    """A module that is run when it is first asked for something."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") and name != "__all__":  # those who look through all modules ask for such
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        run(self)
        return getattr(self, name)


class _PutOff(Loader):
    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Later(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Not yet."""


class _Present(Loader):
    """For a module that running the one around it has brought along."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """It has been."""


def run(module: ModuleType) -> None:
    """Let a module be what it would have been."""
    spec = module.__spec__
    if isinstance(module, Later) and spec is not None and isinstance(spec.loader, _PutOff):
        module.__class__ = ModuleType  # type: ignore[assignment]  # a class that adds nothing but the waiting
        spec.loader = spec.loader.loader
        module.__loader__ = spec.loader
        spec.loader.exec_module(module)


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith("torch."):
            return None
        if name in PUT_OFF:
            spec = PathFinder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _PutOff(spec.loader)
            return spec
        parts = name.split(".")
        around = [".".join(parts[:count]) for count in range(2, len(parts))]
        for outer in [*around, *([_RULES] if name.startswith(_NEEDS_RULES) else [])]:
            found = sys.modules.get(outer)
            if isinstance(found, Later):
                run(found)
        return ModuleSpec(name, _Present()) if name in sys.modules else None


def load_torch() -> ModuleType:
    """Torch; where nobody has imported it, as kernels need it."""
    if "torch" in sys.modules or os.environ.get("EVERFLOW_WHOLE_TORCH", "0") in ("1", "true"):
        return importlib.import_module("torch")
    if _version().startswith(SEEN):
        sys.meta_path.insert(0, _Finder())
    torch = importlib.import_module("torch")
    if torch.__file__ is not None:
        forget_code(Path(torch.__file__).parent / "lib")
    return torch


def _version() -> str:
    """The version of torch that would be imported."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        return ""
    text = Path(found.origin).with_name("version.py").read_text()
    said = re.search(r"^__version__ = '([^']*)'", text, re.MULTILINE)
    return said[1] if said else ""


def forget_code(directory: Path) -> int:
    """Take pages of the code of libraries in a directory out of this process's memory; how many bytes they span. Those
    that are called again come back from the file.

    Code is never written to, so nothing is lost, but for what a debugger has put there: with one it is left alone.
    """
    if not sys.platform.startswith("linux"):
        return 0
    try:
        if re.search(r"^TracerPid:\s*[1-9]", Path("/proc/self/status").read_text(), re.MULTILINE):
            return 0
        mapped = Path("/proc/self/maps").read_text()
        advise = ctypes.CDLL(None).madvise
    except (OSError, AttributeError):  # no such files, or another C library
        return 0
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    total = 0
    for begin, end, path in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ \S+ +(/.*)$", mapped, re.MULTILINE):
        size = int(end, 16) - int(begin, 16)
        if Path(path).parent == directory.resolve() and advise(int(begin, 16), size, _DONT_NEED) == 0:
            total += size
    return total
