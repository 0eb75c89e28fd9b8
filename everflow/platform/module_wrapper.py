"""tensorflow.python.util.module_wrapper: a module around another one, with further names that are imported when they
are asked for.
"""

from __future__ import annotations

import importlib
import types
from typing import Any

from everflow.platform import logging

_PER_MODULE_WARNING_LIMIT = 1


class TFModuleWrapper(types.ModuleType):
    """Stands for `wrapped`, and has the names of `public_apis` besides: {name: (module, name in it)}, with an empty
    name in front for a module itself. With `deprecation` it says once where a name is found in later versions.
    """

    def __init__(
        self,
        wrapped: types.ModuleType,
        module_name: str,
        public_apis: dict[str, tuple[str, str]] | None = None,
        deprecation: bool = True,
        has_lite: bool = False,
    ) -> None:
        super().__init__(wrapped.__name__, wrapped.__doc__)
        vars(self).update(vars(wrapped))
        # Names that the wrapped module's own can't be.
        own = {
            "_tfmw_wrapped_module": wrapped,
            "_tfmw_module_name": module_name,
            "_tfmw_public_apis": public_apis or {},
            "_tfmw_print_deprecation_warnings": deprecation,
            "_tfmw_warnings": 0,
        }
        vars(self).update(own)
        if public_apis:
            vars(self)["__all__"] = sorted(public_apis)

    def __getattr__(self, name: str) -> Any:
        missing = name in self._tfmw_public_apis and not hasattr(self._tfmw_wrapped_module, name)
        found = self._tfmw_import_module(name) if missing else getattr(self._tfmw_wrapped_module, name)
        if self._tfmw_print_deprecation_warnings:
            self._tfmw_add_deprecation_warning(name, found)
        return found

    def _tfmw_import_module(self, name: str) -> Any:
        """Import one of the further names, and keep it."""
        parent, inner = self._tfmw_public_apis[name]
        value = getattr(importlib.import_module(parent), inner) if parent else importlib.import_module(inner)
        setattr(self, name, value)
        return value

    def _tfmw_add_deprecation_warning(self, name: str, value: Any) -> bool:
        """Say that a name has moved, where it has and it was not said yet."""
        if not self._tfmw_module_name or self._tfmw_warnings >= _PER_MODULE_WARNING_LIMIT or name.startswith("_"):
            return False
        vars(self)["_tfmw_warnings"] += 1
        full = f"tf.{self._tfmw_module_name}.{name}"
        logging.warning(f"{full} is an old name; tf.compat.v1.{self._tfmw_module_name}.{name} stays.")
        return True

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._tfmw_wrapped_module, name, value)
        vars(self)[name] = value
        if name not in self.__all__ and name != "__all__" and not name.startswith("_tfmw"):
            self.__all__.append(name)

    def __delattr__(self, name: str) -> None:
        if hasattr(self._tfmw_wrapped_module, name):
            delattr(self._tfmw_wrapped_module, name)
        vars(self).pop(name, None)

    def __dir__(self) -> list[str]:
        own = (name for name in dir(self._tfmw_wrapped_module) if not name.startswith("_"))
        return sorted({*self._tfmw_public_apis, *own})

    def __repr__(self) -> str:
        return repr(self._tfmw_wrapped_module)

    def __reduce__(self) -> Any:
        return importlib.import_module, (self.__name__,)
