"""What a Session with a `grpc://` target talks to: it sends the graph and what is fed, and gets back what was fetched."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from everflow.cluster import wire
from everflow.cluster.values import decode, encode
from everflow.framework import dtypes, errors
from everflow.framework.operation import Tensor
from everflow.protos import config_pb2, master_pb2
from everflow.runtime.devices import DeviceAttributes
from everflow.runtime.feeds import array_converter

if TYPE_CHECKING:
    import numpy as np
    from google.protobuf.message import Message

    from everflow.framework.graph import Graph
    from everflow.framework.hints import Element
    from everflow.protos import tensor_pb2

# A server ends a run at its time limit itself; this is for one that has stopped answering.
_GRACE_SECONDS = 5.0


class RemoteExecutor:
    """The engine behind a session on a server."""

    def __init__(self, target: str, graph: Graph, config: config_pb2.ConfigProto | None = None) -> None:
        self.graph = graph
        self.config = config if config is not None else config_pb2.ConfigProto()
        self.extended_to = -1
        self._target = target
        self._peer = wire.Peer(target.removeprefix("grpc://"), target)
        self._lock = threading.Lock()
        self._handle = ""
        self._sent_version = 0
        self._converters: dict[Tensor, Callable[[Any], np.ndarray]] = {}

    def _call(self, method: str, request: Message, timeout_in_ms: int = 0, *, wait: bool = False) -> Any:
        return self._peer.call(method, request, timeout=wire.seconds(timeout_in_ms), wait=wait)

    def list_devices(self) -> list[DeviceAttributes]:
        if not self._handle:  # which devices there are depends on the session's filters and cluster
            self.extend()
        request = master_pb2.ListDevicesRequest(session_handle=self._handle)
        response = self._call("ListDevices", request, self.config.operation_timeout_in_ms, wait=True)
        return [
            DeviceAttributes(d.name, d.device_type, d.memory_limit, d.incarnation)
            for d in [*response.local_device, *response.remote_device]
        ]

    def extend(self) -> None:
        """Send what was added to the graph since the last run."""
        with self._lock:
            if self.graph.version == self.extended_to:
                return
            if not self._handle:
                graph_def, version = self.graph._as_graph_def()
                request = master_pb2.CreateSessionRequest(graph_def=graph_def, config=self.config, target=self._target)
                # Tasks of a cluster start in any order, so we wait for the server.
                response = self._call("CreateSession", request, self.config.operation_timeout_in_ms, wait=True)
                self._handle = response.session_handle
            else:
                graph_def, version = self.graph._as_graph_def(from_version=self.extended_to)
                request = master_pb2.ExtendSessionRequest(
                    session_handle=self._handle, graph_def=graph_def, current_graph_version=self._sent_version
                )
                response = self._call("ExtendSession", request)
            self._sent_version = (
                response.new_graph_version if hasattr(response, "new_graph_version") else response.graph_version
            )
            self.extended_to = version

    def prepare(self, fetches: list[Element], feeds: list[Tensor]) -> _RemoteRun:
        """A run of these fetches and feeds: `call(values)` does it once."""
        return _RemoteRun(self, fetches, feeds)

    def prepare_any_shapes(self, fetches: list[Element], feeds: list[Tensor]) -> Callable[[Sequence[Any]], list[Any]]:
        """The function of a run; the servers see to shapes."""
        return _RemoteRun(self, fetches, feeds).call

    def run_with_options(
        self,
        fetches: list[Element],
        feeds: Mapping[Tensor, Any],
        options: config_pb2.RunOptions | None,
        run_metadata: config_pb2.RunMetadata | None,
    ) -> list[Any]:
        """A run with a time limit or a trace; what was asked for goes into `run_metadata`."""
        return _RemoteRun(self, fetches, list(feeds)).run(feeds.values(), options, run_metadata)

    def converter(self, tensor: Tensor) -> Callable[[Any], np.ndarray]:
        """What turns a fed value into an array of the tensor's type."""
        found = self._converters.get(tensor)
        if found is None:
            found = self._converters[tensor] = array_converter(tensor)
        return found

    def step(
        self, request: master_pb2.RunStepRequest, timeout_in_ms: int, metadata: config_pb2.RunMetadata | None = None
    ) -> dict[str, tensor_pb2.TensorProto]:
        """One RunStep: tensor name → TensorProto."""
        request.session_handle = self._handle
        request.store_errors_in_response_body = True
        timeout = timeout_in_ms + int(_GRACE_SECONDS * 1000) if timeout_in_ms else 0
        try:
            master = wire.MASTERS_HERE.get(self._target)
            response = (
                self._call("RunStep", request, timeout) if master is None else master.RunStep(request, wire.Call())
            )
            if response.status_code:
                raise wire.error_of(response.status_code, response.status_error_message)
        except errors.OpError as e:
            raise wire.located(e, self.graph) from None
        if metadata is not None:
            metadata.CopyFrom(response.metadata)
        return {item.name: item.tensor for item in response.tensor}

    # --- partial runs ------------------------------------------------------------------------

    def partial_run_setup(self, fetches: list[Element], feeds: list[Tensor]) -> str:
        self.extend()
        request = master_pb2.PartialRunSetupRequest(session_handle=self._handle, feed=[t.name for t in feeds])
        _name_fetches(request, fetches)
        return self._call("PartialRunSetup", request).partial_run_handle

    def partial_run(self, handle: str, fetches: list[Element], feeds: Mapping[Tensor, Any]) -> list[Any]:
        return _RemoteRun(self, fetches, list(feeds)).run(feeds.values(), None, None, handle)

    def compile(self, fetches: list[Element], feeds: list[Tensor], **options: Any) -> NoReturn:
        raise errors.UnimplementedError(
            None, None, "A plan is made where the graph runs; only a local session can show it"
        )

    # --- the end -----------------------------------------------------------------------------

    def reset(self, containers: list[str]) -> None:
        """Forget the objects of these containers on all tasks; sessions there end."""
        named = [c for c in containers if c]  # none means the default one
        request = master_pb2.ResetRequest(container=named, device_filters=self.config.device_filters)
        self._call("Reset", request, self.config.operation_timeout_in_ms, wait=True)

    def close(self) -> None:
        with self._lock:
            handle, self._handle = self._handle, ""
        if handle:
            try:
                self._call(
                    "CloseSession",
                    master_pb2.CloseSessionRequest(session_handle=handle),
                    self.config.operation_timeout_in_ms,
                )
            except (errors.AbortedError, errors.UnavailableError):
                pass  # the server has ended it already, or ended itself
        # The channel stays open until runs in other threads have heard of it.


