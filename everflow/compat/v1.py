"""`import everflow.compat.v1 as tf` gives everflow itself: this is TensorFlow 1. `everflow.compat.v1.X` is
`everflow.X`.
"""

import importlib
import importlib.abc
import sys

import everflow
from everflow.platform.module_alias import alias_spec

_PREFIX = __name__ + "."


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith(_PREFIX):
            return None
        return alias_spec(fullname, importlib.import_module(f"everflow.{fullname.removeprefix(_PREFIX)}"))


sys.meta_path.insert(0, _Finder())
sys.modules[__name__] = everflow
