"""The `tensorflow` of a program of 2016: today's modules, with the names of `table.py` laid over them.

The paths of that time lead there too: `tensorflow.models.rnn`, `tensorflow.python.ops.seq2seq`.
"""

from __future__ import annotations

import importlib
import importlib.abc
import sys
import types
from typing import Any

import everflow
from everflow.legacy.tf0 import cells, functions, recurrent, skflow
from everflow.legacy.tf0.table import VERSION, rows
from everflow.platform.module_alias import alias_spec

_OPS = "python.ops."
# Paths below `tensorflow` that are one module of ours, or another path.
_PATHS: dict[str, types.ModuleType | str] = {
    "nn.rnn_cell": cells,
    "nn.seq2seq": recurrent,
    "models.rnn.rnn_cell": cells,
    "models.rnn.linear": cells,
    "models.rnn.rnn": recurrent,
    "models.rnn.seq2seq": recurrent,
    "python.ops.rnn_cell": cells,
    "python.ops.rnn": recurrent,
    "python.ops.seq2seq": recurrent,
    "g3doc.tutorials.mnist.input_data": "examples.tutorials.mnist.input_data",
    "models.image.mnist.input_data": "examples.tutorials.mnist.input_data",
    "contrib.skflow": "contrib.learn",
}


class _Overlaid(types.ModuleType):
    """A module with some names of its own over those of another, and modules below it that are overlaid too."""

    def __init__(self, name: str, below: types.ModuleType | None, names: dict[str, Any], modules: set[str]):
        super().__init__(name, f"As TensorFlow {VERSION} had it; see everflow.legacy.tf0.")
        self.__dict__.update(names, _below=below, _modules=modules, __path__=[])

    def __getattr__(self, name: str) -> Any:
        if name in self._modules:
            return importlib.import_module(f"{self.__name__}.{name}")
        if self._below is None or name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        return getattr(self._below, name)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *dir(self._below)})


def _values() -> dict[str, Any]:
    """{name below `tf`: what it is in 0.12}."""
    ours = types.SimpleNamespace(**{**vars(recurrent), **vars(functions), **vars(skflow)})
    return {name: row.value(everflow, ours) for name, row in rows().items()}


class _Finder(importlib.abc.MetaPathFinder):
    """Finds what differs from today's modules, before the finder of today's does."""

    def __init__(self) -> None:
        self._values = _values()
        self._values |= {"__version__": VERSION, "nn.rnn_cell": cells, "nn.seq2seq": recurrent}

    def _folder(self, path: str) -> bool:
        prefix = f"{path}." if path else ""
        return any(name.startswith(prefix) for name in (*self._values, *_PATHS))

    def _over(self, path: str) -> dict[str, Any]:
        """The names that lie over a module: those below its path, or for a file of ops those of `tf` and `tf.nn`."""
        if path.startswith(_OPS):
            flat = {name.removeprefix("nn."): value for name, value in self._values.items()}
            return {name: value for name, value in flat.items() if "." not in name and name[0] != "_"}
        prefix = f"{path}." if path else ""
        below = {name.removeprefix(prefix): value for name, value in self._values.items() if name.startswith(prefix)}
        return {name: value for name, value in below.items() if "." not in name}

    def module(self, fullname: str, path: str) -> types.ModuleType | None:
        """What `tensorflow.PATH` is in 0.12, if that is other than today's."""
        served = _PATHS.get(path)
        if isinstance(served, str):
            return importlib.import_module(f"tensorflow.{served}")
        if served is not None or not (self._folder(path) or path.startswith(_OPS)):
            return served
        prefix = f"{path}." if path else ""
        paths = [name.removeprefix(prefix) for name in (*self._values, *_PATHS) if name.startswith(prefix)]
        modules = {first for first, dot, _ in (name.partition(".") for name in paths) if dot}
        return _Overlaid(fullname, self._today(path), self._over(path), modules)

    def _today(self, path: str) -> types.ModuleType | None:
        """Today's module, by the finders that come after this one."""
        if not path:
            return everflow
        sys.meta_path.remove(self)
        try:
            return importlib.import_module(f"tensorflow.{path}")
        except ModuleNotFoundError:
            return None  # a folder that only 0.12 has
        finally:
            sys.modules.pop(f"tensorflow.{path}", None)
            sys.meta_path.insert(0, self)

    def find_spec(self, fullname, path=None, target=None):
        root, _, rest = fullname.partition(".")
        if root != "tensorflow" or (module := self.module(fullname, rest)) is None:
            return None
        return alias_spec(fullname, module)


def install() -> None:
    """From now on `import tensorflow` gives names their meanings of TensorFlow 0.12."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    root = finder.module("tensorflow", "")
    assert root is not None
    for name in [name for name in sys.modules if name.partition(".")[0] == "tensorflow"]:
        del sys.modules[name]
    sys.modules["tensorflow"] = root
