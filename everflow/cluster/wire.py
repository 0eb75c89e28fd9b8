"""The calls between tasks: TensorFlow's MasterService, WorkerService and EagerService over gRPC, and errors that keep their kind on
the way.

Messages are protos whatever they carry, so nothing that arrives is ever executed as code; what they hold is checked
where it is used.
"""

from __future__ import annotations

import math
import pathlib
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent import futures
from typing import TYPE_CHECKING, Any

import grpc

from everflow.cluster import lanes
from everflow.cluster.greeting import check_greeting
from everflow.cluster.values import Parcel, described_size, fill, of_description
from everflow.framework import errors
from everflow.platform import logging
from everflow.platform.trust import Trust, listening_address, trust
from everflow.protos import device_attributes_pb2, eager_service_pb2, master_pb2, worker_pb2

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from everflow.cluster.master import Master
    from everflow.framework.graph import Graph
    from everflow.framework.operation import Operation

MASTER, WORKER, EAGER = "tensorflow.MasterService", "tensorflow.WorkerService", "tensorflow.eager.EagerService"
_METHODS = {
    MASTER: (
        master_pb2,
        "CreateSession ExtendSession PartialRunSetup RunStep CloseSession ListDevices Reset MakeCallable RunCallable ReleaseCallable",
    ),
    WORKER: (
        worker_pb2,
        "GetStatus CreateWorkerSession DeleteWorkerSession RegisterGraph DeregisterGraph RunGraph CleanupGraph CleanupAll RecvTensor CompleteGroup",
    ),
    EAGER: (
        eager_service_pb2,
        "CreateContext Enqueue WaitQueueDone KeepAlive CloseContext RegisterFunction",
    ),
}
# service → method → (request class, response class)
SERVICES = {
    service: {name: (getattr(module, f"{name}Request"), getattr(module, f"{name}Response")) for name in names.split()}
    for service, (module, names) in _METHODS.items()
}
# Between two of ours: a ticket for large values comes in RecvTensor's answer, and for the ticket their bytes, in pieces.
IN_PIECES = "everflow/pieces"
_PIECES, _LANES = "everflow.Pieces", "everflow.Lanes"
# What also goes on lanes.
ON_LANES = {**SERVICES[WORKER], **SERVICES[EAGER]}
_OPTIONS = [
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.so_reuseport", 0),  # two servers on one port would share its calls
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
]
_SERVER_OPTIONS = [
    ("grpc.server_handshake_timeout_ms", 10_000),  # for who connects and then says nothing
    ("grpc.http2.min_ping_interval_without_data_ms", 500),  # peers may ask often whether we are there
    ("grpc.http2.max_ping_strikes", 0),
]
# Calls under way, each of which has a thread: far more than a cluster makes, and few enough to live with.
_MOST_CALLS = 16_384
_SECRET = "everflow-secret"
_STATUS = {code.value[0]: code for code in grpc.StatusCode}
# A status travels in a header, which takes 8 kB; longer messages are carried in the response where it has room for one.
_LONGEST_STATUS = 3000
_OURS = (("everflow", "1"),)  # comes with each answer, so that peers know one of us
_LOG_EVERY_SECONDS = 10.0
_GREETING_SECONDS = 2.0  # between two looks whether a task that we wait for could be talked to
_LANE_SECONDS = 1.0  # before a peer that had no lane is looked at again


class Threads(futures.Executor):
    """As many threads as there are calls under way: one that waits for a queue must not keep another from filling it.

    They end with the process, unlike those of ThreadPoolExecutor, which would wait for a blocked call for ever.
    """

    def __init__(self, idle_seconds: float = 5.0) -> None:
        self._condition = threading.Condition()
        self._waiting: list = []
        self._idle = 0
        self._idle_seconds = idle_seconds

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future:
        future: futures.Future = futures.Future()
        with self._condition:
            self._waiting.append((future, fn, args, kwargs))
            if self._idle >= len(self._waiting):
                self._condition.notify()
            else:
                threading.Thread(target=self._work, daemon=True, name="everflow call").start()
        return future

    def _work(self) -> None:
        while True:
            with self._condition:
                if not self._waiting:
                    self._idle += 1
                    self._condition.wait_for(lambda: self._waiting, self._idle_seconds)
                    self._idle -= 1
                if not self._waiting:
                    return
                future, fn, args, kwargs = self._waiting.pop(0)
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as e:  # whoever holds the future is told
                future.set_exception(e)
            del future, fn, args, kwargs  # an idle thread keeps nothing alive


