"""What of the public API is documented, and what its docstrings lack.

A function says what it does, what its arguments are, what it returns, what it raises where it raises itself, and has an
example. So does a class, with the arguments of its constructor.
"""

from __future__ import annotations

import ast
import enum
import functools
import inspect
import pathlib
import re
import textwrap
from typing import Any

from google.protobuf.message import Message

import everflow as tf
from docsite import compatibility
from everflow.framework.api_names import resolve

MOST_USED = pathlib.Path(__file__).with_name("most_used.txt")


@functools.cache
def things() -> dict[str, Any]:
    """Functions and classes by their public name; what has several names, by the shortest. Of tf.contrib, those
    that programs use most are there.
    """
    wanted = {*most_used(), *(name for name in compatibility.public_names() if not name.startswith("contrib."))}
    found: dict[int, tuple[str, Any]] = {}
    for name in sorted(wanted, key=lambda name: (name.startswith("contrib."), name.count("."), name)):
        thing = resolve(tf, name)
        if (inspect.isroutine(thing) or isinstance(thing, type)) and _is_ours(thing):
            found.setdefault(id(thing), (name, thing))
    return dict(found.values())


def most_used() -> list[str]:
    """The names that programs use most, as far as they stand for functions and classes."""
    return MOST_USED.read_text().split()


def own_docstring(thing: Any) -> str | None:
    """What is written of a thing itself, not of a class above it."""
    doc = vars(thing).get("__doc__") if isinstance(thing, type) else thing.__doc__
    return inspect.cleandoc(doc) if doc else None


def parameters(thing: Any, every: bool = False) -> list[str]:
    """The names of what a function, or a class's constructor, takes; with `every`, `*args` and `**kwargs`, too."""
    if isinstance(thing, type) and issubclass(thing, enum.Enum):
        return []
    try:
        found = inspect.signature(thing).parameters.values()
    except ValueError:
        return []
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [
        stars.get(p.kind, "") + p.name
        for p in found
        if p.name != "self" and (every or p.kind not in stars) and not p.name.startswith("_")
    ]


def lacks(thing: Any) -> list[str]:
    """What the docstring of a function or class doesn't say."""
    doc = own_docstring(thing)
    if not doc:
        return ["a docstring"]
    found = [
        f"the argument {name}" for name in parameters(thing) if not re.search(rf"^    {name}: ", doc, re.MULTILINE)
    ]
    if not isinstance(thing, type):
        found += [] if re.search(r"^(Returns|Yields):$", doc, re.MULTILINE) else ["what it returns"]
    found += [
        f"that it raises {error}" for error in _raised(thing) if not re.search(rf"^    {error}: ", doc, re.MULTILINE)
    ]
    return found + ([] if re.search(r"^Example:\n +>>> ", doc, re.MULTILINE) else ["an example"])


def _raised(thing: Any) -> list[str]:
    """The exceptions that a function has statements of its own to raise."""
    if isinstance(thing, type):
        return []
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, SyntaxError):
        return []  # it is made by another function
    raised = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    classes = [ast.unparse(what.func).rpartition(".")[2] for what in raised if isinstance(what, ast.Call)]
    return sorted({name for name in classes if name[0].isupper()})


def lacking() -> dict[str, list[str]]:
    """What is missing, by public name; what is complete is left out."""
    return {name: found for name, thing in things().items() if (found := lacks(thing))}


def _is_ours(thing: Any) -> bool:
    """Whether it is neither a message nor what another library documents, as absl does flags."""
    is_message = isinstance(thing, type) and issubclass(thing, Message)
    return (thing.__module__ or "").startswith("everflow.") and not is_message
