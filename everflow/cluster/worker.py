"""The part of a server that runs things: it holds the task's variables and queues, and runs the parts of graphs that it
was given.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.cluster import edges, wire
from everflow.cluster.cluster import ClusterSpec
from everflow.cluster.eager_service import EagerService
from everflow.cluster.foreign import adapted
from everflow.cluster.groups import Groups
from everflow.cluster.partition import task_of
from everflow.cluster.remote_functions import FunctionCaller, RemoteFunctions
from everflow.cluster.rendezvous import Carrier, Rendezvous, pack
from everflow.cluster.values import decode, described, encode, pieces
from everflow.framework import errors
from everflow.framework.graph import Graph
from everflow.framework.importer import import_graph_def
from everflow.kernels import tensors
from everflow.kernels.exchange import EXCHANGE, Exchange
from everflow.kernels.remote_calls import CALLER
from everflow.kernels.rendezvous import CARRIER
from everflow.protos import config_pb2, device_attributes_pb2, rewriter_config_pb2, tensor_pb2, worker_pb2
from everflow.runtime import devices, tracing
from everflow.runtime.executor import LocalExecutor
from everflow.runtime.limits import within_limit
from everflow.runtime.plan.partition import partition_graphs
from everflow.runtime.state import ResourceStore, SessionState, Step

if TYPE_CHECKING:
    from everflow.cluster.rendezvous import Taker
    from everflow.cluster.values import Parcel
    from everflow.framework.dtypes import DType
    from everflow.framework.operation import Operation
    from everflow.protos import graph_pb2
    from everflow.runtime.hints import Runnable, Value

_LARGE = 1 << 20  # bytes of values that one of ours fetches in pieces


class Worker:
    """Serves `tensorflow.WorkerService` for one task."""

    def __init__(
        self,
        task: str,
        config: config_pb2.ConfigProto,
        peer_of: Callable[[str], wire.Peer],
        leader: str = "",
        host: str = "localhost",
    ) -> None:
        """`leader` is the task that brings groups for collective ops together, `host` this task's own."""
        self.task = task
        self.groups = Groups(self, leader or task, host, peer_of)
        self._exchange = Exchange(self.groups.resolve)
        self.device_names = devices.device_names(config, task)
        self.attributes = [_attributes_proto(d) for d in devices.attributes_of(self.device_names)]
        self._incarnations = {a.incarnation for a in self.attributes}
        self.resources = ResourceStore()
        self.eager = EagerService(self)
        self._config = config
        self._peer_of = peer_of
        self._lock = threading.Lock()
        self._sessions: dict[str, _WorkerSession] = {}
        self._rendezvous: dict[int, Rendezvous] = {}
        self._waiting: dict[bytes, tuple[int, list[Parcel]]] = {}  # ticket → step and values that are to be fetched
        self._serial = itertools.count(1)

    def GetStatus(self, request: worker_pb2.GetStatusRequest, call: wire.Call) -> worker_pb2.GetStatusResponse:
        return worker_pb2.GetStatusResponse(device_attributes=self.attributes)

    def CreateWorkerSession(
        self, request: worker_pb2.CreateWorkerSessionRequest, call: wire.Call
    ) -> worker_pb2.CreateWorkerSessionResponse:
        with self._lock:
            if request.session_handle in self._sessions:
                raise errors.AlreadyExistsError(
                    None, None, f"Session {request.session_handle} exists already on {self.task}"
                )
            # Names of a client's own cluster mean nothing to others, so what it has is its own, too, as in TensorFlow.
            is_alone = request.isolate_session_state or bool(request.server_def.cluster.job)
            shared = ResourceStore() if is_alone else self.resources
            self._sessions[request.session_handle] = self._new_session(SessionState(resources=shared), request)
        return worker_pb2.CreateWorkerSessionResponse()

    def _new_session(self, state: SessionState, request: worker_pb2.CreateWorkerSessionRequest) -> _WorkerSession:
        """A session whose tasks are those of this server's cluster, or of one that its client brought."""
        brought = request.server_def
        if not brought.cluster.job:
            return _WorkerSession(request.session_handle, state, self.device_names, self._peer_of)
        task = f"/job:{brought.job_name}/replica:0/task:{brought.task_index}"
        names = [device.name for device in wire.renamed(self.attributes, task)]
        return _WorkerSession(
            request.session_handle, state, names, self.peers_of(ClusterSpec(brought.cluster).addresses())
        )

    @staticmethod
    def peers_of(addresses: dict[str, str]) -> Callable[[str], wire.Peer]:
        """What gives the tasks of a cluster that a client brought, by name."""
        return _Peers(addresses)

    def open_session(
        self, handle: str, state: SessionState, device_names: list[str], peer_of: Callable[[str], wire.Peer]
    ) -> None:
        """Let graphs be registered that work on the state of an eager client."""
        with self._lock:
            self._sessions[handle] = _WorkerSession(handle, state, device_names, peer_of)

    def close_session(self, handle: str, step_id: int) -> None:
        """End what `open_session` began; whoever waits for values of the step fails."""
        with self._lock:
            self._sessions.pop(handle, None)
        self.CleanupGraph(worker_pb2.CleanupGraphRequest(step_id=step_id), wire.Call())

    def DeleteWorkerSession(
        self, request: worker_pb2.DeleteWorkerSessionRequest, call: wire.Call
    ) -> worker_pb2.DeleteWorkerSessionResponse:
        with self._lock:
            session = self._sessions.pop(request.session_handle, None)
        if session is not None:
            session.state.close()
        return worker_pb2.DeleteWorkerSessionResponse()

    def RegisterGraph(
        self,
        request: worker_pb2.RegisterGraphRequest,
        call: wire.Call,
    ) -> worker_pb2.RegisterGraphResponse:
        session = self._session(request.session_handle)
        config = config_pb2.ConfigProto(graph_options=request.graph_options)
        config.intra_op_parallelism_threads = self._config.intra_op_parallelism_threads
        handle = f"{next(self._serial):016x}"
        session.graphs[handle] = _RegisteredGraph(request.graph_def, config, session.state, session.device_names)
        return worker_pb2.RegisterGraphResponse(graph_handle=handle)

    def DeregisterGraph(
        self,
        request: worker_pb2.DeregisterGraphRequest,
        call: wire.Call,
    ) -> worker_pb2.DeregisterGraphResponse:
        self._session(request.session_handle).graphs.pop(request.graph_handle, None)
        return worker_pb2.DeregisterGraphResponse()

    def RunGraph(
        self,
        request: worker_pb2.RunGraphRequest,
        call: wire.Call,
        timeout_in_ms: int = 0,
    ) -> worker_pb2.RunGraphResponse:
        session = self._session(request.session_handle)
        graph = session.graphs.get(request.graph_handle)
        if graph is None:
            raise errors.AbortedError(
                None, None, f"Graph handle is not found: {request.graph_handle}. {self.task} may have been restarted."
            )
        step = self.new_step(session.state, timeout_in_ms)
        call.when_over(step.cancel)
        carrier = Carrier(graph.ends, request.step_id, self.rendezvous_of(request.step_id), step, session.peer_of)
        step.container[CARRIER] = carrier
        step.container[CALLER] = FunctionCaller(task_of(session.device_names[0]), session.functions, step)
        response = worker_pb2.RunGraphResponse()
        try:
            if timeout_in_ms > 0:
                within_limit(lambda: graph.run(request, step, carrier, response), step)
            else:
                graph.run(request, step, carrier, response)
        except errors.OpError as e:
            error = wire.error_of(e.error_code, f"From {self.task}:\n{wire.status_of(e)[1]}")
            if not request.store_errors_in_response_body:
                raise error from None
            wire.store((error.error_code, error.message), response)
        else:
            self.rendezvous_of(request.step_id).complete()
            self._forget_spent(request.step_id)
        finally:
            carrier.close()
        return response

    def new_step(self, state: SessionState, timeout_in_ms: int = 0) -> Step:
        """A run on this task, which takes part in its groups."""
        step = Step(state, timeout_in_ms)
        step.container[EXCHANGE] = self._exchange
        return step

    def start_here(
        self, request: worker_pb2.RunGraphRequest, timeout_in_ms: int, cancelled: Callable[[Callable[[], None]], None]
    ) -> worker_pb2.RunGraphResponse:
        """Run a part for the master in this process; `cancelled` is told how to stop it."""
        return self.RunGraph(request, _LocalCall(cancelled), timeout_in_ms)

    def CleanupGraph(self, request: worker_pb2.CleanupGraphRequest, call: wire.Call) -> worker_pb2.CleanupGraphResponse:
        with self._lock:
            rendezvous = self._rendezvous.pop(request.step_id, None)
            for ticket in [t for t, (step_id, _) in self._waiting.items() if step_id == request.step_id]:
                del self._waiting[ticket]
        if rendezvous is not None:
            rendezvous.abort(errors.AbortedError(None, None, f"Step {request.step_id} is over"))
        return worker_pb2.CleanupGraphResponse()

    def CleanupAll(self, request: worker_pb2.CleanupAllRequest, call: wire.Call) -> worker_pb2.CleanupAllResponse:
        for container in request.container or [""]:
            self.resources.clear_container(container)
        return worker_pb2.CleanupAllResponse()

    def RecvTensor(self, request: worker_pb2.RecvTensorRequest, call: wire.Call) -> worker_pb2.RecvTensorResponse:
        keys = request.rendezvous_key.split("\n")
        self._check_incarnations(keys)
        values = self.rendezvous_of(request.step_id).take(keys, call)
        self._forget_spent(request.step_id)
        response = worker_pb2.RecvTensorResponse(send_start_micros=int(time.time() * 1e6))
        if request.transport_options.type_url == wire.IN_PIECES and sum(v.array.nbytes for v in values) > _LARGE:
            ticket = next(self._serial).to_bytes(8, "little")
            with self._lock:
                self._waiting[ticket] = request.step_id, values
            response.transport_options.type_url = wire.IN_PIECES
            response.transport_options.value = ticket + described(values)
        else:
            response.tensor.CopyFrom(pack(values))
        return response

    def pieces(self, ticket: bytes) -> Iterator[bytes]:
        """The values that a caller of RecvTensor got a ticket for."""
        with self._lock:
            _, values = self._waiting.pop(ticket, (0, None))
        if values is None:
            raise errors.AbortedError(None, None, f"{self.task} has nothing for that ticket: the step may be over")
        return pieces(values)

    def give_values(self, step_id: int, keys: list[str], give: Taker) -> None:
        """RecvTensor for callers on a lane: nobody waits, `give` is called when all values are there."""
        try:
            self._check_incarnations(keys)
        except errors.OpError as e:
            give(e)
        else:
            self.rendezvous_of(step_id).when_there(keys, give)
            self._forget_spent(step_id)

    def answer(self, method: str, request: bytes, call: Any) -> bytes:
        """A call that came on a lane."""
        served: Any = self if method in wire.SERVICES[wire.WORKER] else self.eager
        reads, _ = wire.ON_LANES.get(method, (None, None))
        if reads is None:
            raise errors.UnimplementedError(None, None, f"A task has no {method}")
        try:
            return getattr(served, method)(reads.FromString(request), call).SerializeToString()
        except errors.OpError as e:
            raise wire.error_of(*wire.status_of(e)) from None
        except Exception as e:  # the other side is told
            raise errors.InternalError(None, None, f"{type(e).__name__}: {e}") from None

    def _check_incarnations(self, keys: list[str]) -> None:
        for key in keys:
            if edges.sending_task(key)[1] not in self._incarnations:
                raise errors.AbortedError(
                    None, None, f"{self.task} was restarted: it is not the one that {key} asks for"
                )

    def CompleteGroup(
        self, request: worker_pb2.CompleteGroupRequest, call: wire.Call
    ) -> worker_pb2.CompleteGroupResponse:
        return self.groups.complete(request, call)

    def _session(self, handle: str) -> _WorkerSession:
        with self._lock:
            found = self._sessions.get(handle)
        if found is None:
            raise errors.AbortedError(
                None, None, f"Session handle is not found: {handle}. {self.task} may have been restarted."
            )
        return found

    def _forget_spent(self, step_id: int) -> None:
        with self._lock:
            if step_id in self._rendezvous and self._rendezvous[step_id].is_spent:
                del self._rendezvous[step_id]

    def rendezvous_of(self, step_id: int) -> Rendezvous:
        """Where the values of a step wait for other tasks."""
        with self._lock:
            return self._rendezvous.setdefault(step_id, Rendezvous())