# --- serving --------------------------------------------------------------------------------


def make_server(implementations: dict[str, object], place: Callable[[], bytes]) -> grpc.Server:
    """A gRPC server for objects whose methods `CreateSession(request, call)` and so on serve; `call` is what is known
    of the caller. `place()` is what callers are told of lanes between machines.
    """
    told = trust()
    server = grpc.server(
        Threads(),
        interceptors=[_Doorkeeper(told)] if told.secret else [],
        options=_options(told) + _SERVER_OPTIONS,
        maximum_concurrent_rpcs=_MOST_CALLS,
    )
    for service, implementation in implementations.items():
        handlers = {
            name: grpc.unary_unary_rpc_method_handler(
                _handler(getattr(implementation, name)), request.FromString, response.SerializeToString
            )
            for name, (request, response) in SERVICES[service].items()
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    take = {"Take": grpc.unary_stream_rpc_method_handler(_in_pieces(implementations[WORKER]))}
    tell = {"Place": grpc.unary_unary_rpc_method_handler(lambda request, context: place())}
    for service, handlers in ((_PIECES, take), (_LANES, tell)):
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    return server


def _in_pieces(worker: Any) -> Callable:
    def handle(ticket: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        try:
            yield from worker.pieces(ticket)
        except errors.OpError as e:
            code, message = status_of(e)
            context.abort(_STATUS.get(code, grpc.StatusCode.UNKNOWN), message[:_LONGEST_STATUS])

    return handle


def listen(server: grpc.Server, host: str, port: int) -> int:
    """Have a server listen at the address of a host, with TLS where there are certificates; gives the port."""
    told, address = trust(), listening_address(host)
    place = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    if not told.is_encrypted:
        return server.add_insecure_port(place)
    pair = pathlib.Path(told.key).read_bytes(), pathlib.Path(told.certificate).read_bytes()
    authority = pathlib.Path(told.authority).read_bytes()
    return server.add_secure_port(place, grpc.ssl_server_credentials([pair], authority, require_client_auth=True))


def _options(told: Trust) -> list[tuple[str, Any]]:
    made: list[tuple[str, Any]] = [*_OPTIONS, ("grpc.max_receive_message_length", told.longest_message or -1)]
    if told.patience:  # half of it between two questions, half for the answer
        half = max(1, int(told.patience * 500))
        made += [("grpc.keepalive_time_ms", half), ("grpc.keepalive_timeout_ms", half)]
        made += [("grpc.http2.ping_timeout_ms", half), ("grpc.http2.max_pings_without_data", 0)]
    return made


class _Doorkeeper(grpc.ServerInterceptor):
    """Turns away who doesn't know the secret, before anything of the request is read."""

    def __init__(self, told: Trust) -> None:
        self._told = told

        def refuse(request: bytes, context: grpc.ServicerContext) -> None:
            text = "This server wants a secret that the caller doesn't have: set EVERFLOW_CLUSTER_SECRET alike in all processes"
            context.abort(grpc.StatusCode.UNAUTHENTICATED, text)

        self._refusal = grpc.unary_unary_rpc_method_handler(refuse)

    def intercept_service(self, continuation: Callable, handler_call_details: Any) -> Any:
        words = [value for name, value in handler_call_details.invocation_metadata if name == _SECRET]
        if len(words) == 1 and self._told.knows(words[0]):
            return continuation(handler_call_details)
        return self._refusal


def _handler(method: Callable) -> Callable:
    def handle(request: Message, context: grpc.ServicerContext) -> Any:
        try:
            context.send_initial_metadata(_OURS)
            return method(request, Call(context))
        except errors.OpError as e:
            code, message = status_of(e)
            context.abort(_STATUS.get(code, grpc.StatusCode.UNKNOWN), message[:_LONGEST_STATUS])
        except Exception as e:  # the other side is told
            context.abort(grpc.StatusCode.INTERNAL, f"{type(e).__name__}: {e}"[:_LONGEST_STATUS])

    return handle


class Call:
    """The other end of a call that is being served."""

    def __init__(self, context: grpc.ServicerContext | None = None) -> None:
        self._context = context

    @property
    def is_wanted(self) -> bool:
        """Whether somebody still waits for the answer."""
        return self._context is None or self._context.is_active()

    def when_over(self, action: Callable[[], None]) -> None:
        """Have `action()` called when the call ends, also because the caller gave up."""
        if self._context is not None and not self._context.add_callback(action):
            action()


# --- calling --------------------------------------------------------------------------------

# Target → the master that serves it in this very process. A session here runs its steps there without the network.
MASTERS_HERE: dict[str, Master] = {}


class Peer:
    """A task that can be called."""

    def __init__(self, address: str, name: str = "") -> None:
        self.address = address
        self._name = name or address
        self._told = told = trust()
        self._channel = _channel(address, told)
        self._metadata = ((_SECRET, told.secret),) if told.secret else None
        self._calls = {
            name: self._channel.unary_unary(f"/{service}/{name}", request.SerializeToString, response.FromString)
            for service, methods in SERVICES.items()
            for name, (request, response) in methods.items()
        }
        self._take = self._channel.unary_stream(f"/{_PIECES}/Take")
        self._place = self._channel.unary_unary(f"/{_LANES}/Place")
        self.is_ours = False  # until an answer tells
        self._lane: lanes.Lane | None = None
        self._lane_lock = threading.Lock()
        self._look_again = 0.0  # for a lane, when this time has come

    def lane(self) -> lanes.Lane | None:
        """The short way to this task, where there is one."""
        lane = self._lane
        if (lane is None or not lane.is_open) and time.monotonic() >= self._look_again:
            with self._lane_lock:
                if self._lane is None or not self._lane.is_open:
                    self._lane = lanes.connect(self.address)
                    if self._lane is None and self.is_ours:
                        self._lane = lanes.connect_between_machines(self.address, self._ask_for_place)
                    self._look_again = time.monotonic() + _LANE_SECONDS
                lane = self._lane
        return lane if lane is not None and lane.is_open else None

    def _ask_for_place(self) -> bytes:
        try:
            return self._place(b"", timeout=_LANE_SECONDS, metadata=self._metadata)
        except grpc.RpcError:
            return b""  # it has gone, or is one of us of old

    def start(self, method: str, request: Message, *, timeout: float | None = None, wait: bool = False) -> Any:
        """Begin a call; with `wait` it waits for a task that is not up yet."""
        lane = self.lane() if not wait and method in ON_LANES else None
        if lane is not None:
            return lane.start(method, request, ON_LANES[method][1], timeout)
        return self._calls[method].future(request, timeout=timeout, wait_for_ready=wait, metadata=self._metadata)

    def finish(self, future: Any) -> Any:
        """The answer of a call, or the error it ended with; an interrupt gives the call up."""
        try:
            result = future.result()
            if not self.is_ours and isinstance(future, grpc.Call):
                self.is_ours = any(item in _OURS for item in future.initial_metadata() or ())
            return result
        except grpc.RpcError as e:
            raise self.error(e) from None
        except grpc.FutureCancelledError:
            raise errors.CancelledError(None, None, f"The call to {self._name} was cancelled") from None
        except BaseException:
            future.cancel()
            raise

    def call(self, method: str, request: Message, *, timeout: float | None = None, wait: bool = False) -> Any:
        """One call from beginning to end."""
        future = self.start(method, request, timeout=timeout, wait=wait)
        if wait:
            done = threading.Event()
            future.add_done_callback(lambda _: done.set())
            while not done.wait(_GREETING_SECONDS):
                self.check_greeting(future)
        return self.finish(future)

    def check_greeting(self, waiting: Any) -> None:
        """Give up a call that waits for a task where that could never be talked to."""
        try:
            check_greeting(self.address, self._told)
        except BaseException:
            waiting.cancel()
            raise

    def take(self, ticket: bytes) -> list[Parcel]:
        """The large values of a ticket, which has their description."""
        number, description = ticket[:8], ticket[8:]
        size = described_size(description)
        if self._told.longest_message and size > self._told.longest_message:
            text = f"Values of {size} bytes from {self._name} are longer than EVERFLOW_CLUSTER_MESSAGE_LIMIT allows"
            raise errors.ResourceExhaustedError(None, None, text)
        parcels = of_description(description, size)
        try:
            fill(parcels, self._take(number, metadata=self._metadata))
        except grpc.RpcError as e:
            raise self.error(e) from None
        return parcels

    def error(self, error: Any) -> errors.OpError:
        """The error of a failed call, in the class its status has."""
        if isinstance(error, errors.OpError):  # it came on a lane
            return error
        code = error.code().value[0]
        message = error.details() or ""
        if code == errors.UNAVAILABLE:
            message = f"{self._name} can't be reached: {message}"
        return error_of(code, message)

    def close(self) -> None:
        self._look_again = math.inf
        if self._lane is not None:
            self._lane.close()
        self._channel.close()


def _channel(address: str, told: Trust) -> grpc.Channel:
    options = _options(told)
    if not told.is_encrypted:
        return grpc.insecure_channel(address, options=options)
    authority, key, certificate = (
        pathlib.Path(path).read_bytes() for path in (told.authority, told.key, told.certificate)
    )
    if told.server_name:
        options.append(("grpc.ssl_target_name_override", told.server_name))
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(authority, key, certificate), options=options)


def statuses(peers: Mapping[str, Peer], asking: str, call: Call) -> dict[str, worker_pb2.GetStatusResponse]:
    """What the tasks say of themselves, as soon as all are up; `asking` is what waits for them, for `call`."""
    waiting = {task: peer.start("GetStatus", worker_pb2.GetStatusRequest(), wait=True) for task, peer in peers.items()}
    logged = looked = time.monotonic()
    while late := [task for task, future in waiting.items() if not future.done()]:
        if not call.is_wanted:
            for future in waiting.values():
                future.cancel()
            raise errors.CancelledError(None, None, f"{asking} is not wanted any more")
        if time.monotonic() - looked > _GREETING_SECONDS:
            looked = time.monotonic()
            for task in late:
                peers[task].check_greeting(waiting[task])
        if time.monotonic() - logged > _LOG_EVERY_SECONDS:
            logged = time.monotonic()
            for task in late:
                logging.info("%s still waiting for response from worker: %s", asking, task)
        time.sleep(0.005)
    return {task: peers[task].finish(future) for task, future in waiting.items()}


class LocalPeer:
    """A task in this very process, called without the network."""

    def __init__(self, implementation: object) -> None:
        self._implementation = implementation

    def call(self, method: str, request: Message, **_: Any) -> Any:
        return getattr(self._implementation, method)(request, Call())

    start = call


def renamed(
    devices: Iterable[device_attributes_pb2.DeviceAttributes], task: str
) -> list[device_attributes_pb2.DeviceAttributes]:
    """Devices under the name that their task has in a session."""
    made = []
    for device in devices:
        made.append(device_attributes_pb2.DeviceAttributes())
        made[-1].CopyFrom(device)
        made[-1].name = task + device.name[device.name.index("/device:") :]
    return made


# --- errors ---------------------------------------------------------------------------------

# How messages name nodes here, and how they do on the way.
_NODE = re.compile(r"(?<=\[\[)node (\S+?)(?=\]\])|node (\S+) \(defined at [^\n]*?:\d+\) ?")
_SENT_NODE = re.compile(r"\{\{node ([^\s}]+)\}\}")


def status_of(error: errors.OpError) -> tuple[int, str]:
    """An error as it travels: its code, and a message that names nodes in a form in which the other side finds them."""
    return int(error.error_code), _NODE.sub(lambda match: f"{{{{node {match[1] or match[2]}}}}}", error.message)


def error_of(code: int, message: str) -> errors.OpError:
    """The error of a status."""
    return errors.of_code(code, None, None, message)


def store(status: tuple[int, str], response: Any) -> None:
    """Put the code and message of an error into a response that has room for them."""
    response.status_code, response.status_error_message = status


def located(error: errors.OpError, graph: Graph) -> errors.OpError:
    """An error that came from elsewhere, with the operation of this graph that it names and the line that made it."""
    found = _SENT_NODE.search(error.message)
    if found is None:
        return error

    def here(match: re.Match[str]) -> str:
        named = _operation(graph, match[1])
        frame = named.user_frame if named is not None else None
        return f"node {match[1]} (defined at {frame[0]}:{frame[1]}) " if frame else f"node {match[1]}"

    op = _operation(graph, found[1])
    message = _SENT_NODE.sub(here, error.message)
    return errors.of_code(error.error_code, op.node_def if op is not None else None, op, message)


def _operation(graph: Graph, name: str) -> Operation | None:
    try:
        return graph.get_operation_by_name(name)
    except KeyError:
        return None


# --- waiting --------------------------------------------------------------------------------


def wait_until(condition: threading.Condition, predicate: Callable[[], bool], give_up: Callable[[], None]) -> None:
    """Wait on a held condition until the predicate holds, asking now and then whether to give up (by raising)."""
    while not predicate():
        give_up()
        condition.wait(0.1)


def seconds(milliseconds: int) -> float | None:
    """A timeout as gRPC takes it."""
    return milliseconds / 1000.0 if milliseconds > 0 else None


def until(deadline: float | None) -> float | None:
    """Seconds that are left, at least a few."""
    return None if deadline is None else max(0.001, deadline - time.monotonic())
