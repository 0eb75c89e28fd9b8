"""`_Send` and `_Recv`: the two ends of an edge that was cut, as nodes of the parts on its sides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from everflow.framework.op_defs import ArgDef, AttrDef, OpDef, register
from everflow.framework.shapes import TensorShape
from everflow.protos import node_def_pb2

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

SEND, RECV = "_Send", "_Recv"
LEVEL = "_level"

_ENDS = (
    AttrDef("tensor_name", "string"),
    AttrDef("send_device", "string"),
    AttrDef("send_device_incarnation", "int"),
    AttrDef("recv_device", "string"),
    AttrDef("client_terminated", "bool", default=False, has_default=True),
)
register(OpDef(SEND, (ArgDef("tensor", type_attr="T"),), (), (AttrDef("T", "type"), *_ENDS), is_stateful=True))
register(
    OpDef(
        RECV,
        (),
        (ArgDef("tensor", type_attr="tensor_type"),),
        (AttrDef("tensor_type", "type"), *_ENDS),
        is_stateful=True,
    )
)


def rendezvous_key(send_device: str, incarnation: int, recv_device: str, tensor_name: str) -> str:
    """The name under which a value waits for its taker. Values of one name are taken in the order they were sent."""
    return f"{send_device};{incarnation & (1 << 64) - 1:016x};{recv_device};{tensor_name};0:0"


def key_of(attrs: Mapping[str, Any]) -> str:
    """The key of a `_Send` or `_Recv` node, from its attributes."""
    text = {name: _text(attrs[name]) for name in ("send_device", "recv_device", "tensor_name")}
    return rendezvous_key(
        text["send_device"], attrs["send_device_incarnation"], text["recv_device"], text["tensor_name"]
    )


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def sending_task(key: str) -> tuple[str, int]:
    """The task name and the incarnation of the device that a key's value comes from."""
    device, incarnation = key.split(";")[:2]
    return device.rpartition("/device:")[0], int(incarnation, 16)


def end_node(
    op: str,
    name: str,
    dtype: DType,
    tensor_name: str,
    ends: tuple[str, int, str],
    client: bool,
    shape: TensorShape | None = None,
    level: int = -1,
) -> node_def_pb2.NodeDef:
    """The NodeDef of one end; `ends` is (sending device, its incarnation, receiving device). Values of one level may
    travel together.
    """
    node = node_def_pb2.NodeDef(op=op, name=name, device=ends[0] if op == SEND else ends[2])
    node.attr["T" if op == SEND else "tensor_type"].type = dtype.base_dtype.as_datatype_enum
    node.attr["tensor_name"].s = tensor_name.encode()
    node.attr["send_device"].s = ends[0].encode()
    node.attr["send_device_incarnation"].i = ends[1] - (1 << 64) if ends[1] >= 1 << 63 else ends[1]
    node.attr["recv_device"].s = ends[2].encode()
    node.attr["client_terminated"].b = client
    if level >= 0:
        node.attr[LEVEL].i = level
    if shape is not None:
        node.attr["_output_shapes"].list.shape.append(shape.as_proto())
    return node
