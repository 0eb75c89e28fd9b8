"""What `everflow run` finds out about a program before it runs: whether it is of Python 2, of TensorFlow 0.x or of 2.

A program says nothing of this itself, so its source is read, and that of the modules beside it.
"""

from __future__ import annotations

import ast
import importlib.machinery
import os
import re
import sys
import types
from typing import Any, NamedTuple

from everflow.cli import inheritance
from everflow.legacy import tf0
from everflow.legacy.py2 import meaning, names, report
from everflow.legacy.py2.syntax import convert
from everflow.legacy.tf0.recognition import Sign, first_sign, signs, sources
from everflow.legacy.tf0.table import VERSION, rows


class Manner(NamedTuple):
    """How a program is to be taken: by which Python, and by which TensorFlow (None: found out by its source)."""

    py2: bool = False
    version: int | None = None


def _say(text: str) -> None:
    print(f"everflow: {text}", file=sys.stderr)


def read_signs(source: str | bytes, file: str, folder: str, py2: bool) -> list[Sign]:
    """What a program and its own modules tell of the TensorFlow they were written for."""
    found: list[Sign] = []
    change = convert if py2 else lambda text: text
    for text, name in sources(source, file, folder, change):
        try:
            found += signs(change(text), name)
        except (SyntaxError, ValueError):
            continue  # Python says so when it comes to run it
    return found


def choose_version(source: str | bytes, file: str, folder: str, manner: Manner) -> None:
    """Give `tensorflow` the meanings that a program was written for, and say so where they aren't those of 1.x."""
    if manner.version == 1:
        return
    sign = None
    if manner.version is None:
        sign = first_sign(read_signs(source, file, folder, manner.py2))
        if sign is None:
            return
    where = f"{os.path.basename(sign.file)}, line {sign.line}, has {sign.what}" if sign else ""
    if sign and sign.version == 2:
        _say(f"this looks like a program for TensorFlow 2 ({where}); Everflow is TensorFlow 1.15.")
        return
    tf0.install()
    inheritance.note("tf0")
    because = f" ({where}); --tf1 takes it otherwise" if sign else ""
    _say(f"names have their meanings of TensorFlow {VERSION}{because}.")


def compiled(source: str | bytes, file: str, folder: str, manner: Manner) -> types.CodeType:
    """The code of a program, with everything ready for it to run."""
    choose_version(source, file, folder, manner)
    if not manner.py2:
        return compile(source, file, "exec")
    _take_for_python_2(folder)
    return meaning.compiled(source, file)


def _take_for_python_2(folder: str) -> None:
    names.install()
    meaning.install(folder)
    inheritance.note(f"py2={os.path.abspath(folder)}")


def names_of(manner: Manner) -> dict[str, Any]:
    """What the program's namespace holds from the beginning, besides what it always does."""
    return meaning.module_names() if manner.py2 else {}


def prepare_module(found: importlib.machinery.ModuleSpec, folder: str, manner: Manner) -> None:
    """Have everything ready for a module that is run by its name."""
    if found.origin and os.path.realpath(found.origin).startswith(os.path.join(os.path.realpath(folder), "")):
        with open(found.origin, "rb") as file:
            choose_version(file.read(), found.origin, folder, manner)
    elif manner.version == 0:
        choose_version("", "", folder, manner)
    if manner.py2:
        _take_for_python_2(folder)


def told(error: BaseException) -> list[str]:
    """What to say of an error besides what Python says: lines, none where it has nothing to do with old programs."""
    if isinstance(error, SyntaxError) and error.filename and os.path.isfile(error.filename):
        with open(error.filename, "rb") as file:
            source = file.read()
        return report.lines(source, error.filename) if report.is_python_2(source) else []
    if why := report.note(error):
        return [f"everflow: {why}; `everflow run --py2` runs Python 2 programs."]
    if isinstance(error, AttributeError) and (why := _older_name(error)):
        return [f"everflow: {why}; `everflow run --tf0` gives names their meanings of {VERSION}."]
    return []


def _older_name(error: AttributeError) -> str | None:
    """What a name of TensorFlow 0.x is now, where the program asked for one."""
    named = re.match(r"module '(?:everflow|tensorflow)\.?([\w.]*)' has no attribute", str(error))
    row = rows().get(".".join(filter(None, [named[1], error.name]))) if named else None
    if row is None:
        return None
    now = ast.unparse(ast.parse(row.meaning, mode="eval")) if row.meaning.startswith("tf.") else "gone"
    return f"tf.{row.name} is TensorFlow 0.x's ({now} now)"
