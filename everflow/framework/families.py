"""Packages whose modules register something, a module for each family: imported when the first look-up asks, whichever
thread it is in.
"""

from __future__ import annotations

import importlib
import pkgutil
import threading

from everflow.framework.forking import renewed


class Families:
    """The modules of a package and of those inside it, to be imported once."""

    def __init__(self, package: str, without: frozenset[str] = frozenset()):
        """`without` are packages inside it that register nothing."""
        self._package = package
        self._without = without
        self._loaded = self._loading = False
        self._lock = renewed(threading.RLock())  # another thread's look-up waits until all is there

    def load(self) -> None:
        """Import all of them, once."""
        if self._loaded:
            return
        with self._lock:
            if self._loaded or self._loading:  # the modules that are being imported look things up themselves
                return
            self._loading = True
            try:
                self._import(self._package)
                self._loaded = True
            finally:
                self._loading = False

    def _import(self, name: str) -> None:
        package = importlib.import_module(name)
        for module in pkgutil.iter_modules(package.__path__, f"{name}."):
            if module.ispkg and module.name.removeprefix(f"{self._package}.") not in self._without:
                self._import(module.name)
            elif not module.ispkg:
                importlib.import_module(module.name)
