"""The part of a server that eager clients talk to: operations that run here one by one, and whose results stay here until
the client lets go of them.

It speaks TensorFlow's EagerService. A client makes a *context*, sends operations and values into it, and asks for values
as tasks ask each other: it has a `_Send` run here and then calls RecvTensor.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from everflow.cluster import edges, wire
from everflow.cluster.cluster import ClusterSpec
from everflow.cluster.rendezvous import Carrier
from everflow.cluster.values import decode
from everflow.framework import dtypes, errors, op_defs
from everflow.framework.builder import output_dtypes
from everflow.framework.functions import GraphFunction
from everflow.framework.importer import node_attributes
from everflow.framework.op_defs import arg_dtypes
from everflow.framework.shapes import TensorShape
from everflow.kernels import tensors
from everflow.platform import logging
from everflow.protos import attr_value_pb2, eager_service_pb2, node_def_pb2
from everflow.runtime.engine import Engine, while_held

if TYPE_CHECKING:
    from everflow.cluster.worker import Worker
    from everflow.framework.hints import Attributes
    from everflow.framework.op_defs import OpDef
    from everflow.protos import function_pb2, tensor_shape_pb2
    from everflow.runtime.hints import Value
    from everflow.runtime.state import ResourceStore, Step

_WITHOUT_SHAPES = (dtypes.resource, dtypes.variant)
_LONGEST_SLEEP = 60.0
# What TensorFlow's eager programs call every variable that they share with nobody.
_ANONYMOUS = b"cd2c89b7-88b7-44c8-ad83-06c2a9158347"


@dataclass(slots=True)
class _Held:
    """A value that a client has here."""

    _value: Value
    _dtype: dtypes.DType

    def shape(self) -> tensor_shape_pb2.TensorShapeProto:
        shape = () if self._dtype in _WITHOUT_SHAPES else getattr(self._value, "shape", ())
        return TensorShape(list(shape)).as_proto()


class EagerService:
    """Serves `tensorflow.eager.EagerService` for one task."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._resources = while_held()
        self._lock = threading.Lock()
        self._contexts: dict[int, _Context] = {}
        self._watcher: threading.Thread | None = None

    def CreateContext(
        self, request: eager_service_pb2.CreateContextRequest, call: wire.Call
    ) -> eager_service_pb2.CreateContextResponse:
        context = _Context(request, self._worker, self._resources)
        with self._lock:
            if request.context_id in self._contexts:
                text = f"{self._worker.task} has a context {request.context_id} already"
                raise errors.InvalidArgumentError(None, None, text)
            self._contexts[request.context_id] = context
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, daemon=True, name="everflow contexts")
                self._watcher.start()
        return eager_service_pb2.CreateContextResponse(device_attributes=context.devices)

    def Enqueue(self, request: eager_service_pb2.EnqueueRequest, call: wire.Call) -> eager_service_pb2.EnqueueResponse:
        context = self._context(request.context_id)
        step = self._worker.new_step(context.engine.state)
        call.when_over(step.cancel)
        response = eager_service_pb2.EnqueueResponse()
        for item in request.queue:
            response.queue_response.add(shape=[held.shape() for held in context.do(item, step)])
        return response

    def WaitQueueDone(
        self, request: eager_service_pb2.WaitQueueDoneRequest, call: wire.Call
    ) -> eager_service_pb2.WaitQueueDoneResponse:
        """Every operation has run when the call that brought it is answered, so there is nothing to wait for."""
        self._context(request.context_id)
        return eager_service_pb2.WaitQueueDoneResponse()

    def KeepAlive(
        self, request: eager_service_pb2.KeepAliveRequest, call: wire.Call
    ) -> eager_service_pb2.KeepAliveResponse:
        self._context(request.context_id)
        return eager_service_pb2.KeepAliveResponse()

    def RegisterFunction(
        self, request: eager_service_pb2.RegisterFunctionRequest, call: wire.Call
    ) -> eager_service_pb2.RegisterFunctionResponse:
        self._context(request.context_id).register(request.function_def)
        return eager_service_pb2.RegisterFunctionResponse()

    def CloseContext(
        self, request: eager_service_pb2.CloseContextRequest, call: wire.Call
    ) -> eager_service_pb2.CloseContextResponse:
        self._context(request.context_id)
        self._close(request.context_id)
        return eager_service_pb2.CloseContextResponse()

    def _context(self, number: int) -> _Context:
        with self._lock:
            context = self._contexts.get(number)
        if context is None:
            text = f"{self._worker.task} has no context {number}: the task was restarted, or the client was silent for too long"
            raise errors.AbortedError(None, None, text)
        context.heard = time.monotonic()
        return context

    def _close(self, number: int) -> None:
        with self._lock:
            context = self._contexts.pop(number, None)
        if context is not None:
            context.close()

    def _watch(self) -> None:
        """Close contexts whose clients are silent for longer than they said they would be."""
        while True:
            now = time.monotonic()
            with self._lock:
                ends = {number: c.heard + c.patience for number, c in self._contexts.items()}
            for number in [number for number, end in ends.items() if end <= now]:
                logging.warning("The client of context %s was silent for too long; what it had here is gone.", number)
                self._close(number)
            time.sleep(min([_LONGEST_SLEEP, *(end - now for end in ends.values() if end > now)]))


