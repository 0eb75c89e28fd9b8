"""Types as text: `Tensor` is written `<Tensor>` and tf.train.Optimizer `<train.Optimizer>`, until a stub is written and it
is known how its file reaches the class. Unions are sets of such texts.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from docsite.stubs.homes import homes, is_message
from everflow.framework.lazy_names import imported_names

ANY = "Any"
# Words of annotations in the source, and what the stubs call them.
_WORDS = {
    "Any": ANY,
    "Callable": "Callable",
    "DTypeLike": "DTypeLike",
    "FeedDict": "Mapping[Any, Any]",
    "Iterable": "Iterable",
    "Iterator": "Iterator",
    "Mapping": "Mapping",
    "Sequence": "Sequence",
    "ShapeLike": "ShapeLike",
    "TensorLike": "TensorLike",
    "AbstractContextManager": "AbstractContextManager",
}
_BUILTINS = (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, type, object)


def union(parts: Iterable[str]) -> str:
    """One type of several. What is known stays beside Any: editors complete it, and nothing else is refused."""
    found = dict.fromkeys(parts)
    if len(found) > 5:
        return ANY
    order = sorted(found, key=lambda part: (part == ANY, part == "None"))
    return " | ".join(order) or ANY


def alternatives(text: str) -> list[str]:
    """The parts of a union."""
    return split(text, "|")


def split(text: str, separator: str) -> list[str]:
    """The parts of a text at a separator, but not inside of brackets.

    >>> split("list[A | B] | None", "|")
    ['list[A | B]', 'None']
    """
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == separator and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def of_class(cls: type) -> str:
    """An instance of a class, or of the nearest class above it that is public."""
    if cls is type(None):
        return "None"
    if cls in _BUILTINS:
        return cls.__name__
    if cls.__module__ == "numpy" and cls.__name__ == "ndarray":
        return ANY
    for found in cls.__mro__:
        if id(found) in homes():
            return f"<{homes()[id(found)]}>"
        if is_message(found) and found.__module__.startswith("everflow.protos"):
            return f"<{found.__module__}:{found.__name__}>"
    return ANY


def of_value(value: object) -> str:
    """The type of a constant."""
    return of_class(type(value))


def of_annotation(annotation: Any, function: Callable) -> str:
    """The type an annotation of a function's source stands for; Any where it needs names that aren't public."""
    if annotation is inspect.Parameter.empty:
        return ANY
    if annotation is None:
        return "None"
    if isinstance(annotation, type):
        return of_class(annotation)
    if not isinstance(annotation, str):
        return ANY
    try:
        return _text(ast.parse(annotation.strip(), mode="eval").body, function)
    except (SyntaxError, LookupError):
        return ANY


def _text(node: ast.expr, function: Callable) -> str:
    match node:
        case ast.Constant(value=None):
            return "None"
        case ast.Constant(value=str(text)):
            return _text(ast.parse(text, mode="eval").body, function)
        case ast.BinOp(op=ast.BitOr()):
            return union([*alternatives(_text(node.left, function)), *alternatives(_text(node.right, function))])
        case ast.Subscript(value=ast.Name(id="Callable")):
            return "Callable[..., Any]"
        case ast.Subscript():
            return _parametrized(_text(node.value, function), node.slice, function)
        case ast.Name(id="NoReturn"):
            return "None"
        case ast.Name(id=name) if name in _WORDS and not _is_public(node, function):
            return "Callable[..., Any]" if name == "Callable" else _WORDS[name]
        case ast.Name() | ast.Attribute():
            found = resolve(node, function)
            return of_class(found) if isinstance(found, type) else ANY
    return ANY


def _is_public(node: ast.Name, function: Callable) -> bool:
    """Whether a word of annotations is the name of a class of ours where it stands: tf.data has an Iterator."""
    with contextlib.suppress(LookupError):
        return id(resolve(node, function)) in homes()
    return False


def _parametrized(outer: str, index: ast.expr, function: Callable) -> str:
    if outer not in (
        "list",
        "tuple",
        "dict",
        "set",
        "Sequence",
        "Iterable",
        "Iterator",
        "Mapping",
        "AbstractContextManager",
    ):
        return outer if outer.startswith("<") else ANY
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    inner = ["..." if isinstance(p, ast.Constant) and p.value is ... else _text(p, function) for p in parts]
    return f"{outer}[{', '.join(inner)}]"


def resolve(node: ast.expr, function: Callable) -> Any:
    """What a name of a function's source stands for, also one that is imported for type checkers only. LookupError where
    it isn't known before the function runs.
    """
    if isinstance(node, ast.Attribute):
        owner = resolve(node.value, function)
        with contextlib.suppress(AttributeError):
            return getattr(owner, node.attr)
        raise LookupError(node.attr)
    if not isinstance(node, ast.Name):
        raise LookupError(ast.dump(node))
    code = getattr(function, "__code__", None)
    if code is not None and node.id in code.co_freevars:
        cell = (function.__closure__ or ())[code.co_freevars.index(node.id)]
        with contextlib.suppress(ValueError):
            return cell.cell_contents
        raise LookupError(node.id)
    scope = getattr(function, "__globals__", {})
    if node.id in scope:
        return scope[node.id]
    if hasattr(builtins, node.id):
        return getattr(builtins, node.id)
    if code is not None and code.co_filename.endswith(".py"):
        module, original = imported_names(code.co_filename)[node.id]
        found = importlib.import_module(module)
        return getattr(found, original) if hasattr(found, original) else importlib.import_module(f"{module}.{original}")
    raise LookupError(node.id)
