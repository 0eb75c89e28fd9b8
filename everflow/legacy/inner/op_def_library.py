"""TensorFlow's `OpDefLibrary`, by which its generated functions make nodes: some op types, and the generic builder."""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from typing import Any

from everflow.framework import builder, op_defs
from everflow.framework.op_def_protos import from_proto, to_proto
from everflow.protos import op_def_pb2

# Words that are no names of parameters in TensorFlow's functions: they come with an underscore behind them.
_RESERVED = frozenset(keyword.kwlist) | {"input", "range", "type", "name"}


class OpDefLibrary:
    """Op types by name, and `apply_op`, which makes nodes of them."""

    def __init__(self, op_types: Iterable[str] = ()) -> None:
        self._ops: dict[str, op_def_pb2.OpDef] = {name: to_proto(op_defs.get(name)) for name in op_types}

    def add_op_list(self, op_list: op_def_pb2.OpList) -> None:
        """Take op types from an OpList proto."""
        if not isinstance(op_list, op_def_pb2.OpList):
            raise TypeError(f"op_list must be an OpList, not {op_list!r}, a {type(op_list).__name__}")
        for op_def in op_list.op:
            self.add_op(op_def)

    def add_op(self, op_def: op_def_pb2.OpDef) -> None:
        """Take an op type. Nodes of it can be made where it is registered, too."""
        if not isinstance(op_def, op_def_pb2.OpDef):
            raise TypeError(f"op_def must be an OpDef, not {op_def!r}, a {type(op_def).__name__}")
        _check(op_def)
        if op_def.name in self._ops:
            raise RuntimeError(f"Op type {op_def.name!r} is in the library already")
        self._ops[op_def.name] = op_def

    def apply_op(self, op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        """Make a node; keywords are its inputs and attributes. Returns its outputs."""
        if op_type_name not in self._ops:
            raise RuntimeError(f"The library has no op type {op_type_name!r}")
        definition = op_defs.find(op_type_name)
        if definition is None:
            raise ValueError(f"Op type {op_type_name!r} isn't registered: a library only describes it")
        given = {
            key[:-1] if key[:-1] in _RESERVED and key.endswith("_") else key: value for key, value in keywords.items()
        }
        for attr in definition.inferred_attrs() & set(given):
            raise TypeError(f"Attr {attr!r} of a {op_type_name!r} op follows from its inputs: it can't be given")
        follow, taken = definition.inferred_attrs(), {arg.name for arg in definition.inputs}
        for attr in definition.attrs:
            if attr.name not in {*follow, *given, *taken}:
                raise TypeError(
                    f"A {op_type_name!r} op wants a value of its attr {attr.name!r}: None stands for the usual one"
                )
        op = builder.create(definition, name, given)
        if len(definition.outputs) == 1 and not op.outputs:
            return []
        outputs = builder.structured_outputs(definition, op)
        return tuple(outputs) if isinstance(outputs, tuple) else outputs


def _check(op_def: op_def_pb2.OpDef) -> None:
    """Whether a definition is consistent: each argument has one kind of type, and the attributes it names are there."""
    definition = from_proto(op_def)
    for arg in (*definition.inputs, *definition.outputs):
        kinds = [kind for kind in (arg.type, arg.type_attr, arg.type_list_attr) if kind]
        if len(kinds) != 1:
            raise TypeError(
                f"Argument {arg.name!r} of {op_def.name!r} says its type in {len(kinds)} ways, where one is wanted"
            )
        for field, kind in (("type_attr", "type"), ("type_list_attr", "list(type)"), ("number_attr", "int")):
            attr_name = getattr(arg, field)
            if not attr_name:
                continue
            attr = definition.attr_by_name.get(attr_name)
            if attr is None:
                raise TypeError(
                    f"Argument {arg.name!r} of {op_def.name!r} names an attr that isn't there: {attr_name!r}"
                )
            if attr.type != kind:
                raise TypeError(
                    f"Attr {attr_name!r} of {op_def.name!r} is a {field}, so its type must be {kind}, not {attr.type}"
                )
