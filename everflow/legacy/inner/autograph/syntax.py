"""Syntax trees in the form that gast 0.2 gave them, whichever Python parses: names where Python has `arg`, `Num`, `Str` and
`NameConstant` where it has `Constant`, `Index` around what a subscript asks for.

TensorFlow 1.15 and programs that transform source with it know this form. Where Python's own nodes have fields that it
had not, these nodes haven't, either.
"""

from __future__ import annotations

import ast
from ast import (  # noqa: F401  what works on nodes of any kind
    AST,
    NodeTransformer,
    NodeVisitor,
    copy_location,
    dump,
    fix_missing_locations,
    increment_lineno,
    iter_child_nodes,
    iter_fields,
    walk,
)

_PLACE = ("lineno", "col_offset")
_KINDS = ("mod", "stmt", "expr", "expr_context", "slice", "boolop", "operator", "unaryop", "cmpop", "excepthandler")
# Kinds that Python's own trees have no more, or have otherwise: their fields, and what they are.
_OWN = {
    "Name": ("id ctx annotation", "expr"),
    "Num": ("n", "expr"),
    "Str": ("s", "expr"),
    "Bytes": ("s", "expr"),
    "NameConstant": ("value", "expr"),
    "Ellipsis": ("", "expr"),
    "Repr": ("value", "expr"),
    "Print": ("dest values nl", "stmt"),
    "Exec": ("body globals locals", "stmt"),
    "Index": ("value", "slice"),
    "ExtSlice": ("dims", "slice"),
    "Slice": ("lower upper step", "slice"),
    "Param": ("", "expr_context"),
    "AugLoad": ("", "expr_context"),
    "AugStore": ("", "expr_context"),
    "Suite": ("body", "mod"),
    "arguments": ("args vararg kwonlyargs kw_defaults kwarg defaults", ""),
    "ClassDef": ("name bases keywords body decorator_list", "stmt"),
    "alias": ("name asname", ""),
    "keyword": ("arg value", ""),
}
_LATER_FIELDS = {"type_comment", "type_params", "type_ignores", "posonlyargs", "kind"}
_LATER_KINDS = {"Constant", "arg", "FunctionType", "TypeIgnore", "type_ignore"}


def _made_like(self):
    # Copies are made without arguments: all that a node has, notes included, is in its dict.
    return type(self), (), dict(self.__dict__)


def _kind(name: str, fields: str, base: type) -> type:
    """The class of nodes with these fields."""
    wanted = tuple(fields.split())
    placed = issubclass(base, tuple(_PLACED)) if base is not AST else name in ("stmt", "expr", "excepthandler")

    def __init__(self, *args, **kwargs):
        given = len(args) + len(kwargs)
        assert given in (0, len(wanted)), f"{name} is made with all of its {len(wanted)} fields or none, not {given}"
        unknown = [field for field in kwargs if field not in wanted]
        assert not unknown, f"{name} has no fields {unknown}"
        self._fields, self._attributes = wanted, _PLACE if placed else ()
        self.__dict__.update(zip(wanted, args), **kwargs)

    own = {"__init__": __init__, "__reduce_ex__": lambda self, protocol: _made_like(self), "__module__": __name__}
    return type(name, (base,), own)


_PLACED: list[type] = []
for _name in _KINDS:
    globals()[_name] = _kind(_name, "", AST)
    if _name in ("stmt", "expr", "excepthandler"):
        _PLACED.append(globals()[_name])


def _base_of(kind: type) -> type:
    above = kind.__mro__[1].__name__
    return globals()[above] if above in _KINDS else AST


for _name, _python in vars(ast).items():
    if not (isinstance(_python, type) and issubclass(_python, AST)) or _name in (*_KINDS, *_OWN, *_LATER_KINDS, "AST"):
        continue
    _fields = " ".join(field for field in _python._fields if field not in _LATER_FIELDS)
    globals()[_name] = _kind(_name, _fields, _base_of(_python))
for _name, (_fields, _above) in _OWN.items():
    globals()[_name] = _kind(_name, _fields, globals().get(_above, AST))
