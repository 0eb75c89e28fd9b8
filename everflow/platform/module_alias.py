"""A module under a second import path: both names give the same object."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types


class _AliasLoader(importlib.abc.Loader):
    def __init__(self, module: types.ModuleType):
        self.module = module

    def exec_module(self, module: types.ModuleType) -> None:
        # The import system keeps what it finds here: the module that it made gives way to ours, whose own __spec__
        # stays as it is.
        sys.modules[module.__name__] = self.module

    def get_code(self, fullname: str) -> types.CodeType | None:
        """The code of the module, for `python -m`."""
        loader = getattr(self.module.__spec__, "loader", None)
        if not isinstance(loader, importlib.abc.InspectLoader):
            raise ImportError(f"{fullname} has no code of its own to run", name=fullname)
        return loader.get_code(self.module.__name__)


def alias_spec(name: str, module: types.ModuleType) -> importlib.machinery.ModuleSpec | None:
    """What a finder returns so that importing `name` gives `module`."""
    where = getattr(module, "__file__", None)
    return importlib.util.spec_from_loader(
        name, _AliasLoader(module), origin=where, is_package=hasattr(module, "__path__")
    )