class _Context:
    """What one client has here: values, functions and devices under the names of its cluster."""

    def __init__(
        self, request: eager_service_pb2.CreateContextRequest, worker: Worker, resources: ResourceStore
    ) -> None:
        told = request.server_def
        task = f"/job:{told.job_name}/replica:0/task:{told.task_index}" if told.job_name else worker.task
        self.devices = wire.renamed(worker.attributes, task)
        self.heard = time.monotonic()
        self.patience = request.keep_alive_secs or float("inf")
        names = [device.name for device in self.devices]
        self.engine = Engine(names, resources)
        self._worker = worker
        # Steps have numbers with a sign.
        self._signed = request.context_id - (1 << 64) if request.context_id >= 1 << 63 else request.context_id
        self._session = f"eager_{request.context_id}"
        self._values: dict[tuple[int, int], _Held] = {}
        self._peer_of = worker.peers_of(ClusterSpec(told.cluster).addresses())
        worker.open_session(self._session, self.engine.state, names, self._peer_of)

    def register(self, definition: function_pb2.FunctionDef) -> None:
        """Let operations call a function."""
        known = self.engine.functions.get(definition.signature.name)
        if known is None:
            self.engine.functions[definition.signature.name] = GraphFunction(definition, self.engine.functions)
        elif known.definition != definition:
            text = f"Cannot add function '{definition.signature.name}': there is another of that name"
            raise errors.InvalidArgumentError(None, None, text)

    def do(self, item: eager_service_pb2.QueueItem, step: Step) -> list[_Held]:
        """Do what one item of a queue says; gives what it made."""
        kind = item.WhichOneof("item")
        if kind == "handle_to_release":
            self._values.pop((item.handle_to_release.op_id, item.handle_to_release.output_num), None)
            return []
        if kind == "sent_tensors":
            for position, proto in enumerate(item.sent_tensors.tensors):
                held = _Held(tensors.from_numpy(decode(proto)), dtypes.as_dtype(proto.dtype))
                self._values[item.sent_tensors.op_id, position] = held
            return []
        if kind != "operation":
            raise errors.InvalidArgumentError(None, None, "An item of the queue says nothing that is known here")
        made = self._run(item.operation, step)
        for position, held in enumerate(made):
            self._values[item.operation.id, position] = held
        return made

    def close(self) -> None:
        """Forget everything; what waits here fails."""
        self.engine.state.close()
        self._worker.close_session(self._session, self._signed)
        self._values.clear()

    def _run(self, operation: eager_service_pb2.RemoteOperation, step: Step) -> list[_Held]:
        inputs = [self._held(handle) for handle in operation.inputs]
        try:
            definition, attrs = self._kind(operation)
        except (TypeError, ValueError, KeyError) as e:
            raise errors.InvalidArgumentError(None, None, f"{e} [Op:{operation.name}]") from None
        if definition.name in (edges.SEND, edges.RECV):
            return self._carry(definition.name, attrs, inputs, step)
        wanted = [dtype.base_dtype for arg in definition.inputs for dtype in arg_dtypes(arg, attrs)]
        if wanted != [held._dtype for held in inputs]:
            came = ", ".join(held._dtype.name for held in inputs)
            text = f"Inputs of types ({came}) came where ({', '.join(t.name for t in wanted)}) were expected"
            raise errors.InvalidArgumentError(None, None, f"{text} [Op:{operation.name}]")
        types = output_dtypes(definition, attrs)
        if definition.name == "Const":
            values = [tensors.from_numpy(attrs["value"].array)]
        else:
            values = self.engine.bound(definition, attrs, inputs, types).run(inputs, step)
        return [_Held(value, dtype.base_dtype) for value, dtype in zip(values, types, strict=True)]

    def _held(self, handle: eager_service_pb2.TensorHandle) -> _Held:
        found = self._values.get((handle.op_id, handle.output_num))
        if found is None:
            text = f"{self._worker.task} has no value for output {handle.output_num} of operation {handle.op_id}"
            raise errors.InvalidArgumentError(None, None, text)
        return found

    def _kind(self, operation: eager_service_pb2.RemoteOperation) -> tuple[OpDef, Attributes]:
        """The op type of an operation, which may be a function's name, and its attributes."""
        node = node_def_pb2.NodeDef(name=operation.name, op=operation.name, attr=operation.attrs)
        function = self.engine.functions.get(operation.name)
        if function is not None:
            arguments = function.op_definition
            node.op = "StatefulPartitionedCall" if arguments.is_stateful else "PartitionedCall"
            for attr, args in (("Tin", arguments.inputs), ("Tout", arguments.outputs)):
                types = [t.as_datatype_enum for arg in args for t in arg_dtypes(arg, {})]
                node.attr[attr].list.SetInParent()
                node.attr[attr].list.type.extend(types)
            node.attr["f"].func.CopyFrom(attr_value_pb2.NameAttrList(name=operation.name))
        definition = op_defs.get(node.op)
        attrs, _ = node_attributes(definition, node, operation.name, {})
        if attrs.get("shared_name") == _ANONYMOUS:
            attrs["shared_name"] = f"{self._session}_{operation.id}".encode()
        return definition, attrs

    def _carry(self, kind: str, attrs: Attributes, inputs: list[_Held], step: Step) -> list[_Held]:
        """Leave a value for another task or the client, or get one that another task has left."""
        dtype = attrs["T" if kind == edges.SEND else "tensor_type"]
        ends = {"": (edges.key_of(attrs), dtype)}
        carrier = Carrier(ends, self._signed, self._worker.rendezvous_of(self._signed), step, self._peer_of)
        try:
            if kind == edges.RECV:
                return [_Held(carrier.recv(""), dtype)]
            if dtype in _WITHOUT_SHAPES:
                raise errors.InvalidArgumentError(
                    None, None, f"A {dtype.name} can't leave {self._worker.task}, which holds it"
                )
            carrier.send("", inputs[0]._value)
            return []
        finally:
            carrier.close()
