"""Ops of TensorFlow inside a TensorFlow Lite model: custom ops named Flex… that carry their NodeDef."""

from __future__ import annotations

from google.protobuf.message import DecodeError

from everflow.framework.dtypes import as_dtype
from everflow.framework.errors import OpError
from everflow.framework.graph import Graph
from everflow.framework.importer import import_graph_def
from everflow.lite.custom_options import decode_strings, encode_strings
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.node_def_pb2 import NodeDef
from everflow.runtime.session import Session

PREFIX = "Flex"


def encode(op, source) -> bytes:
    """What a custom op carries: its type and its node."""
    node = NodeDef(name=op.name, op=op.type, input=source.inputs)
    for name, value in op.node_def.attr.items():
        if not name.startswith("_"):
            node.attr[name].CopyFrom(value)
    return encode_strings([op.type.encode(), node.SerializeToString()])


def kernel(custom_options, call):
    """A function like the kernels of built-in ops, that runs the op which a file carries.

    Ops with state, and those on strings or resources, are refused: they could reach more than the model's tensors.
    """
    from everflow.kernels.tensors import from_numpy, to_numpy  # loads torch

    try:
        _, data = decode_strings(b"" if custom_options is None else custom_options.tobytes())
        node = NodeDef.FromString(data)
    except (DecodeError, ValueError) as e:
        raise RuntimeError(f"{call.name} carries no node of TensorFlow: {e}") from e
    names = [f"input_{i}" for i in range(len(call.inputs))]
    graph_def = GraphDef()
    for name, operand in zip(names, call.inputs, strict=True):
        graph_def.node.add(name=name, op="Placeholder").attr["dtype"].type = as_dtype(operand.dtype).as_datatype_enum
    made = graph_def.node.add(name="op", op=node.op, input=names)
    for key, value in node.attr.items():
        made.attr[key].CopyFrom(value)
    try:
        with Graph().as_default() as graph:
            import_graph_def(graph_def, name="")
    except (ValueError, OpError) as e:
        raise RuntimeError(f"{call.name} can't be run: {e}") from e
    op = graph.get_operation_by_name("op")
    types = {t.dtype.name for t in (*op.inputs, *op.outputs)}
    if op.definition.is_stateful or types & {"string", "resource", "variant"}:
        raise RuntimeError(f"{call.name} is not run from a file: only ops without state, on numbers, are")
    sess = Session(graph=graph)

    def run(call, *inputs):
        values = sess.run(list(op.outputs), {f"{n}:0": to_numpy(v) for n, v in zip(names, inputs, strict=True)})
        return tuple(from_numpy(value) for value in values)

    return run
