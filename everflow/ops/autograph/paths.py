"""Attributes and elements that a block assigns: `self.x`, `a.b.c`, `d["k"]`, `row[i]`.

Each is a path from a variable. It can't be a parameter as a variable can, so a block comes with two functions: one that
reads all its paths, one that writes them. Only branches and loops of the graph call them; where Python decides,
assignments are Python's own.
"""

from __future__ import annotations

import ast
import copy

# What a key may be made of: reading it twice gives the same and does nothing else.
_KEYS = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.UnaryOp, ast.BinOp, ast.Tuple)
_PARTS = (*_KEYS, ast.expr_context, ast.operator, ast.unaryop)
_OWN_NAMES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def assigned_paths(statements: list[ast.AST], names: set[str]) -> list[ast.expr]:
    """The paths that statements assign, in the order of their text; `names` are the variables that they assign.

    A path into something that the statements assign themselves isn't among them: that goes out as a whole.
    """
    found: dict[str, ast.expr] = {}
    for statement in statements:
        _collect(statement, found)
    moving = names | set(found)
    return [
        path
        for text, path in sorted(found.items())
        if not any(_text(part) in moving for part in ast.walk(path) if part is not path)
    ]


def _collect(node, found):
    if isinstance(node, _OWN_NAMES):
        return
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store) and _is_path(node):
        found[_text(node)] = copy.deepcopy(node)
    for child in ast.iter_child_nodes(node):
        _collect(child, found)


def _is_path(node):
    root = node
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    return isinstance(root, ast.Name) and all(isinstance(part, _PARTS) for part in ast.walk(node))


def _text(node):
    return ast.unparse(node) if isinstance(node, ast.expr) else None


def reader(paths: list[ast.expr]) -> ast.Lambda:
    """`lambda: (self.x, d["k"])`"""
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(empty, ast.Tuple([_in_context(path, ast.Load()) for path in paths], ast.Load()))


def writing(paths: list[ast.expr], value: ast.expr) -> ast.Assign:
    """`(self.x, d["k"]) = value`"""
    return ast.Assign([ast.Tuple([_in_context(path, ast.Store()) for path in paths], ast.Store())], value)


def texts(paths: list[ast.expr]) -> ast.Tuple:
    """The paths as they are written, for messages."""
    return ast.Tuple([ast.Constant(_text(path)) for path in paths], ast.Load())


def _in_context(path, context):
    path = copy.deepcopy(path)
    path.ctx = context
    return path
