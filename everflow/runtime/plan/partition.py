"""Which part of a program runs on which device, and how values move between them."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.attributes import to_proto
from everflow.framework.operation import Tensor
from everflow.framework.tensor_values import TensorValue
from everflow.protos import graph_pb2
from everflow.runtime.plan.program import FEED, Node
from everflow.runtime.plan.prune import MERGE, NEXT, prune

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.hints import Element
    from everflow.runtime.hints import Value


def partition_graphs(devices: dict[str, list[Node]]) -> list[graph_pb2.GraphDef]:
    """One GraphDef for each device, of the nodes that a run needs, as the debugger's dumps show them: edges go from one
    to another as they were drawn.
    """
    result = []
    for device, nodes in devices.items():
        graph_def = graph_pb2.GraphDef()
        for node in nodes:
            if node.type != FEED:
                node_def = graph_def.node.add()
                node_def.CopyFrom(node.op.node_def)
                node_def.device = device
        result.append(graph_def)
    return result


_NOTHING = TensorValue(np.zeros([0], np.float32))


def cut(
    devices: dict[str, list[Node]], fetches: list[Element], feeds: list[Tensor], client: str
) -> list[graph_pb2.GraphDef]:
    """One GraphDef for each device, as `RunMetadata.partition_graphs` shows a run: `_Arg` and `_Retval` for what was fed
    and fetched, on the device `client`, and `_Send` and `_Recv` where an edge goes from one device to another.

    It is what the run means, not what is done: CPUs share their memory, so nothing moves between them. Nodes are in
    TensorFlow's order; the numbers in `tensor_name` are ours.
    """
    cutter = _Cutter(devices, feeds, client)
    for node in prune(fetches, feeds).nodes:  # as drawn: the plan's own nodes have been scheduled and changed
        if node.type != FEED:
            cutter.add(node)
    named = sorted({t.name: t for t in feeds}.items())
    for index, (_, tensor) in enumerate(named):
        cutter.add_argument(tensor, index)
    fetched = sorted({f.name: f for f in fetches if isinstance(f, Tensor) and f not in feeds}.items())
    for index, (_, tensor) in enumerate(fetched):
        cutter.add_result(tensor, index)
    return [_inputs_first(part) for part in cutter.parts.values()]


class _Cutter:
    """The parts as they grow, and what was made for each value that crosses from one device to another."""

    def __init__(self, devices: dict[str, list[Node]], feeds: list[Tensor], client: str) -> None:
        self.parts: dict[str, graph_pb2.GraphDef] = {}
        self._client = client
        self._arguments = {
            tensor: f"_arg_{tensor.op.name}_{tensor.value_index}_{index}"
            for index, tensor in enumerate(sorted(feeds, key=lambda t: t.name))
        }
        self._feeds = feeds
        self._device_of = {n.op.name: device for device, nodes in devices.items() for n in nodes if n.type != FEED}
        self._received: dict[tuple[str, str], str] = {}  # (what is sent, receiving device) → node that has it there
        self._serial = 0
        self._edges = 0

    def _part(self, device: str) -> graph_pb2.GraphDef:
        return self.parts.setdefault(device, graph_pb2.GraphDef())

    def _new(self, device: str, op: str, name: str, inputs: list[str], **attrs: Any) -> str:
        made = self._part(device).node.add(op=op, name=name, device=device, input=inputs)
        for key, value in attrs.items():
            made.attr[key].CopyFrom(to_proto(value))
        return name

    def _numbered(self, like: str) -> str:
        self._serial += 1
        return f"{like}/_{self._serial - 1}"

    def add(self, node: Node) -> None:
        """Add a node of the user's, after what it receives."""
        device = self._device_of[node.name]
        inputs = [self._input(*edge, device) for edge in node.inputs]
        inputs += [self._control(control, device) for control in node.controls]
        made = self._part(device).node.add()
        made.CopyFrom(node.op.node_def)
        made.device = device
        del made.input[:]
        made.input.extend(inputs)

    def add_argument(self, tensor: Tensor, index: int) -> None:
        self._new(self._client, "_Arg", self._arguments[tensor], [], T=tensor.dtype.base_dtype, index=index)

    def add_result(self, tensor: Tensor, index: int) -> None:
        op, output = tensor.op, tensor.value_index
        value = self._value(op.name, output, tensor.dtype.base_dtype, self._device_of[op.name], self._client)
        self._new(
            self._client, "_Retval", f"_retval_{op.name}_{output}_{index}", [value], T=tensor.dtype.base_dtype, index=index
        )  # fmt: skip

    def _input(self, source: Node, output: int, device: str) -> str:
        dtype = source.output_dtypes[output].base_dtype
        if source.type == FEED:
            return self._value(self._arguments[self._feeds[source.value]], 0, dtype, self._client, device)
        return self._value(source.name, output, dtype, self._device_of[source.name], device)

    def _value(self, name: str, output: int, dtype: DType, sender: str, receiver: str) -> str:
        """The input that has this value on the receiving device."""
        value = f"{name}:{output}" if output else name
        if sender == receiver:
            return value
        if (value, receiver) not in self._received:
            self._received[value, receiver] = self._move(name, value, dtype, sender, receiver)
        return self._received[value, receiver]

    def _control(self, source: Node, device: str) -> str:
        """The input that says on this device that a node has run: from elsewhere, a value that says nothing else."""
        name, sender = f"^{source.name}", self._device_of[source.name]
        if sender == device:
            return name
        if (name, device) not in self._received:
            word = self._new(sender, "Const", self._numbered(source.name), [name], dtype=dtypes.float32, value=_NOTHING)
            came = self._move(source.name, word, dtypes.float32, sender, device)
            self._received[name, device] = self._new(
                device, "Identity", self._numbered(source.name), [came], T=dtypes.float32
            )
        return f"^{self._received[name, device]}"

    def _move(self, name: str, value: str, dtype: DType, sender: str, receiver: str) -> str:
        self._edges += 1
        ends: dict[str, Any] = {
            "tensor_name": f"edge_{self._edges}_{name}".encode(),
            "send_device": sender.encode(),
            "send_device_incarnation": 1,  # as in TensorFlow: devices of one process can't have been restarted alone
            "recv_device": receiver.encode(),
            "client_terminated": False,
        }
        self._new(sender, "_Send", self._numbered(name), [value], T=dtype, **ends)
        return self._new(receiver, "_Recv", self._numbered(name), [], tensor_type=dtype, **ends)


