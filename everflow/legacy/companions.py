"""Packages that programs import beside TensorFlow, served where they aren't installed: horovod, and gast, which
TensorFlow 1.15 brought along.
"""

from __future__ import annotations

import importlib
import importlib.abc
import sys

from everflow.platform.module_alias import alias_spec

_KERAS, _CALLBACKS = "everflow.horovod.tensorflow.keras", "everflow.horovod.callbacks"
PATHS = {
    "horovod": "everflow.horovod",
    "horovod.tensorflow": "everflow.horovod.tensorflow",
    "horovod.tensorflow.compression": "everflow.horovod.exchanges",
    "horovod.tensorflow.mpi_ops": "everflow.horovod.tensorflow",
    "horovod.tensorflow.keras": _KERAS,
    "horovod.tensorflow.keras.callbacks": _CALLBACKS,
    "horovod.keras": _KERAS,
    "horovod.keras.callbacks": _CALLBACKS,
    "gast": "everflow.legacy.gast",
}


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        known = PATHS.get(fullname)
        return alias_spec(fullname, importlib.import_module(known)) if known else None


def install() -> None:
    """From now on these imports give what is here, unless one is installed: this is asked last."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
