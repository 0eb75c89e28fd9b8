"""Functions that a run calls on another task: a small graph with nothing but the call, registered there once, and run
with the arguments as feeds.
"""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING

from everflow.cluster import edges, wire
from everflow.cluster.partition import task_of
from everflow.cluster.values import decode, encode
from everflow.framework import errors
from everflow.framework.dtypes import string
from everflow.framework.tensor_values import make_tensor_proto
from everflow.kernels import tensors
from everflow.protos import graph_pb2, node_def_pb2, worker_pb2

if TYPE_CHECKING:
    from collections.abc import Callable

    from everflow.framework.dtypes import DType
    from everflow.framework.graph import Graph
    from everflow.kernels.context import Node, Session
    from everflow.protos.attr_value_pb2 import NameAttrList
    from everflow.runtime.hints import Value
    from everflow.runtime.state import Step

_WAIT = 0.1  # seconds between looks at whether the run should stop


class RemoteFunctions:
    """The functions that a session of this task has given to others, by name and device."""

    def __init__(self, session_handle: str, peer_of: Callable[[str], wire.Peer]) -> None:
        self.session_handle = session_handle
        self._peer_of = peer_of
        self._lock = threading.Lock()
        self._registered: dict[tuple[str, str], str] = {}

    def peer_of(self, device: str) -> wire.Peer:
        """The task of a device."""
        try:
            return self._peer_of(task_of(device))
        except KeyError:
            text = f"{device} is on no task of the cluster"
            raise errors.InvalidArgumentError(None, None, text) from None

    def handle_of(self, device: str, f: NameAttrList, node: Node, graph: Graph) -> str:
        """The handle of the graph that calls a function on a device."""
        with self._lock:
            if (f.name, device) not in self._registered:
                request = worker_pb2.RegisterGraphRequest(
                    session_handle=self.session_handle,
                    create_worker_session_called=True,
                    graph_def=_call_graph(device, f, node, graph),
                )
                answer = self.peer_of(device).call("RegisterGraph", request)
                self._registered[f.name, device] = answer.graph_handle
            return self._registered[f.name, device]


class FunctionCaller:
    """Takes functions of one run to other tasks."""

    def __init__(self, task: str, functions: RemoteFunctions, step: Step) -> None:
        self.task = task
        self._functions = functions
        self._step = step

    def call(self, device: str, f: NameAttrList, args: list[Value], node: Node, session: Session) -> list[Value]:
        """What a function gives on a device of another task; its failures are raised here."""
        functions, peer = self._functions, self._functions.peer_of(device)
        types_in, types_out = node.attrs["Tin"], node.attrs["Tout"]
        request = worker_pb2.RunGraphRequest(
            session_handle=functions.session_handle,
            create_worker_session_called=True,
            graph_handle=functions.handle_of(device, f, node, session.graph),
            step_id=secrets.randbits(62),
            recv_key=[_key("result", i, device) for i in range(len(types_out))],
            store_errors_in_response_body=True,
        )
        for i, (value, dtype) in enumerate(zip(args, types_in, strict=True)):
            request.send.add(name=_key("argument", i, device), tensor=encode(tensors.to_numpy(value, dtype), dtype))
        future = peer.start("RunGraph", request)
        try:
            response = peer.finish(_Patient(future, self._step))
            if response.status_code:
                raise wire.error_of(response.status_code, response.status_error_message)
        except errors.OpError:
            peer.start("CleanupGraph", worker_pb2.CleanupGraphRequest(step_id=request.step_id))
            raise
        came = {item.name: item.tensor for item in response.recv}
        return [tensors.from_numpy(decode(came[_key("result", i, device)], dtype)) for i, dtype in enumerate(types_out)]


class _Patient:
    """A call's future whose `result` looks now and then whether the run that waits should stop."""

    def __init__(self, future: object, step: Step) -> None:
        self._future, self._step = future, step
        self._done = threading.Event()
        future.add_done_callback(lambda _: self._done.set())  # type: ignore[attr-defined]

    def result(self) -> worker_pb2.RunGraphResponse:
        while not self._done.wait(_WAIT):
            self._step.check()
        return self._future.result()  # type: ignore[attr-defined]

    def cancel(self) -> None:
        self._future.cancel()  # type: ignore[attr-defined]


def _key(what: str, number: int, device: str) -> str:
    return edges.rendezvous_key(device, 0, device, f"{what}_{number}:0")


def _call_graph(device: str, f: NameAttrList, node: Node, graph: Graph) -> graph_pb2.GraphDef:
    """A graph that takes the arguments of a function, calls it and gives its results."""
    made = graph_pb2.GraphDef(versions=graph.graph_def_versions)
    for function in graph._functions.values():
        made.library.function.append(function.definition)
        if function.gradient_name:
            made.library.gradient.add(function_name=function.name, gradient_func=function.gradient_name)
    types: dict[str, list[DType]] = {"Tin": node.attrs["Tin"], "Tout": node.attrs["Tout"]}
    ends = device, 0, device
    target = made.node.add(op="Const", name="target", device=device)
    target.attr["dtype"].type = string.as_datatype_enum
    target.attr["value"].tensor.CopyFrom(make_tensor_proto(device))
    call = node_def_pb2.NodeDef(op="RemoteCall", name="call", device=device, input=["target"])
    call.attr["f"].func.CopyFrom(f)
    for name, dtypes in types.items():
        call.attr[name].list.SetInParent()
        call.attr[name].list.type.extend(dtype.as_datatype_enum for dtype in dtypes)
    for i, dtype in enumerate(types["Tin"]):
        made.node.append(edges.end_node(edges.RECV, f"argument_{i}", dtype, f"argument_{i}:0", ends, client=True))
        call.input.append(f"argument_{i}")
    made.node.append(call)
    for i, dtype in enumerate(types["Tout"]):
        result = edges.end_node(edges.SEND, f"result_{i}", dtype, f"result_{i}:0", ends, client=True)
        result.input.append(f"call:{i}")
        made.node.append(result)
    return made
