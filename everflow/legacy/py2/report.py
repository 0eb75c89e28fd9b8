"""What a Python 2 program needs changed for Python 3, told to a person."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from everflow.legacy.py2.names import GONE, METHODS, MODULES, MOVED
from everflow.legacy.py2.syntax import Change, changes, convert

_SHOWN = 12
_NOW = {"xrange": "range", "raw_input": "input", "unicode": "str", "basestring": "str", "long": "int", "unichr": "chr"}


def is_python_2(source: bytes | str) -> bool:
    """Whether Python 3 can't read a program, and could with Python 2's statements written in its way."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        try:
            ast.parse(convert(source))
        except (SyntaxError, ValueError):
            return False
        return True
    return False


def _names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, what to know) of names that Python 3 has not."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in GONE:
            yield node.lineno, f"{node.id}: {_NOW[node.id]} now" if node.id in _NOW else f"{node.id} is gone"
        elif isinstance(node, ast.Attribute) and (why := method_note(node.attr)):
            yield node.lineno, why
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if why := module_note(alias.name):
                    yield node.lineno, why
        elif isinstance(node, ast.ImportFrom) and (why := module_note(node.module or "")):
            yield node.lineno, why


def method_note(name: str) -> str | None:
    """What is to be known of a method that Python 3's dicts have not."""
    return f".{name}(): {METHODS[name]} now" if name in METHODS and name != "next" else None


def module_note(name: str) -> str | None:
    """What is to be known of a module that Python 3 calls otherwise."""
    if name not in MODULES:
        return None
    now = MODULES[name] or {"cPickle": "pickle", "urllib2": "urllib.request", "commands": "subprocess"}.get(name, "io")
    return f"import {name}: import {now} now"


def note(error: BaseException) -> str | None:
    """What an error that only a Python 2 program makes has to say of it; None of other errors."""
    if isinstance(error, NameError) and error.name in GONE:
        return f"{error.name} is Python 2's" + (f", {_NOW[error.name]} now" if error.name in _NOW else "")
    if isinstance(error, AttributeError) and (why := method_note(error.name or "")):
        return f"Python 2 has {why}"
    if isinstance(error, AttributeError) and any(old.endswith(f".{error.name}") for old in MOVED):
        return f"{error.name} is Python 2's"
    if isinstance(error, ModuleNotFoundError) and (why := module_note(error.name or "")):
        return f"Python 2 has {why}"
    return None


def _divisions(tree: ast.Module) -> list[int]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and any(alias.name == "division" for alias in node.names):
            return []
    return sorted({node.lineno for node in ast.walk(tree) if isinstance(getattr(node, "op", None), ast.Div)})


def _told(change: Change) -> str:
    if change.before == change.after:
        return "spaces in place of tabs, which Python 3 doesn't mix"
    return f"{change.before}  ->  {change.after}"


def lines(source: bytes | str, file: str) -> list[str]:
    """A line for each change, some of them where there are many, under a heading; then how to go on."""
    tree = ast.parse(convert(source))
    found = [(change.line, _told(change)) for change in changes(source)]
    found = sorted({*found, *_names(tree)})
    said = [f"everflow: {file} is a Python 2 program. Python 3 needs:"]
    said += [f"  line {line}: {what}" for line, what in found[:_SHOWN]]
    if len(found) > _SHOWN:
        said.append(f"  and {len(found) - _SHOWN} more changes")
    if divided := _divisions(tree):
        where = ", ".join(map(str, divided[:8])) + (", ..." if len(divided) > 8 else "")
        said.append(f"  `/` of two integers was a whole number: // where that is meant (line {where})")
    return [*said, f"everflow run --py2 {os.path.basename(file)} runs it with its meanings of Python 2."]
