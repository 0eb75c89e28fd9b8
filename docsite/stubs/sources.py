"""The functions and classes of source files, each file read once."""

from __future__ import annotations

import ast
import functools
import pathlib
import types


@functools.cache
def _definitions(path: str) -> tuple[dict[int, ast.FunctionDef], dict[str, ast.ClassDef]]:
    """({first line, decorators included: function}, {name: class}) of a file."""
    functions, classes = {}, {}
    waiting: list[ast.AST] = [ast.parse(pathlib.Path(path).read_bytes())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            functions[min([node.lineno, *(d.lineno for d in node.decorator_list)])] = node
        elif isinstance(node, ast.ClassDef):
            classes[node.name] = node
        waiting.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))
    return functions, classes


def function_source(function: types.FunctionType) -> ast.FunctionDef | None:
    code = function.__code__
    if not pathlib.Path(code.co_filename).is_file():
        return None
    node = _definitions(code.co_filename)[0].get(code.co_firstlineno)
    return node if node is not None and node.name == code.co_name else None


def class_source(cls: type, path: str | None) -> ast.ClassDef | None:
    return _definitions(path)[1].get(cls.__name__) if path else None
