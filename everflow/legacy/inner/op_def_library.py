"""TensorFlow's `OpDefLibrary`, by which its generated functions make nodes: some op types, and the generic builder."""

from __future__ import annotations

import keyword
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from everflow.framework import builder, dtypes, op_defs
from everflow.framework.op_def_protos import from_proto, to_proto
from everflow.framework.op_defs import OpDef
from everflow.framework.operation import Operation
from everflow.framework.shapes import TensorShape
from everflow.platform import compat
from everflow.protos import op_def_pb2, tensor_shape_pb2

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
        definition, op = self._made(op_type_name, name, keywords)
        if len(definition.outputs) == 1 and not op.outputs:
            return []
        outputs = builder.structured_outputs(definition, op)
        return tuple(outputs) if isinstance(outputs, tuple) else outputs

    def _apply_op_helper(
        self, op_type_name: str, name: str | None = None, **keywords: Any
    ) -> tuple[list[Any], bool, Operation]:
        """Make a node. Returns how its outputs are put together (None for one, a number for a list of so many), whether
        it has state, and the node.
        """
        definition, op = self._made(op_type_name, name, keywords)
        structure = [len(op_defs.arg_dtypes(arg, op.attrs)) if arg.is_list else None for arg in definition.outputs]
        return structure, definition.is_stateful, op

    def _made(self, op_type_name: str, name: str | None, keywords: Mapping[str, Any]) -> tuple[OpDef, Operation]:
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
        return definition, builder.create(definition, name, given)


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


def _Attr(op_def: op_def_pb2.OpDef, name: str) -> op_def_pb2.OpDef.AttrDef:
    """An attribute of an op type; TypeError where it has none of that name."""
    found = next((attr for attr in op_def.attr if attr.name == name), None)
    if found is None:
        raise TypeError(f"{op_def.name!r} has no attribute {name!r}")
    return found


def _NumTypeFields(arg: op_def_pb2.OpDef.ArgDef) -> int:
    """In how many ways an argument says its type; one is right."""
    return sum(bool(field) for field in (arg.type, arg.type_attr, arg.type_list_attr))


def _IsListParameter(arg: op_def_pb2.OpDef.ArgDef) -> bool:
    """Whether an argument is a list of tensors."""
    return bool(arg.number_attr or arg.type_list_attr)


def _IsListValue(v: Any) -> bool:
    """Whether a value counts as a list."""
    return isinstance(v, (list, tuple))


def _Flatten(l: Sequence[Any]) -> list[Any]:  # noqa: E741
    """A list with the elements of lists in it in their places."""
    return [each for part in l for each in (part if isinstance(part, list) else [part])]


def _Restructure(l: Sequence[Any], structure: Sequence[Any]) -> Any:  # noqa: E741
    """A flat list put together: None takes one of it, a number a list of so many."""
    taken, place = [], 0
    for each in structure:
        if each is None:
            taken.append(l[place])
            place += 1
        else:
            taken.append(l[place : place + each])
            place += each
    return taken[0] if len(taken) == 1 else tuple(taken)


def _SatisfiesTypeConstraint(dtype: Any, attr_def: op_def_pb2.OpDef.AttrDef, param_name: str) -> None:
    """TypeError where an attribute can't be a type."""
    allowed = [dtypes.as_dtype(each).base_dtype for each in attr_def.allowed_values.list.type]
    if attr_def.HasField("allowed_values") and dtypes.as_dtype(dtype).base_dtype not in allowed:
        raise TypeError(f"{param_name!r} is {dtype.name}, and may be {', '.join(each.name for each in allowed)}")


def _MakeInt(v: Any, arg_name: str) -> int:
    """A value as a whole number."""
    if isinstance(v, str):
        raise TypeError(f"{arg_name!r} is a number, not the text {v!r}")
    try:
        return int(v)
    except (ValueError, TypeError):
        raise TypeError(f"{arg_name!r} is a number, not {v!r}") from None


def _MakeFloat(v: Any, arg_name: str) -> float:
    """A value as a number."""
    if not isinstance(v, numbers.Real):
        raise TypeError(f"{arg_name!r} is a number, not {v!r}")
    return float(v)


def _MakeBool(v: Any, arg_name: str) -> bool:
    """True or False; TypeError for what is neither."""
    if not isinstance(v, bool):
        raise TypeError(f"{arg_name!r} is True or False, not {v!r}")
    return v


def _MakeStr(v: Any, arg_name: str) -> bytes:
    """Text as bytes."""
    if not isinstance(v, (str, bytes)):
        raise TypeError(f"{arg_name!r} is text, not {v!r}")
    return compat.as_bytes(v)


def _MakeType(v: Any, attr_def: op_def_pb2.OpDef.AttrDef) -> int:
    """The number of a type that an attribute can be."""
    try:
        dtype = dtypes.as_dtype(v).base_dtype
    except TypeError:
        raise TypeError(f"{attr_def.name!r} is a type, not {v!r}") from None
    _SatisfiesTypeConstraint(dtype, attr_def, attr_def.name)
    return dtype.as_datatype_enum


def _MakeShape(v: Any, arg_name: str) -> tensor_shape_pb2.TensorShapeProto:
    """A shape as a message."""
    if isinstance(v, tensor_shape_pb2.TensorShapeProto):
        return v
    try:
        return TensorShape(v).as_proto()
    except (TypeError, ValueError) as e:
        raise TypeError(f"{arg_name!r} is a shape, not {v!r}: {e}") from None
