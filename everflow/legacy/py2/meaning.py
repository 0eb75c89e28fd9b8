"""What a program means in Python 2 where Python 3 would take it otherwise: `/` of integers, methods of dicts, iterators.

The tree of a converted program is changed, so that it runs as it did; `module_names` is the rest: its built-in functions.
"""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import importlib.machinery
import numbers
import os
import sys
import types
from typing import Any

import numpy as np

from everflow.legacy.py2.names import BUILTINS, METHODS
from everflow.legacy.py2.syntax import convert

_DIVIDE, _CALL = "__py2_divide__", "__py2_call__"
_LISTS = ("keys", "values", "items")
# Methods that classes define for Python to call: old name, today's.
_SPECIAL = {"next": "__next__", "__nonzero__": "__bool__"}


def _are_integers(a: Any, b: Any) -> bool:
    return all(isinstance(x, numbers.Integral) or (isinstance(x, np.ndarray) and x.dtype.kind in "iu") for x in (a, b))


def divide(a: Any, b: Any) -> Any:
    """`a / b`: of integers a whole number, and what `__div__` says where there is one."""
    for method, operands in ((getattr(type(a), "__div__", None), (a, b)), (getattr(type(b), "__rdiv__", None), (b, a))):
        if method is not None and (result := method(*operands)) is not NotImplemented:
            return result
    return a // b if _are_integers(a, b) else a / b


def call(owner: Any, name: str, *args: Any) -> Any:
    """`owner.name(*args)` for a method that dicts or iterators had, or gave lists."""
    if name in _LISTS:
        found = getattr(owner, name)(*args)
        return list(found) if isinstance(owner, dict) else found
    if hasattr(owner, name):
        return getattr(owner, name)(*args)
    if name == "next":
        return next(owner)
    if name == "has_key":
        return args[0] in owner
    values = getattr(owner, METHODS[name].removesuffix("()"))()
    return iter(values) if name.startswith("iter") else values


class _Meaning(ast.NodeTransformer):
    """The tree with Python 2's meanings spelt out; `siblings` are the modules that lie beside it in a package."""

    def __init__(self, old_division: bool, siblings: frozenset[str]):
        self._old_division, self._siblings = old_division, siblings

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if self._old_division and isinstance(node.op, ast.Div):
            return _at(node, ast.Call(_name(_DIVIDE), [node.left, node.right], []))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not (self._old_division and isinstance(node.op, ast.Div) and isinstance(node.target, ast.Name)):
            return node
        divided = ast.Call(_name(_DIVIDE), [_name(node.target.id), node.value], [])
        return _at(node, ast.Assign([node.target], divided))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute) or node.keywords or function.attr not in (*METHODS, *_LISTS):
            return node
        if function.attr in (*_LISTS, "next") and node.args:
            return node
        return _at(node, ast.Call(_name(_CALL), [function.value, ast.Constant(function.attr), *node.args], []))

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        defined = {held.name for held in node.body if isinstance(held, ast.FunctionDef)}
        for old, new in _SPECIAL.items():
            if old in defined and new not in defined:
                node.body.append(_at(node.body[-1], ast.Assign([ast.Name(new, ast.Store())], _name(old))))
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST | list[ast.AST]:
        """`import beside` in a package is the module beside."""
        near = [alias for alias in node.names if alias.name in self._siblings]
        far = [alias for alias in node.names if alias.name not in self._siblings]
        made = [_at(node, ast.ImportFrom(None, near, 1)), _at(node, ast.Import(far))]
        return [statement for statement, held in zip(made, (near, far)) if held]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if not node.level and (node.module or "").partition(".")[0] in self._siblings:
            node.level = 1
        return node


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _at(where: ast.AST, made: ast.AST) -> ast.AST:
    return ast.fix_missing_locations(ast.copy_location(made, where))


def compiled(source: bytes | str, file: str, siblings: frozenset[str] = frozenset()) -> types.CodeType:
    """The code of a Python 2 program."""
    tree = ast.parse(convert(source), file)
    futures = {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    }
    if "absolute_import" in futures:
        siblings = frozenset()
    return compile(_Meaning("division" not in futures, siblings).visit(tree), file, "exec")


def module_names() -> dict[str, Any]:
    """What a module's namespace holds from the beginning."""
    return {"__builtins__": {**vars(builtins), **BUILTINS, _DIVIDE: divide, _CALL: call}}


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module as Python 2 would, past the files that keep Python 3's code."""

    def get_code(self, fullname: str) -> types.CodeType:
        folder = os.path.dirname(self.path)
        in_package = "." in fullname or os.path.basename(self.path) == "__init__.py"
        beside = {entry.partition(".")[0] for entry in os.listdir(folder)} if in_package else ()
        return compiled(self.get_data(self.path), self.path, frozenset(beside) - {"__init__", "__pycache__"})

    def exec_module(self, module: types.ModuleType) -> None:
        module.__dict__.update(module_names())
        exec(self.get_code(module.__name__), module.__dict__)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of the program itself, which lie in its folder."""

    def __init__(self, folder: str):
        self._folder = os.path.join(os.path.realpath(folder), "")

    def find_spec(self, fullname, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            return None
        if not os.path.realpath(spec.origin).startswith(self._folder) or "site-packages" in spec.origin:
            return None
        spec.loader = _Loader(fullname, spec.origin)
        return spec


def install(folder: str) -> None:
    """From now on modules in a folder and below are taken for Python 2's."""
    sys.meta_path.insert(0, _Finder(folder))
