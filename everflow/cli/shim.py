"""Put a distribution called tensorflow into this virtual environment that hands on to everflow: then plain `python
train.py`, `pip check` and requirements that name tensorflow work.

everflow shim              write it
everflow shim --remove     take it away again
everflow shim --types      write only the stubs of tensorflow, for editors and type checkers, into ./typings
"""

from __future__ import annotations

import argparse
import importlib.machinery
import os
import shutil
import sys
import sysconfig
import tempfile

from everflow.cli.served_stubs import served_stubs
from everflow.version import EVERFLOW_VERSION, VERSION

USAGE = "everflow shim [--remove | --types [FOLDER]]"
_PACKAGE, _INFO = "tensorflow", f"tensorflow-{VERSION}.dist-info"
_INSTALLER = "everflow"
_CODE = '''"""Everflow under TensorFlow's name, written by `everflow shim`; `everflow shim --remove` takes it away."""

import sys

del sys.modules[__name__]  # this module gives way to everflow's
import everflow.as_tensorflow
'''
_METADATA = f"""Metadata-Version: 2.1
Name: tensorflow
Version: {VERSION}
Summary: Everflow {EVERFLOW_VERSION} under TensorFlow's name
Requires-Dist: everflow
"""
_WHEEL = f"Wheel-Version: 1.0\nGenerator: everflow {EVERFLOW_VERSION}\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_FILES = {
    f"{_PACKAGE}/__init__.py": _CODE,
    f"{_INFO}/METADATA": _METADATA,
    f"{_INFO}/WHEEL": _WHEEL,
    f"{_INFO}/INSTALLER": f"{_INSTALLER}\n",
    f"{_INFO}/top_level.txt": f"{_PACKAGE}\n",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--remove", action="store_true", help="take away what was written")
    what.add_argument(
        "--types",
        metavar="FOLDER",
        nargs="?",
        const="typings",
        help="write the stubs of tensorflow into a folder that editors look into (typings), and nothing else",
    )


def main(args: argparse.Namespace) -> int:
    folder = sysconfig.get_paths()["purelib"]
    try:
        said = write_types(args.types) if args.types else remove(folder) if args.remove else write(folder)
    except (OSError, ValueError) as e:
        print(f"everflow shim: {e}", file=sys.stderr)
        return 1
    print(said)
    return 0


def _is_ours(folder: str) -> bool:
    code = os.path.join(folder, _PACKAGE, "__init__.py")
    if not os.path.isfile(code):
        return False
    with open(code, encoding="utf-8") as file:
        return file.read() == _CODE


def write(folder: str) -> str:
    """Put the distribution into a folder of packages, whole or not at all."""
    if sys.prefix == sys.base_prefix:
        raise ValueError(
            f"{sys.executable} is in no virtual environment; make one with `python -m venv` and run it there"
        )
    here = os.path.join(folder, _PACKAGE)
    found = importlib.machinery.PathFinder.find_spec(_PACKAGE)
    if (found is not None or os.path.exists(here)) and not _is_ours(folder):
        where = os.path.dirname(found.origin) if found and found.origin else here
        raise ValueError(f"a TensorFlow is installed in {where}; `pip uninstall tensorflow` takes it away")
    staged = tempfile.mkdtemp(prefix=".everflow-shim-", dir=folder)
    try:
        files = {**_FILES, **{f"{_PACKAGE}/{name}": text for name, text in served_stubs().items()}}
        for name, text in files.items():
            _write(staged, name, text)
        _write(staged, f"{_INFO}/RECORD", "".join(f"{name},,\n" for name in (*files, f"{_INFO}/RECORD")))
        _move_in(staged, folder)
    finally:
        shutil.rmtree(staged)
    return f"import tensorflow gives Everflow {EVERFLOW_VERSION} in {sys.prefix}; `everflow shim --remove` ends that."


def write_types(folder: str) -> str:
    """Put the stubs of tensorflow into a folder, in place of those that are there."""
    shutil.rmtree(os.path.join(folder, _PACKAGE), ignore_errors=True)
    for name, text in served_stubs().items():
        _write(folder, f"{_PACKAGE}/{name}", text)
    return f"Pyright and VS Code find the types of tensorflow in {folder}; for mypy, set MYPYPATH={folder}."


def _write(folder: str, name: str, text: str) -> None:
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _move_in(staged: str, folder: str) -> None:
    """The two folders into place, each at once; if the second can't, the first goes again."""
    _clear(folder)
    os.rename(os.path.join(staged, _PACKAGE), os.path.join(folder, _PACKAGE))
    try:
        os.rename(os.path.join(staged, _INFO), os.path.join(folder, _INFO))
    except OSError:
        shutil.rmtree(os.path.join(folder, _PACKAGE))
        raise


def _clear(folder: str) -> None:
    for name in (_INFO, _PACKAGE):
        if os.path.isdir(os.path.join(folder, name)):
            shutil.rmtree(os.path.join(folder, name))


def remove(folder: str) -> str:
    """Take the distribution away."""
    if not _is_ours(folder):
        raise ValueError(f"there is nothing of everflow's under the name tensorflow in {folder}")
    _clear(folder)
    return f"tensorflow is no longer everflow in {sys.prefix}."
