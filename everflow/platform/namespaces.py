"""Namespaces of the public API: what one says of a name that it hasn't. A misspelt name gets the one that was meant, and
a name of TensorFlow's that is missing here is said to be so.
"""

from __future__ import annotations

import difflib
import importlib
import types
from typing import Any

from everflow.framework.api_names import ending_in, is_listed, resolve
from everflow.version import EVERFLOW_VERSION

# Namespaces whose names the list of TensorFlow's hasn't, or not all.
_NOT_LISTED = ("compat", "contrib", "flags")


class Explanation:
    """The words of an AttributeError, put together when somebody reads them: `hasattr` never does."""

    def __init__(self, namespace: Namespace, name: str) -> None:
        self._namespace, self._name = namespace, name

    def __str__(self) -> str:
        path = self._namespace._everflow_path
        said = f"module 'tensorflow{path and '.' + path}' has no attribute {self._name!r}"
        if is_listed(f"{path}.{self._name}".lstrip(".")):
            return f"{said} (Everflow {EVERFLOW_VERSION} doesn't have it yet)"
        root = self._namespace._everflow_root
        meant = [f"tf.{public}" for public in ending_in(self._name) if resolve(root, public) is not None]
        meant = meant or difflib.get_close_matches(
            self._name, [n for n in dir(self._namespace) if n[0] != "_"], 3, 0.75
        )
        return f"{said}. Did you mean {' or '.join(meant[:2])}?" if meant else said

    __repr__ = __str__


class Namespace(types.ModuleType):
    """The module of a namespace. It makes namespaces of the modules that become its attributes."""

    _everflow_path: str
    _everflow_root: types.ModuleType

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        raise AttributeError(Explanation(self, name), name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if type(value) is types.ModuleType:
            _adopt(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """A function that is pickled with what it refers to refers to `tf` by name."""
        return importlib.import_module, (self.__name__,)


def _adopt(parent: Namespace, name: str, module: types.ModuleType) -> None:
    """Make a namespace of a module, if it is one by its name, and of those inside of it."""
    path = f"{parent._everflow_path}.{name}".lstrip(".")
    if module.__name__.startswith("everflow.") and (is_listed(path) or path.split(".")[0] in _NOT_LISTED):
        make_namespace(module, path, parent._everflow_root)


def make_namespace(module: types.ModuleType, path: str = "", root: types.ModuleType | None = None) -> None:
    """Let a module explain names that it hasn't: the one of tf itself, or of `tf.PATH`.

    >>> import everflow as tf
    >>> tf.nn.reluu
    Traceback (most recent call last):
    AttributeError: module 'tensorflow.nn' has no attribute 'reluu'. Did you mean relu or relu6?
    """
    module.__class__ = Namespace
    vars(module).update(_everflow_path=path, _everflow_root=root or module)
    for name, value in list(vars(module).items()):
        if type(value) is types.ModuleType and not name.startswith("_"):
            _adopt(module, name, value)  # type: ignore[arg-type]  # it is one by now
