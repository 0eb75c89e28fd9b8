"""Runs at the start of every Python that a program under `everflow run` starts, as this folder is in its PYTHONPATH: there,
too, `import tensorflow` gives everflow. Nothing is loaded before the child imports something that asks for it.
"""

import importlib
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(_HERE)))
_ROOTS = ("tensorflow", "tensorflow_core", "tensorflow_estimator")


def _start():
    """Have everything as `everflow run` had it for the parent."""
    if importlib.util.find_spec("everflow") is None:
        sys.path.append(_ROOT)
    importlib.import_module("everflow.as_tensorflow")
    importlib.import_module("everflow.cli.inheritance").take_over()


class _Starter:
    """The first finder that is asked: makes a start when tensorflow is wanted, or when numpy has been loaded."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname in _ROOTS:
            sys.meta_path.remove(self)
            _start()
            # What is in sys.modules already the import system would load once more.
            served = sys.modules.pop(fullname, None) or importlib.import_module(fullname)
            sys.modules.pop(fullname, None)
            return importlib.import_module("everflow.platform.module_alias").alias_spec(fullname, served)
        # A child that imports everflow itself gets numpy as it is, as it does anywhere.
        if fullname == "numpy" and "everflow" not in sys.modules:
            sys.meta_path.remove(self)
            spec = importlib.util.find_spec(fullname)
            if spec is not None:
                spec.loader.exec_module = _before_start(spec.loader.exec_module)
            return spec
        return None


def _before_start(exec_module):
    def executing(module):
        exec_module(module)
        _start()

    return executing


def _run_what_is_hidden():
    """Another sitecustomize may be there, which this one stands before."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
    importlib.invalidate_caches()
    ours = sys.modules.pop("sitecustomize")
    if importlib.util.find_spec("sitecustomize") is not None:
        importlib.import_module("sitecustomize")
    sys.modules.setdefault("sitecustomize", ours)


sys.meta_path.insert(0, _Starter())
_run_what_is_hidden()