class _RemoteRun:
    """A kind of run, ready to be sent."""

    def __init__(self, executor: RemoteExecutor, fetches: list[Element], feeds: list[Tensor]) -> None:
        self._executor = executor
        self._fetches = fetches
        self._feeds = feeds
        self._converters = [executor.converter(t) for t in feeds]
        self._fed = {t: i for i, t in enumerate(feeds)}
        self._timeout_in_ms = executor.config.operation_timeout_in_ms

    def call(self, values: Iterable[Any]) -> list[Any]:
        return self.run(values, None, None)

    def run(
        self,
        values: Iterable[Any],
        options: config_pb2.RunOptions | None,
        run_metadata: config_pb2.RunMetadata | None,
        partial_run_handle: str = "",
    ) -> list[Any]:
        arrays = [convert(value) for convert, value in zip(self._converters, values, strict=True)]
        request = master_pb2.RunStepRequest(options=options, partial_run_handle=partial_run_handle)
        for tensor, array in zip(self._feeds, arrays, strict=True):
            if tensor.dtype.base_dtype in (dtypes.resource, dtypes.variant):
                raise errors.InvalidArgumentError(
                    None, None, f"{tensor.name} is a {tensor.dtype.name}, which can't be fed to another process"
                )
            request.feed.add(name=tensor.name, tensor=encode(array, tensor.dtype.base_dtype))
        _name_fetches(request, [f for f in self._fetches if f not in self._fed])
        timeout = (options.timeout_in_ms if options is not None else 0) or self._timeout_in_ms
        found = self._executor.step(request, timeout, run_metadata)
        return [self._result(fetch, arrays, found) for fetch in self._fetches]

    def _result(self, fetch: Element, arrays: list[np.ndarray], found: dict[str, tensor_pb2.TensorProto]) -> Any:
        if not isinstance(fetch, Tensor):
            return None
        if fetch in self._fed:
            return arrays[self._fed[fetch]]
        return decode(found[fetch.name], fetch.dtype.base_dtype)[()]


def _name_fetches(
    request: master_pb2.RunStepRequest | master_pb2.PartialRunSetupRequest,
    fetches: list[Element],
) -> None:
    request.fetch.extend(dict.fromkeys(f.name for f in fetches if isinstance(f, Tensor)))
    request.target.extend(dict.fromkeys(f.name for f in fetches if not isinstance(f, Tensor)))
