"""An eager program's side of a cluster: contexts on its tasks, operations that run in them, and values that stay there
until they are asked for.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from everflow.cluster import edges, wire
from everflow.cluster.rendezvous import Carrier, Rendezvous
from everflow.cluster.values import encode
from everflow.framework import attributes, dtypes, errors
from everflow.kernels import tensors
from everflow.protos import attr_value_pb2, cluster_pb2, eager_service_pb2, tensorflow_server_pb2
from everflow.runtime.state import SessionState, Step

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.hints import Attributes, GraphFunctionLike
    from everflow.protos import device_attributes_pb2
    from everflow.runtime.hints import Value

_SILENCE_SECONDS = 600  # after which a task may forget us
_WITHOUT_COPIES = (dtypes.resource, dtypes.variant)


class RemoteValue:
    """A value that a task holds for us, as long as this object lives."""

    def __init__(self, context: RemoteContext, op_id: int, position: int, device: str, dtype: DType) -> None:
        self.context, self.device, self.dtype = context, device, dtype
        self.shape: list[int] = []
        self.destroys = False  # whether what it is a handle of goes with it
        # How operations on its task name it. Made here: at the interpreter's end there is nothing left to make it with.
        self.handle = eager_service_pb2.TensorHandle(
            op_id=op_id, output_num=position, device=device, op_device=device, dtype=dtype.as_datatype_enum
        )

    def __del__(self) -> None:
        self.context.release(self.handle, self.device if self.destroys else "")


class RemoteContext:
    """What we have on one task."""

    def __init__(self, peer: wire.Peer, task: str, number: int) -> None:
        self.peer, self.task = peer, task
        self.devices: dict[str, device_attributes_pb2.DeviceAttributes] = {}
        self._number = number
        self._ids = itertools.count(1)
        self._functions: set[str] = set()
        self._lock = threading.Lock()
        # Values die wherever Python's collector finds them, which is no place to make a call from.
        self._released: queue.SimpleQueue = queue.SimpleQueue()

    def open(self, request: eager_service_pb2.CreateContextRequest) -> None:
        """Make the context on the task."""
        response = self.peer.call("CreateContext", request)
        self.devices = {device.name: device for device in response.device_attributes}
        threading.Thread(target=self._let_go, daemon=True, name=f"everflow values on {self.task}").start()

    def close(self) -> None:
        """Let the task forget everything of ours."""
        self._released.put(None)
        try:
            request = eager_service_pb2.CloseContextRequest(context_id=self._number)
            self.peer.call("CloseContext", request, timeout=5.0)
        except errors.OpError:
            pass  # it has forgotten us, or isn't there any more
        self.peer.close()

    def run(
        self,
        device: str,
        name: str,
        attrs: Attributes,
        inputs: Sequence[RemoteValue | tuple[Value, DType]],
        output_types: Sequence[DType],
    ) -> list[RemoteValue]:
        """Run an operation; inputs that are here, (value, type), go with it."""
        request = eager_service_pb2.EnqueueRequest(context_id=self._number)
        given = [item if isinstance(item, RemoteValue) else self._sent(request, device, *item) for item in inputs]
        number = next(self._ids)
        operation = request.queue.add().operation
        operation.id, operation.name, operation.device = number, name, device
        operation.inputs.extend(value.handle for value in given)
        for key, value in attrs.items():
            operation.attrs[key].CopyFrom(attributes.to_proto(value))
        made = [RemoteValue(self, number, i, device, t.base_dtype) for i, t in enumerate(output_types)]
        response = self.peer.call("Enqueue", request)
        shapes = response.queue_response[len(request.queue) - 1].shape if response.queue_response else ()
        for value, shape in zip(made, shapes):
            value.shape = [dim.size for dim in shape.dim]
        return made

    def send(self, device: str, value: Value, dtype: DType) -> RemoteValue:
        """Put a value there."""
        request = eager_service_pb2.EnqueueRequest(context_id=self._number)
        sent = self._sent(request, device, value, dtype)
        self.peer.call("Enqueue", request)
        return sent

    def _sent(self, request: eager_service_pb2.EnqueueRequest, device: str, value: Value, dtype: DType) -> RemoteValue:
        if dtype in _WITHOUT_COPIES:
            raise errors.InvalidArgumentError(
                None, None, f"A {dtype.name} of this process can't be used on {self.task}"
            )
        array = tensors.to_numpy(value, dtype)
        item = request.queue.add().sent_tensors
        item.op_id, item.device_name = next(self._ids), device
        item.tensors.append(encode(array, dtype))
        sent = RemoteValue(self, item.op_id, 0, device, dtype)
        sent.shape = list(array.shape)
        return sent

    def learn(self, function: GraphFunctionLike, library: Mapping[str, GraphFunctionLike]) -> None:
        """See to it that the task knows a function and those that it calls."""
        with self._lock:
            for name, each in {**_called(function, library), function.name: function}.items():
                if name not in self._functions:
                    self.peer.call(
                        "RegisterFunction",
                        eager_service_pb2.RegisterFunctionRequest(
                            context_id=self._number, function_def=each.definition
                        ),
                    )
                    self._functions.add(name)

    def release(self, handle: eager_service_pb2.TensorHandle, destroy_on: str) -> None:
        """A value is not needed any more; may be called from anywhere."""
        self._released.put((handle, destroy_on))

    def _let_go(self) -> None:
        """Tell the task what we don't need any more; and, if there is nothing to tell, that we are here."""
        while True:
            try:
                first = self._released.get(timeout=_SILENCE_SECONDS / 3)
            except queue.Empty:
                first = ()
            items = [first, *(self._released.get() for _ in range(self._released.qsize()))]
            if None in items:
                return
            try:
                if first == ():
                    self.peer.call("KeepAlive", eager_service_pb2.KeepAliveRequest(context_id=self._number))
                else:
                    self.peer.call("Enqueue", self._releasing(items))
            except (errors.OpError, ValueError):
                continue  # who holds our values is gone, and they with it; ValueError: so is our channel

    def _releasing(self, items: Iterable[Any]) -> eager_service_pb2.EnqueueRequest:
        request = eager_service_pb2.EnqueueRequest(context_id=self._number)
        for handle, destroy_on in items:
            if destroy_on:
                operation = request.queue.add().operation
                operation.id, operation.name, operation.device = next(self._ids), "DestroyResourceOp", destroy_on
                operation.inputs.append(handle)
                operation.attrs["ignore_lookup_error"].b = True
            request.queue.add().handle_to_release.CopyFrom(handle)
        return request


