"""Which part of a program runs on which device, and how values move between them."""

from __future__ import annotations

import contextlib
import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.attributes import to_proto
from everflow.framework.operation import Tensor
from everflow.framework.tensor_values import TensorValue
from everflow.protos import graph_pb2
from everflow.runtime.plan.control_flow import EXIT, ControlFlow, Unstructured
from everflow.runtime.plan.program import FEED, Node
from everflow.runtime.plan.prune import MERGE, NEXT, prune

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.hints import Element
    from everflow.framework.operation import Operation
    from everflow.runtime.hints import Value
    from everflow.runtime.plan.control_flow import Frame, Path
    from everflow.runtime.plan.prune import Pruned


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
    device_of: Callable[[Operation], str],
    fetches: list[Element],
    feeds: list[Tensor],
    client: str,
    incarnations: Mapping[str, int] | None = None,
) -> list[graph_pb2.GraphDef]:
    """One GraphDef for each device, as `RunMetadata.partition_graphs` shows a run: nodes for what was fed and fetched,
    on the device `client`, and `_Send` and `_Recv` where an edge goes from one device to another. `incarnations` are
    those of a cluster's devices.

    It is what the run means, not what is done: CPUs share their memory, so nothing moves between them, and values of
    one task go to another together. Nodes are in TensorFlow's order; the numbers in `tensor_name` are ours.
    """
    feeds = sorted(feeds, key=lambda t: t.name)
    fetched = sorted({f for f in fetches if isinstance(f, Tensor) and f not in feeds}, key=lambda t: t.name)
    cutter = (_Cutter if incarnations is None else _ClusterCutter)(device_of, feeds, client, incarnations or {})
    pruned = prune(fetches, feeds)  # as drawn: the plan's own nodes have been scheduled and changed
    nodes = [node for node in pruned.nodes if node.type != FEED]
    cutter.find_loops(pruned)
    for node in nodes:
        cutter.add(node)
    for index, tensor in enumerate(feeds):
        cutter.add_argument(tensor, index)
    for index, tensor in enumerate(fetched):
        cutter.add_result(tensor, index)
    cutter.add_loops()
    return [_inputs_first(part) for part in cutter.parts.values()]


@dataclass(slots=True)
class _Loop:
    """A loop without a value, which a device goes round with a loop of other devices: what comes from these inside the
    loop is received once a round. Names of its nodes.
    """

    frame: Frame
    device: str
    entry: str
    turn: str
    choice: str
    following: str
    start: str = ""  # what enters it: a word that says nothing, or the round of the loop around it
    is_new: bool = False  # whether that word is its own


