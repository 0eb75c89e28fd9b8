"""Op definitions as OpDef protos, for files and for `Operation.op_def`."""

from __future__ import annotations

from everflow.framework import attributes, dtypes
from everflow.framework.op_defs import ArgDef, AttrDef, OpDef
from everflow.protos import op_def_pb2

# Definitions live as long as the process, so identity is a good key.
_made: dict[int, tuple[OpDef, op_def_pb2.OpDef]] = {}


def to_proto(definition: OpDef) -> op_def_pb2.OpDef:
    """The OpDef proto of a definition."""
    if id(definition) not in _made:
        _made[id(definition)] = (definition, _build(definition))
    return _made[id(definition)][1]


def _build(definition: OpDef) -> op_def_pb2.OpDef:
    proto = op_def_pb2.OpDef(
        name=definition.name,
        is_stateful=definition.is_stateful,
        is_commutative=definition.is_commutative,
        is_aggregate=definition.is_aggregate,
        allows_uninitialized_input=definition.allows_uninitialized_input,
    )
    for args, field in ((definition.inputs, proto.input_arg), (definition.outputs, proto.output_arg)):
        for arg in args:
            field.add(
                name=arg.name,
                type=0 if arg.type is None else arg.type.as_datatype_enum,
                type_attr=arg.type_attr,
                number_attr=arg.number_attr,
                type_list_attr=arg.type_list_attr,
                is_ref=arg.is_ref,
            )
    for attr in definition.attrs:
        made = proto.attr.add(name=attr.name, type=attr.type)
        if attr.has_default:
            made.default_value.CopyFrom(attributes.to_proto(attr.default))
        if attr.allowed is not None:
            made.allowed_values.CopyFrom(attributes.to_proto(list(attr.allowed)))
        if attr.minimum is not None:
            made.has_minimum, made.minimum = True, attr.minimum
    if definition.deprecated_at is not None:
        proto.deprecation.version = definition.deprecated_at
    return proto


def from_proto(proto: op_def_pb2.OpDef) -> OpDef:
    """The definition that an OpDef proto describes, for instance a function's signature."""
    return OpDef(
        proto.name,
        tuple(_arg(a) for a in proto.input_arg),
        tuple(_arg(a) for a in proto.output_arg),
        tuple(_attr(a) for a in proto.attr),
        proto.is_stateful,
        proto.is_commutative,
        proto.is_aggregate,
        proto.allows_uninitialized_input,
    )


def _arg(arg: op_def_pb2.OpDef.ArgDef) -> ArgDef:
    return ArgDef(
        arg.name,
        dtypes.as_dtype(arg.type) if arg.type else None,
        arg.type_attr,
        arg.number_attr,
        arg.type_list_attr,
        arg.is_ref,
    )


def _attr(attr: op_def_pb2.OpDef.AttrDef) -> AttrDef:
    has_default = attr.HasField("default_value")
    allowed = tuple(attributes.from_proto(attr.allowed_values)) if attr.HasField("allowed_values") else None
    default = attributes.from_proto(attr.default_value) if has_default else None
    return AttrDef(attr.name, attr.type, default, has_default, allowed, attr.minimum if attr.has_minimum else None)
