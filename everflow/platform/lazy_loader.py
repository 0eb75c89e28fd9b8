"""tensorflow.python.util.lazy_loader: a module that is imported when first touched."""

from __future__ import annotations

import importlib
import types

from everflow.platform import logging


class LazyLoader(types.ModuleType):
    """Stands for module `name` under `local_name` in a module's globals, and is replaced by it at the first use."""

    def __init__(self, local_name, parent_module_globals, name, warning=None):
        super().__init__(name)
        self._local_name = local_name
        self._parent_module_globals = parent_module_globals
        self._warning = warning

    def _load(self):
        module = importlib.import_module(self.__name__)
        warning, self._warning = self._warning, None
        if warning:
            logging.warning(warning)
        self._parent_module_globals[self._local_name] = module
        vars(self).update(vars(module))  # for those who hold this object already
        return module

    def __getattr__(self, item):
        return getattr(self._load(), item)

    def __dir__(self):
        return dir(self._load())
