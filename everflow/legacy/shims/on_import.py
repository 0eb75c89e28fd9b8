"""Changes to packages that are made when a program imports them, so that those it doesn't use are never loaded."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one package where it is, and changes it once it is loaded."""

    def __init__(self, name, change):
        self.name, self.change = name, change

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_change(module):
                load(module)
                self.change(module)

            spec.loader.exec_module = load_and_change
        return spec


def when_imported(name: str, change) -> None:
    """Have `change(module)` called once the package of this name is loaded; at once, where it is already."""
    if name in sys.modules:
        change(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Finder(name, change))