class Connection:
    """The tasks that an eager program is connected to, and what it has on them."""

    def __init__(self, addresses: Mapping[str, str], here: str, cluster: cluster_pb2.ClusterDef) -> None:
        """`addresses` are those of the other tasks by name, `here` is our own name in the cluster."""
        self.here = here
        self._number = int.from_bytes(os.urandom(7), "big")
        self._keys = itertools.count()
        self._step = Step(SessionState())
        self.contexts = {
            task: RemoteContext(wire.Peer(address, task), task, self._number) for task, address in addresses.items()
        }
        peers = {task: context.peer for task, context in self.contexts.items()}
        devices = [
            device
            for task, status in wire.statuses(peers, "Connecting to the cluster", wire.Call()).items()
            for device in wire.renamed(status.device_attributes, task)
        ]
        for task, context in self.contexts.items():
            job, _, index = task.removeprefix("/job:").partition("/replica:0/task:")
            server_def = tensorflow_server_pb2.ServerDef(
                cluster=cluster, job_name=job, task_index=int(index), protocol="grpc"
            )
            context.open(
                eager_service_pb2.CreateContextRequest(
                    server_def=server_def,
                    keep_alive_secs=_SILENCE_SECONDS,
                    cluster_device_attributes=devices,
                    context_id=self._number,
                )
            )

    @property
    def devices(self) -> list[str]:
        """The names of the devices of all tasks."""
        return [name for context in self.contexts.values() for name in context.devices]

    def context(self, device: str) -> RemoteContext:
        """Where the operations of a device run."""
        context = self.contexts.get(device.partition("/device:")[0])
        if context is None or device not in context.devices:
            raise errors.InvalidArgumentError(
                None, None, f"{device} unknown device: the program is connected to {self.devices}"
            )
        return context

    def fetch(self, value: RemoteValue) -> Value:
        """A value that a task holds, for kernels here."""
        ends = {"": (edges.key_of(self._left(value, f"{self.here}/device:CPU:0")), value.dtype)}
        return Carrier(ends, self._number, Rendezvous(), self._step, lambda _: value.context.peer).recv("")

    def move(self, value: RemoteValue, device: str) -> RemoteValue:
        """A value that a task holds, on a device of another."""
        attrs = {"tensor_type": value.dtype, **self._left(value, device)}
        (made,) = self.context(device).run(device, edges.RECV, attrs, [], [value.dtype])
        return made

    def _left(self, value: RemoteValue, taker: str) -> Attributes:
        """Have a task leave a value for a device that takes it; gives the attributes of both ends."""
        if value.dtype in _WITHOUT_COPIES:
            text = f"A {value.dtype.name} on {value.device} can't be used on {taker}"
            raise errors.InvalidArgumentError(None, None, text)
        incarnation = value.context.devices[value.device].incarnation
        ends = {
            "tensor_name": f"{self._number}_{next(self._keys)}".encode(),
            "send_device": value.device.encode(),
            "send_device_incarnation": incarnation - (1 << 64) if incarnation >= 1 << 63 else incarnation,
            "recv_device": taker.encode(),
            "client_terminated": False,
        }
        value.context.run(value.device, edges.SEND, {"T": value.dtype, **ends}, [value], [])
        return ends

    def unique(self, name: bytes) -> bytes:
        """A name that no other program gives to what it has on the same task."""
        return b"%s_%d" % (name, self._number)

    def close(self) -> None:
        """Let all tasks forget us."""
        for context in self.contexts.values():
            context.close()


def _called(function: GraphFunctionLike, library: Mapping[str, GraphFunctionLike]) -> dict[str, GraphFunctionLike]:
    """The functions that one calls, and those that they call, by name."""
    found: dict[str, GraphFunctionLike] = {}
    waiting = [function]
    while waiting:
        for node in waiting.pop().definition.node_def:
            for name in [node.op, *functions_in(node.attr)]:
                if name in library and name not in found:
                    found[name] = library[name]
                    waiting.append(library[name])
    return found


def functions_in(attrs: Mapping[str, attr_value_pb2.AttrValue]) -> list[str]:
    """The names of the functions among attributes."""
    return [f.name for value in attrs.values() for f in (value.func, *value.list.func) if f.name]
