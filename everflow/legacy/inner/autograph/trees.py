"""The nodes that syntax trees are made of: those of the package `gast` where it is installed, otherwise ours (`syntax`),
which programs then import as `gast`.

Programs that transform trees make nodes themselves and compare their types. The parser of gast 0.2.2, which TensorFlow
1.15 asks for, doesn't know the Python of today, so trees are carried over here, from Python's form and back.
"""

from __future__ import annotations

import ast
import importlib.machinery
import types

from everflow.legacy.inner.autograph import syntax

# Nodes that a constant was before Python 3.8: (of which values, node, its field).
_CONSTANTS = (
    ((bool, type(None)), "NameConstant", "value"),
    ((int, float, complex), "Num", "n"),
    ((str,), "Str", "s"),
    ((bytes,), "Bytes", "s"),
    ((type(...),), "Ellipsis", None),
)


def _nodes() -> types.ModuleType:
    if importlib.machinery.PathFinder.find_spec("gast") is None:
        return syntax
    import gast

    return gast


nodes = _nodes()
# gast has names where Python has `arg`, and gast 0.2 has the constants and subscripts of Python 3.7.
NAMES_AS_ARGUMENTS = not hasattr(nodes, "arg")
_OLD_CONSTANTS = not hasattr(nodes, "Constant")
_OLD_SLICES = _OLD_CONSTANTS and hasattr(nodes, "Index")
CONSTANT_KINDS = tuple(getattr(nodes, kind) for _, kind, _ in _CONSTANTS) if _OLD_CONSTANTS else (nodes.Constant,)


def from_python(node):
    """A tree of Python's own nodes, as nodes of the kind that is in use; lists and plain values stay what they are."""
    if isinstance(node, list):
        return [from_python(item) for item in node]
    if not isinstance(node, ast.AST) or nodes is ast:
        return node
    if isinstance(node, ast.Constant) and _OLD_CONSTANTS:
        return _placed(constant(node.value), node)
    if isinstance(node, ast.arg) and NAMES_AS_ARGUMENTS:
        return _placed(_made("Name", id=node.arg, ctx=nodes.Param(), annotation=from_python(node.annotation)), node)
    fields = {field: from_python(value) for field, value in ast.iter_fields(node)}
    if isinstance(node, ast.ExceptHandler) and NAMES_AS_ARGUMENTS and node.name:
        fields["name"] = name(node.name, nodes.Store())
    if isinstance(node, ast.arguments) and _OLD_CONSTANTS:  # nor does it tell arguments by position apart
        fields["args"] = fields["posonlyargs"] + fields["args"]
    if isinstance(node, ast.Subscript) and _OLD_SLICES:
        fields["slice"] = _old_slice(node.slice, fields["slice"])
    return _placed(_made(type(node).__name__, **fields), node)


def _old_slice(before: ast.expr, made):
    if isinstance(before, ast.Slice):
        return made
    if isinstance(before, ast.Tuple) and any(isinstance(part, ast.Slice) for part in before.elts):
        parts = zip(before.elts, made.elts)
        return nodes.ExtSlice([part if isinstance(old, ast.Slice) else nodes.Index(part) for old, part in parts])
    return nodes.Index(made)


def to_python(node):
    """The tree in Python's own nodes, ready to be compiled or written out."""
    if isinstance(node, (list, tuple)):
        return [to_python(item) for item in node]
    if not isinstance(node, ast.AST):
        return node
    kind = type(node).__name__
    if kind in _OLD_KINDS:
        return ast.copy_location(_OLD_KINDS[kind](node), node)
    if kind == "Name":
        return ast.copy_location(ast.Name(node.id, to_python(getattr(node, "ctx", None)) or ast.Load()), node)
    target = getattr(ast, kind)
    fields = {field: to_python(getattr(node, field, None)) for field in target._fields}
    if "ctx" in target._fields:
        fields["ctx"] = fields["ctx"] or ast.Load()
    if kind == "ExceptHandler":
        fields["name"] = getattr(node.name, "id", node.name)
    elif kind == "arguments":
        fields.update(_arguments(node))
    for field in _LISTS & set(target._fields):
        fields[field] = fields[field] or []
    return ast.copy_location(target(**fields), node)


_LISTS = {"type_ignores", "type_params", "posonlyargs", "decorator_list", "keywords", "kwonlyargs", "kw_defaults"}
_OLD_KINDS = {
    "Param": lambda node: ast.Load(),
    "NameConstant": lambda node: ast.Constant(node.value),
    "Num": lambda node: ast.Constant(node.n),
    "Str": lambda node: ast.Constant(node.s),
    "Bytes": lambda node: ast.Constant(node.s),
    "Ellipsis": lambda node: ast.Constant(...),
    "Index": lambda node: to_python(node.value),
    "ExtSlice": lambda node: ast.Tuple(to_python(node.dims), ast.Load()),
}


def _arguments(node) -> dict:
    def argument(given):
        if given is None or type(given).__name__ != "Name":
            return to_python(given)
        return ast.copy_location(ast.arg(given.id, to_python(given.annotation)), given)

    lists = {
        field: [argument(a) for a in getattr(node, field, None) or ()]
        for field in ("posonlyargs", "args", "kwonlyargs")
    }
    defaults = [None if d is None else to_python(d) for d in node.kw_defaults or ()]
    return {**lists, "kw_defaults": defaults, "vararg": argument(node.vararg), "kwarg": argument(node.kwarg)}


def _made(kind: str, **fields):
    """A node of the kind in use; fields that it doesn't know are left out."""
    target = getattr(nodes, kind, None)
    if target is None:
        raise NotImplementedError(f"{kind}: the installed gast has no such node; a newer one may")
    made = target()
    for field in made._fields:
        setattr(made, field, fields.get(field))
    return made


def _placed(made, before):
    return ast.copy_location(made, before) if hasattr(before, "lineno") else made


def constant(value):
    """The node of a constant."""
    if not _OLD_CONSTANTS:
        return nodes.Constant(value, None)
    for kinds, kind, field in _CONSTANTS:
        if isinstance(value, kinds):
            return getattr(nodes, kind)(*(() if field is None else (value,)))
    raise TypeError(f"a constant of Python's source is wanted, not {value!r}")


def is_constant(node) -> bool:
    """Whether a node is a constant."""
    return isinstance(node, CONSTANT_KINDS)


def constant_value(node):
    """What a constant's node says."""
    return to_python(node).value


def name(identifier: str, context=None):
    """The node of a variable's name."""
    return _made("Name", id=identifier, ctx=context)


def argument(identifier: str):
    """The node of a parameter."""
    return name(identifier, nodes.Param()) if NAMES_AS_ARGUMENTS else nodes.arg(identifier, None)


def argument_name(node) -> str:
    """What a parameter is called."""
    return node.id if hasattr(node, "id") else node.arg


def index_of(node):
    """What a subscript asks for, without the wrapper that older trees have; None for a slice."""
    inside = node.slice
    if type(inside).__name__ == "Index":
        return inside.value
    return None if type(inside).__name__ in ("Slice", "ExtSlice") else inside


def subscript(value, index, context):
    """The node of `value[index]`."""
    return nodes.Subscript(value, nodes.Index(index) if _OLD_SLICES else index, context)
