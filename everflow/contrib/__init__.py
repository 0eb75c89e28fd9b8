"""tf.contrib: a package for each of its parts, loaded when first touched."""

from __future__ import annotations

import importlib as _importlib


def __getattr__(name: str):
    if not name.startswith("_"):
        try:
            return _importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module 'tensorflow.contrib' has no attribute {name!r}", name=name)