def _inputs_first(part: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """A part with each node after those it needs (a loop's back edges aside), otherwise in the order it was made."""
    places = {node.name: place for place, node in enumerate(part.node)}
    users: list[list[int]] = [[] for _ in part.node]
    missing = [0] * len(part.node)
    for place, node in enumerate(part.node):
        for source in {places[name.lstrip("^").split(":")[0]] for name in node.input}:
            if not (node.op in MERGE and part.node[source].op in NEXT):
                users[source].append(place)
                missing[place] += 1
    ready = [place for place, count in enumerate(missing) if not count]
    made = graph_pb2.GraphDef()
    while ready:
        place = heapq.heappop(ready)
        made.node.append(part.node[place])
        for user in users[place]:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, user)
    return made


def torch_device(device: str) -> str:
    """The torch device behind a device name: "cpu", "cuda:1", "mps"."""
    if ":GPU:" not in device:
        return "cpu"
    return f"cuda:{device.rsplit(':', 1)[1]}" if torch.cuda.is_available() else "mps"


def mover(device: str) -> Callable[[Value], Value]:
    """A function that brings a kernel value to a torch device.

    Small integers stay where they are on the way to an accelerator: they are shapes and indices that kernels read on
    the CPU.
    """

    def move(value: Value) -> Value:
        if isinstance(value, (list, tuple)):
            return type(value)(move(v) for v in value)
        if not isinstance(value, torch.Tensor) or (value.dtype is torch.int32 and device != "cpu"):
            return value
        return value.to(device)

    return move