class _Cutter:
    """The parts as they grow, and what was made for each value that crosses from one device to another."""

    _SUFFIX = "/_"  # of nodes that are not the user's, before their number

    def __init__(
        self,
        device_of: Callable[[Operation], str],
        feeds: list[Tensor],
        client: str,
        incarnations: Mapping[str, int],
    ) -> None:
        self.parts: dict[str, graph_pb2.GraphDef] = {}
        self._client = client
        self._feeds = feeds
        self._device_of = device_of
        self._incarnations = incarnations
        self._received: dict[tuple[str, str], str] = {}  # (what is sent, receiving device) → node that has it there
        self._serial = 0
        self._edges = 0
        self._flow: ControlFlow | None = None  # None where no loop is to be seen
        self._loops: dict[tuple[Path, str], _Loop] = {}
        # Control inputs that the node under way gets beside its own: the rounds of values that earlier ones took, too.
        self._again: dict[str, None] = {}

    def _part(self, device: str) -> graph_pb2.GraphDef:
        return self.parts.setdefault(device, graph_pb2.GraphDef())

    def _new(self, device: str, op: str, name: str, inputs: list[str], **attrs: Any) -> str:
        made = self._part(device).node.add(op=op, name=name, device=device, input=inputs)
        for key, value in attrs.items():
            made.attr[key].CopyFrom(to_proto(value))
        return name

    def _numbered(self, like: str) -> str:
        self._serial += 1
        return f"{like}{self._SUFFIX}{self._serial - 1}"

    def _argument(self, tensor: Tensor) -> str:
        return f"_arg_{tensor.op.name}_{tensor.value_index}_{self._feeds.index(tensor)}"

    def find_loops(self, pruned: Pruned) -> None:
        """See which devices receive something inside of a loop, and name what they need for that."""
        with contextlib.suppress(Unstructured):  # whose loops nobody knows
            self._flow = ControlFlow(pruned)
        for node in pruned.nodes if self._flow is not None and self._flow.frames else ():
            for source in (*(source for source, _ in node.inputs), *node.controls):
                path = self._path(source)
                if path and self._device_of(source.op) != self._device_of(node.op):
                    self._loop(path, self._device_of(node.op), node.name)

    def _path(self, source: Node) -> Path:
        """The loops in which a node's results are."""
        if self._flow is None or source.type == FEED:
            return ()
        path = self._flow.frame(source)
        return path[:-1] if source.type in EXIT else path

    def _loop(self, path: Path, device: str, like: str) -> _Loop:
        assert self._flow is not None
        made = self._loops.get((path, device))
        if made is None:
            entry, turn, choice, following = (self._numbered(f"_cloop{like}") for _ in range(4))
            made = _Loop(self._flow.frames[path], device, entry, turn, choice, following)
            self._loops[path, device] = made
            if len(path) > 1:
                made.start = self._loop(path[:-1], device, like).turn
            else:
                made.start, made.is_new = self._numbered(like), True
        return made

    def add_loops(self) -> None:
        """Add the loops that devices go round with others, and what tells them whether to go on."""
        for path, device in list(self._loops):
            loop = self._loops[path, device]
            (entry, _), *_ = (merge.inputs[0] for merge in loop.frame.variables)
            attrs = {key: entry.attribute(key) for key in ("frame_name", "parallel_iterations")}
            self._new(device, "Enter", loop.entry, [loop.start], T=dtypes.float32, is_constant=False, **attrs)
            self._new(device, "Merge", loop.turn, [loop.entry, loop.following], T=dtypes.float32, N=2)
            goes_on = self._input(*loop.frame.predicate, device, "_HostRecv")
            self._new(device, "Switch", loop.choice, [loop.turn, goes_on], T=dtypes.float32)
            self._new(device, "NextIteration", loop.following, [f"{loop.choice}:1"], T=dtypes.float32)
            if loop.is_new:
                self._new(device, "Const", loop.start, [], dtype=dtypes.float32, value=_NOTHING)

    def _turn(self, path: Path, device: str) -> list[str]:
        """The control input of what a device receives inside of a loop."""
        return [f"^{self._loops[path, device].turn}"] if path else []

    def add(self, node: Node) -> None:
        """Add a node of the user's, after what it receives."""
        device = self._device_of(node.op)
        self._again = {}
        inputs = [self._input(*edge, device) for edge in node.inputs]
        controls = sorted(node.controls, key=lambda control: control.name)  # as GraphDefs have them
        waits = [self._control(control, device) for control in controls]
        inputs += [*self._again, *waits]
        made = self._part(device).node.add()
        made.CopyFrom(node.op.node_def)
        made.device = device
        del made.input[:]
        made.input.extend(inputs)

    def add_argument(self, tensor: Tensor, index: int) -> None:
        self._new(self._client, "_Arg", self._argument(tensor), [], T=tensor.dtype.base_dtype, index=index)

    def add_result(self, tensor: Tensor, index: int) -> None:
        name = f"_retval_{tensor.op.name}_{tensor.value_index}_{index}"
        self._new(self._client, "_Retval", name, [self._result(tensor)], T=tensor.dtype.base_dtype, index=index)

    def _result(self, tensor: Tensor) -> str:
        op = tensor.op
        return self._value(op.name, tensor.value_index, tensor.dtype.base_dtype, self._device_of(op), self._client)

    def _input(self, source: Node, output: int, device: str, receives: str = "_Recv") -> str:
        dtype = source.output_dtypes[output].base_dtype
        if source.type == FEED:
            return self._value(self._argument(self._feeds[source.value]), 0, dtype, self._client, device)
        sender = self._device_of(source.op)
        return self._value(source.name, output, dtype, sender, device, self._path(source), receives)

    def _value(
        self,
        name: str,
        output: int,
        dtype: DType,
        sender: str,
        receiver: str,
        path: Path = (),
        receives: str = "_Recv",
    ) -> str:
        """The input that has this value on the receiving device."""
        value = f"{name}:{output}" if output else name
        if sender == receiver:
            return value
        turn = self._turn(path, receiver)
        if (value, receiver) in self._received:
            self._again.update(dict.fromkeys(turn))
        else:
            self._received[value, receiver] = self._move(name, value, dtype, sender, receiver, turn, receives)
        return self._received[value, receiver]

    def _control(self, source: Node, device: str) -> str:
        """The input that says on this device that a node has run: from elsewhere, a value that says nothing else."""
        name, sender = f"^{source.name}", self._device_of(source.op)
        if sender == device:
            return name
        turn = self._turn(self._path(source), device)
        if (name, device) in self._received:
            self._again.update(dict.fromkeys(turn))
            return f"^{self._received[name, device]}"
        word = self._new(sender, "Const", self._numbered(source.name), [name], dtype=dtypes.float32, value=_NOTHING)
        came = self._move(source.name, word, dtypes.float32, sender, device, turn)
        said = self._new(device, "Identity", self._numbered(source.name), [came], T=dtypes.float32)
        self._received[name, device] = said
        return f"^{said}"

    def _move(
        self,
        name: str,
        value: str,
        dtype: DType,
        sender: str,
        receiver: str,
        controls: list[str],
        receives: str = "_Recv",
    ) -> str:
        self._edges += 1
        ends = self._ends(f"edge_{self._edges}_{name}", sender, receiver)
        self._new(sender, "_Send", self._numbered(name), [value], T=dtype, **ends)
        return self._new(receiver, receives, self._numbered(name), controls, tensor_type=dtype, **ends)

    def _ends(self, tensor_name: str, sender: str, receiver: str, is_client: bool = False) -> dict[str, Any]:
        number = self._incarnations.get(sender, 1)  # devices of one process can't have been restarted alone
        return {
            "tensor_name": tensor_name.encode(),
            "send_device": sender.encode(),
            "send_device_incarnation": number - (1 << 64) if number >= 1 << 63 else number,
            "recv_device": receiver.encode(),
            "client_terminated": is_client,
        }


class _ClusterCutter(_Cutter):
    """As a master cuts: what is fed comes from the client by a `_Recv`, and what is fetched goes there by a `_Send`."""

    _SUFFIX = "_S"

    def _argument(self, tensor: Tensor) -> str:
        return f"_recv_{tensor.op.name}_{tensor.value_index}"

    def add_argument(self, tensor: Tensor, index: int) -> None:
        ends = self._ends(tensor.name, self._client, self._client, is_client=True)
        self._new(self._client, "_Recv", self._argument(tensor), [], tensor_type=tensor.dtype.base_dtype, **ends)

    def add_result(self, tensor: Tensor, index: int) -> None:
        name = f"_send_{tensor.op.name}_{tensor.value_index}"
        ends = self._ends(tensor.name, self._client, self._client, is_client=True)
        self._new(self._client, "_Send", name, [self._result(tensor)], T=tensor.dtype.base_dtype, **ends)


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
