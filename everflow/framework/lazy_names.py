"""Packages that show names of their modules: each module is imported when one of its names is first asked for.

Such a package lists the names as imports under `if TYPE_CHECKING:`, where editors and type checkers see them, too. So
its modules can import each other by way of it, and a program loads only what it touches.
"""

from __future__ import annotations

import ast
import functools
import importlib
import pathlib
import sys
from collections.abc import Callable
from typing import Any

# What floors above have added to packages: {package: {name: (module, its name there; None for the module itself)}}.
_added: dict[str, dict[str, tuple[str, str | None]]] = {}


def add_names(package: str, **modules: str) -> None:
    """Let a lazy package show names of modules on floors above it, which it doesn't know. `module:` stands for the
    module itself.

    >>> add_names("everflow.keras.layers", DenseFeatures="everflow.feature_column.features_layers")
    """
    for name, module in modules.items():
        _added.setdefault(package, {})[name] = (module.removesuffix(":"), None if module.endswith(":") else name)


@functools.cache
def imported_names(path: str) -> dict[str, tuple[str, str]]:
    """{name: (module, its name there)} of what a file imports by name, also of what it imports for type checkers only."""
    found = {}
    for statement in ast.parse(pathlib.Path(path).read_bytes()).body:
        for node in statement.body if isinstance(statement, ast.If) else [statement]:
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                found.update({alias.asname or alias.name: (node.module, alias.name) for alias in node.names})
    return found


def lazy_names(package: str, path: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the package in a file.

    >>> __getattr__, __dir__ = lazy_names(__name__, __file__)  # doctest: +SKIP
    """

    def get(name: str) -> Any:
        sources = {**imported_names(path), **_added.get(package, {})} if not name.startswith("__") else {}
        if name not in sources:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        module, original = sources[name]
        if original is None or module == package:
            value = importlib.import_module(module if original is None else f"{package}.{original}")
        else:
            value = getattr(importlib.import_module(module), original)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *imported_names(path), *_added.get(package, {})})

    return get, names
