"""`ops.Operation` as TensorFlow's tests make one: from a NodeDef, in a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from everflow.framework import attributes
from everflow.framework import operation as framework
from everflow.framework.composites import IndexedSlices
from everflow.framework.graph import _OP_NAME, Graph
from everflow.protos import attr_value_pb2, node_def_pb2

__all__ = ["Operation", "_NodeDef"]


def _NodeDef(
    op_type: str,
    name: str,
    device: str | None = None,
    attrs: Mapping[str, attr_value_pb2.AttrValue] | None = None,
) -> node_def_pb2.NodeDef:
    """The NodeDef of an op type, a name, a device and attributes."""
    node = node_def_pb2.NodeDef(op=op_type, name=name, device=device or "")
    for key, value in (attrs or {}).items():
        node.attr[key].CopyFrom(value)
    return node


class _Made(type):
    """Any operation is an instance of a class of this kind, and a call of it adds one to a graph."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, framework.Operation)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, framework.Operation)

    def __call__(
        cls,
        node_def: node_def_pb2.NodeDef,
        g: Graph,
        inputs: Sequence[framework.Tensor] | None = None,
        output_types: Sequence[Any] | None = None,
        control_inputs: Iterable[Any] | None = None,
        input_types: Any = None,
        original_op: framework.Operation | None = None,
        op_def: Any = None,
    ) -> framework.Operation:
        if not isinstance(node_def, node_def_pb2.NodeDef):
            raise TypeError(f"node_def needs to be a NodeDef: {node_def}")
        if not isinstance(g, Graph):
            raise TypeError(f"g needs to be a Graph: {g}")
        if not _OP_NAME.match(node_def.name):
            raise ValueError(f"{node_def.name!r} is not a valid node name")
        for tensor in inputs or ():
            if not isinstance(tensor, framework.Tensor):
                raise TypeError(f"input needs to be a Tensor: {tensor}")
        for control in control_inputs or ():
            if not isinstance(control, (framework.Operation, framework.Tensor, IndexedSlices)):
                raise TypeError(f"Control input must be an op, a tensor or slices, not {control!r}")
        values = {key: attributes.from_proto(value) for key, value in node_def.attr.items()}
        with g.as_default(), g.control_dependencies(None), g.control_dependencies(control_inputs or []):
            with g._original_op(original_op):
                made = g.create_op(node_def.op, inputs or [], output_types, name=node_def.name, attrs=values)
        if node_def.device:
            made._set_device(node_def.device)
        return made


class Operation(framework.Operation, metaclass=_Made):
    __doc__ = framework.Operation.__doc__
