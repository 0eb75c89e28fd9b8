"""`ops.Operation` as TensorFlow's tests make one: from a NodeDef, in a graph or beside it; devices and colocations
that are asked for by module-level functions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from everflow.framework import attributes, builder, dtypes, op_defs
from everflow.framework import operation as framework
from everflow.framework.composites import IndexedSlices
from everflow.framework.devices import merge_device
from everflow.framework.graph import _OP_NAME, Graph
from everflow.framework.private_members import _written
from everflow.framework.registry import infer_shapes
from everflow.framework.scopes import device, get_default_graph
from everflow.protos import attr_value_pb2, node_def_pb2

__all__ = [
    "Operation",
    "_NodeDef",
    "_UserDeviceSpec",
    "_colocate_with",
    "_colocate_with_for_gradient",
    "_create_c_op",
    "_device_string",
    "_error_prefix",
]


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


def _create_c_op(
    graph: Graph,
    node_def: node_def_pb2.NodeDef,
    inputs: Sequence[Any],
    control_inputs: Iterable[framework.Operation],
    op_def: Any = None,
) -> framework.Operation:
    """An operation beside a graph, which `_create_op_from_tf_operation` or `_add_new_tf_operations` takes in.

    Args:
        graph: The graph that it is for.
        node_def: Its type, name, device and attributes.
        inputs: The tensors that it takes, those of a list as a list.
        control_inputs: The operations that run before it.
        op_def: The definition of its type, which follows from the type.

    Returns:
        An Operation that isn't among the graph's.

    Raises:
        ValueError: If it can't be an operation with these inputs and attributes.
    """
    tensors = [t for each in inputs for t in (each if isinstance(each, (list, tuple)) else [each])]
    definition = graph.definition_of(node_def.op)
    given = {key: attributes.from_proto(value) for key, value in node_def.attr.items()}
    values = builder.complete_attrs(definition, tensors, given)
    wanted = [dtype for arg in definition.inputs for dtype in op_defs.arg_dtypes(arg, values)]
    if [t.dtype.base_dtype for t in tensors] != [dtype.base_dtype for dtype in wanted]:
        found = [t.dtype.name for t in tensors]
        raise ValueError(f"{node_def.op} takes inputs of {[dtype.name for dtype in wanted]}, not of {found}")
    outputs = builder.output_dtypes(definition, values)
    frames = framework.capture_frames(2)
    made = framework.Operation(
        graph, definition.name, node_def.name, tensors, control_inputs, outputs, values, definition, frames
    )
    made._set_device(node_def.device)
    infer_shapes(made)
    graph._beside.append(made)
    return made


def _device_string(dev_spec: Any) -> str:
    """A device's name, from a name or a spec."""
    return dev_spec.to_string() if hasattr(dev_spec, "to_string") else dev_spec


def _error_prefix(name: str | None) -> str:
    """How an error begins that is about something of a name."""
    return "" if name is None else f"{name}: "


def _colocate_with(op: Any, ignore_existing: bool = False) -> AbstractContextManager[None]:
    """A context whose operations go to the device of one, of the graph in which that is."""
    return _colocate_with_for_gradient(op, None, ignore_existing)


def _colocate_with_for_gradient(
    op: Any, gradient_uid: str | None, ignore_existing: bool = False
) -> AbstractContextManager[None]:
    """The same for operations of a gradient; executing eagerly, a context in which tensors are where that one is."""
    graph = get_default_graph()
    if graph.executes:
        return device(op.device) if op is not None else contextlib.nullcontext()
    return graph._colocate_with_for_gradient(op, gradient_uid, ignore_existing)


class _UserDeviceSpec:
    """What `tf.device` was given: how it is shown, and the function of a node that gives a device."""

    def __init__(self, device_name_or_function: Any) -> None:
        self._given = device_name_or_function
        self.display_name = _written(device_name_or_function)
        self.function = device_name_or_function
        if device_name_or_function is not None and not callable(device_name_or_function):
            self.function = merge_device(device_name_or_function)
        self.raw_string = device_name_or_function if isinstance(device_name_or_function, str) else None

    @property
    def is_null_merge(self) -> bool:
        """Whether it asks for nothing."""
        return bool(getattr(self.function, "is_null_merge", False))

    def string_merge(self, node_def: Any) -> str:
        """The device of a node after this, as a name."""
        return _device_string(self.function(node_def))


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
        if input_types is not None:
            if not hasattr(input_types, "__iter__"):
                raise TypeError(f"input_types must be a list of types: {input_types}")
            for tensor, wanted in zip(inputs or (), input_types, strict=True):
                if tensor.dtype.base_dtype != dtypes.as_dtype(wanted).base_dtype:
                    raise TypeError(f"{node_def.name!r} takes {wanted}, and {tensor} is of another type")
        values = {key: attributes.from_proto(value) for key, value in node_def.attr.items()}
        defined = {attr.name for attr in g.definition_of(node_def.op).attrs}
        for key in values:
            if not key.startswith("_") and key not in defined:
                raise ValueError(f"{node_def.op} has no attribute {key!r}, which the node {node_def.name!r} sets")
        with g.as_default(), g.control_dependencies(None), g.control_dependencies(control_inputs or []):
            with g._original_op(original_op):
                made = g.create_op(node_def.op, inputs or [], output_types, name=node_def.name, attrs=values)
        if node_def.device:
            made._set_device(node_def.device)
        return made


class Operation(framework.Operation, metaclass=_Made):
    __doc__ = framework.Operation.__doc__
