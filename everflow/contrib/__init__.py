"""tf.contrib: a package for each of its parts, loaded when first touched."""

from __future__ import annotations

import importlib as _importlib
import pkgutil as _pkgutil


def __getattr__(name: str):
    if not name.startswith("_") and any(part.name == name for part in _pkgutil.iter_modules(__path__)):
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(name)  # said in full by `platform/namespaces.py`


def __dir__():
    return sorted({*globals(), *(part.name for part in _pkgutil.iter_modules(__path__))})