class _LocalCall(wire.Call):
    """A call from the master in this process, which can be cancelled."""

    def __init__(self, register: Callable[[Callable[[], None]], None]) -> None:
        super().__init__()
        self._register = register

    def when_over(self, action: Callable[[], None]) -> None:
        self._register(action)


class _Peers:
    """The tasks of a cluster that a client brought, called when they are first needed."""

    def __init__(self, addresses: dict[str, str]) -> None:
        self._addresses = addresses
        self._peers: dict[str, wire.Peer] = {}
        self._lock = threading.Lock()

    def __call__(self, task: str) -> wire.Peer:
        with self._lock:
            if task not in self._peers:
                self._peers[task] = wire.Peer(self._addresses[task], task)
            return self._peers[task]


class _WorkerSession:
    def __init__(
        self, handle: str, state: SessionState, device_names: list[str], peer_of: Callable[[str], wire.Peer]
    ) -> None:
        self.state = state
        self.functions = RemoteFunctions(handle, peer_of)
        self.device_names = device_names
        self.peer_of = peer_of
        self.graphs: dict[str, _RegisteredGraph] = {}


class _RegisteredGraph:
    """A part of a graph with its plan: values come and go by rendezvous key."""

    def __init__(
        self,
        graph_def: graph_pb2.GraphDef,
        config: config_pb2.ConfigProto,
        state: SessionState,
        device_names: list[str],
    ) -> None:
        graph = Graph()
        with graph.as_default():
            try:
                import_graph_def(adapted(graph_def), name="")
            except (ValueError, TypeError) as e:
                raise errors.InvalidArgumentError(None, None, f"A part of the graph can't be read: {e}") from None
        ops = graph.get_operations()
        ends = [(op, edges.key_of(op.attrs)) for op in ops if op.type in (edges.SEND, edges.RECV)]
        self.ends = {op.name: (key, _dtype_of(op)) for op, key in ends}
        client = {op for op, _ in ends if op.attrs["client_terminated"]}
        self._feeds = {key: op.outputs[0] for op, key in ends if op in client and op.type == edges.RECV}
        self._fetches = {key: op.inputs[0] for op, key in ends if op in client and op.type == edges.SEND}
        # What is received in no branch or loop is asked for at once.
        self._asked = _together(
            [(op, key) for op, key in ends if op not in client and op.type == edges.RECV and not op.control_inputs]
        )
        used = {t.op for op in ops if op not in client for t in op.inputs} | {
            c for op in ops for c in op.control_inputs
        }
        targets = [op for op in ops if op not in used and op not in client]
        self._wanted = [*self._fetches.values(), *targets]
        self._is_cut = len(ends) > len(client)
        if self._is_cut:
            # Joining the updates of many variables would let the first of them wait for values that the last one needs.
            config.graph_options.rewrite_options.scoped_allocator_optimization = rewriter_config_pb2.RewriterConfig.OFF
        self._executor = LocalExecutor(graph, config, state=state, device_names=device_names)
        self._executor.extend()
        self._lock = threading.Lock()
        self._plan: Runnable | None = None

    def _compile(self, **options: Any) -> Runnable:
        return self._executor.compile(self._wanted, list(self._feeds.values()), as_created=self._is_cut, **options)

    def run(
        self,
        request: worker_pb2.RunGraphRequest,
        step: Step,
        carrier: Carrier,
        response: worker_pb2.RunGraphResponse,
    ) -> None:
        """One run: what was sent is fed, what is to be received is put into the response."""
        with self._lock:
            plan = self._plan
            if plan is None:
                plan = self._plan = self._compile(shaped=True)
        trace, started = None, time.time()
        if request.exec_opts.record_timeline or request.exec_opts.record_costs:
            trace = tracing.StepTrace()
            plan = self._compile(recorder=trace.record)
        for keys in self._asked:
            carrier.ask(keys)
        sent = {item.name: item.tensor for item in request.send}
        values = []
        for key, tensor in self._feeds.items():
            if key not in sent:
                raise errors.InvalidArgumentError(None, None, f"Nothing was sent for {key}")
            values.append(tensors.from_numpy(decode(sent[key], tensor.dtype.base_dtype)))
        results = dict(zip(self._fetches, plan(values, step), strict=False))
        for key in request.recv_key:
            if key not in results:
                raise errors.InvalidArgumentError(None, None, f"There is nothing to receive as {key}")
            response.recv.add(name=key, tensor=_result_proto(results[key], self._fetches[key].dtype.base_dtype))
        if trace is not None:
            trace.write(response.step_stats, started)
        if request.exec_opts.record_partition_graphs:
            response.partition_graph.extend(partition_graphs(plan.devices))


def _together(received: list[tuple[Operation, str]]) -> list[list[str]]:
    """Keys of `_Recv` nodes in groups that are asked for in one call: those of one task and one level."""
    groups: dict = {}
    for op, key in received:
        groups.setdefault(
            (edges.sending_task(key)[0], op.attrs[edges.LEVEL]) if edges.LEVEL in op.attrs else key, []
        ).append(key)
    return list(groups.values())


def _dtype_of(op: Operation) -> DType:
    return (op.inputs if op.type == edges.SEND else op.outputs)[0].dtype.base_dtype


def _result_proto(value: Value, dtype: DType) -> tensor_pb2.TensorProto:
    if not isinstance(value, (np.ndarray, np.generic, bytes)):
        raise errors.InvalidArgumentError(None, None, f"A {dtype.name} can't leave the process that holds it")
    return encode(value, dtype)


def _attributes_proto(device: devices.DeviceAttributes) -> device_attributes_pb2.DeviceAttributes:
    return device_attributes_pb2.DeviceAttributes(
        name=device.name,
        device_type=device.device_type,
        memory_limit=device.memory_limit_bytes,
        incarnation=device.incarnation,
    )
