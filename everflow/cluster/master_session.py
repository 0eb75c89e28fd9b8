"""One session of a master: its graph, the runs it has cut over the tasks, and how one of them goes."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from everflow.cluster import wire
from everflow.cluster.partial import MasterPartialRun
from everflow.cluster.partition import partition, task_of
from everflow.framework import errors
from everflow.framework.devices import DeviceSpec
from everflow.framework.graph import Graph
from everflow.framework.importer import import_graph_def
from everflow.ops.functions.inlining import inlined, takes_handles
from everflow.protos import config_pb2, graph_pb2, tensorflow_server_pb2, worker_pb2
from everflow.runtime.plan.partition import cut
from everflow.runtime.plan.place import Placer
from everflow.runtime.plan.prune import prune

if TYPE_CHECKING:
    import grpc

    from everflow.cluster.worker import Worker
    from everflow.framework.hints import Element
    from everflow.framework.operation import Operation, Tensor
    from everflow.protos import device_attributes_pb2, tensor_pb2

_step_ids = itertools.count(int.from_bytes(os.urandom(5), "big") << 16)


@dataclass(slots=True)
class _TaskRun:
    """What one task has to do in a kind of run."""

    graph_handle: str
    feeds: dict[str, str]  # tensor name → rendezvous key
    fetches: dict[str, str]


class MasterSession:
    """A session that some client has opened here."""

    def __init__(
        self,
        handle: str,
        graph_def: graph_pb2.GraphDef,
        config: config_pb2.ConfigProto,
        worker: Worker,
        here: str,
        peers: Mapping[str, Any],
        devices: list[device_attributes_pb2.DeviceAttributes],
    ) -> None:
        self.handle = handle
        self.devices = devices
        self._config = config
        self._worker = worker
        self._here = here  # what the server's own task is called in this session
        self._peers = peers
        self._incarnations = {d.name: d.incarnation for d in devices}
        self._lock = threading.RLock()
        self._graph_def = graph_pb2.GraphDef()
        self._graph: Graph | None = None
        self._placer: Placer = None  # type: ignore[assignment]  # made with the graph
        self._runs: dict[tuple, dict[str, _TaskRun]] = {}  # (feeds, fetches, targets) → {task: _TaskRun}
        self._callables: dict[int, config_pb2.CallableOptions] = {}
        self._partial_runs: dict = {}
        self._serial = itertools.count(1)
        self._active: set[_Execution] = set()
        self._closed = False
        request = worker_pb2.CreateWorkerSessionRequest(
            session_handle=handle, isolate_session_state=config.isolate_session_state
        )
        for task, peer in peers.items():
            if config.cluster_def.job:
                spec = DeviceSpec.from_string(task)
                request.server_def.CopyFrom(
                    tensorflow_server_pb2.ServerDef(
                        cluster=config.cluster_def, job_name=spec.job, task_index=spec.task, protocol="grpc"
                    )
                )
            peer.call("CreateWorkerSession", request)
        self.extend(graph_def, 0)

    # --- the graph ---------------------------------------------------------------------------

    @property
    def version(self) -> int:
        return len(self._graph_def.node)

    def extend(self, graph_def: graph_pb2.GraphDef, current_version: int) -> int:
        """Take in more of the graph."""
        with self._lock:
            if current_version != self.version:
                text = f"The client's graph has {current_version} nodes here where the session has {self.version}"
                raise errors.AbortedError(None, None, text)
            known = {f.signature.name for f in self._graph_def.library.function}
            self._graph_def.node.extend(graph_def.node)
            self._graph_def.versions.CopyFrom(graph_def.versions)
            self._graph_def.library.function.extend(
                f for f in graph_def.library.function if f.signature.name not in known
            )
            self._graph_def.library.gradient.extend(
                g for g in graph_def.library.gradient if g not in self._graph_def.library.gradient
            )
            self._graph = None
            return self.version

    def graph(self) -> Graph:
        """The graph as far as it has come, placed on the cluster's devices."""
        with self._lock:
            if self._graph is None:
                graph = Graph()
                with graph.as_default():
                    try:
                        import_graph_def(self._over_tasks(), name="")
                    except (ValueError, TypeError) as e:
                        raise errors.InvalidArgumentError(None, None, str(e)) from None
                names = list(self._incarnations)
                self._placer = Placer(
                    names, soft=self._config.allow_soft_placement, log=self._config.log_device_placement
                )
                if not self._config.graph_options.place_pruned_graph:
                    self._placer.place(graph.get_operations())
                self._graph = graph
            return self._graph

    def _over_tasks(self) -> graph_pb2.GraphDef:
        """The graph with bodies of functions in the place of calls that take handles: what these stand for may be on
        several tasks, and stays there.
        """
        if len({task_of(name) for name in self._incarnations}) == 1 or not self._graph_def.library.function:
            return self._graph_def
        return inlined(self._graph_def, takes_handles(self._graph_def))

    def tensor(self, name: str) -> Tensor:
        try:
            return self.graph().get_tensor_by_name(name if ":" in name else f"{name}:0")
        except (KeyError, ValueError):
            raise errors.NotFoundError(None, None, f"Tensor {name} is not found in the graph") from None

    def operation(self, name: str) -> Operation:
        try:
            return self.graph().get_operation_by_name(name)
        except (KeyError, ValueError):
            raise errors.NotFoundError(None, None, f"Node {name} is not found in the graph") from None

    # --- runs --------------------------------------------------------------------------------

    def run(
        self,
        feeds: Mapping[str, tensor_pb2.TensorProto],
        fetches: list[str],
        targets: list[str],
        options: config_pb2.RunOptions,
        metadata: config_pb2.RunMetadata | None,
        call: wire.Call,
    ) -> list[tensor_pb2.TensorProto]:
        """One run: TensorProtos by tensor name in, one for each fetch out."""
        wanted = [name for name in fetches if name not in feeds]
        tasks = self._prepare(tuple(sorted(feeds)), tuple(wanted), tuple(targets))
        timeout = options.timeout_in_ms or self._config.operation_timeout_in_ms
        values = self._execute(tasks, feeds, timeout, options, metadata, call)
        if options.output_partition_graphs and metadata is not None:
            self._write_parts(metadata, list(feeds), wanted, targets)
        return [feeds[name] if name in feeds else values[name] for name in fetches]

    def _write_parts(
        self, metadata: config_pb2.RunMetadata, feeds: list[str], fetches: list[str], targets: list[str]
    ) -> None:
        wanted = [self.tensor(name) for name in fetches] + [self.operation(name) for name in targets]
        client = next(name for name in self._incarnations if task_of(name) == self._here)
        fed = [self.tensor(name) for name in feeds]
        for part in cut(self._placer.device_of, wanted, fed, client, self._incarnations):
            part.versions.CopyFrom(self._graph_def.versions)
            part.library.CopyFrom(self._graph_def.library)
            metadata.partition_graphs.append(part)

    def _prepare(
        self,
        feeds: tuple[str, ...],
        fetches: tuple[str, ...],
        targets: tuple[str, ...],
    ) -> dict[str, _TaskRun]:
        key = feeds, fetches, targets
        with self._lock:
            if key not in self._runs:
                wanted = [self.tensor(name) for name in fetches] + [self.operation(name) for name in targets]
                self._runs[key] = self.register(wanted, [self.tensor(name) for name in feeds])
            return self._runs[key]

    def register(
        self,
        wanted: list[Element],
        fed: list[Tensor],
        done: frozenset[Operation] = frozenset(),
    ) -> dict[str, _TaskRun]:
        """Cut a run of tensors and operations over the tasks, and give each its part."""
        graph = self.graph()
        pruned = prune(wanted, fed, done)
        if self._config.graph_options.place_pruned_graph:
            self._placer.place([n.op for n in pruned.nodes])
        parts = partition(pruned, fed, self._placer.device_of, self._incarnations, graph, self._here)
        tasks = {}
        for task, part in parts.items():
            request = worker_pb2.RegisterGraphRequest(
                session_handle=self.handle,
                create_worker_session_called=True,
                graph_def=part.graph_def,
                graph_options=self._config.graph_options,
            )
            handle = self._peers[task].call("RegisterGraph", request).graph_handle
            tasks[task] = _TaskRun(handle, part.feeds, part.fetches)
        return tasks

    def _execute(
        self,
        tasks: dict[str, _TaskRun],
        feeds: Mapping[str, tensor_pb2.TensorProto],
        timeout_in_ms: int,
        options: config_pb2.RunOptions,
        metadata: config_pb2.RunMetadata | None,
        call: wire.Call,
    ) -> dict[str, tensor_pb2.TensorProto]:
        execution = _Execution(self, tasks, feeds, timeout_in_ms, options, call)
        with self._lock:
            if self._closed:
                raise errors.CancelledError(None, None, "Session has been closed.")
            self._active.add(execution)
        try:
            return execution.run(metadata)
        finally:
            with self._lock:
                self._active.discard(execution)

    # --- callables and partial runs ----------------------------------------------------------

    def make_callable(self, options: config_pb2.CallableOptions) -> int:
        handle = next(self._serial)
        self._callables[handle] = options
        return handle

    def run_callable(
        self, handle: int, feeds: list[tensor_pb2.TensorProto], metadata: config_pb2.RunMetadata, call: wire.Call
    ) -> list[tensor_pb2.TensorProto]:
        options = self._callables.get(handle)
        if options is None:
            raise errors.InvalidArgumentError(None, None, f"No such callable handle: {handle}")
        if len(feeds) != len(options.feed):
            raise errors.InvalidArgumentError(
                None, None, f"The callable takes {len(options.feed)} values, not {len(feeds)}"
            )
        fed = dict(zip(options.feed, feeds, strict=True))
        return self.run(fed, list(options.fetch), list(options.target), options.run_options, metadata, call)

    def release_callable(self, handle: int) -> None:
        self._callables.pop(handle, None)

    def partial_run_setup(self, feeds: list[str], fetches: list[str], targets: list[str]) -> str:
        wanted = [self.tensor(n) for n in fetches] + [self.operation(n) for n in targets]
        handle = str(next(self._serial))
        self._partial_runs[handle] = MasterPartialRun(self, wanted, [self.tensor(n) for n in feeds])
        return handle

    def partial_run(
        self, handle: str, feeds: Mapping[str, tensor_pb2.TensorProto], fetches: list[str], targets: list[str]
    ) -> list[tensor_pb2.TensorProto]:
        found = self._partial_runs.get(handle)
        if found is None:
            raise errors.InvalidArgumentError(None, None, "Must run PartialRunSetup before performing partial runs!")
        wanted = [self.tensor(n) for n in fetches] + [self.operation(n) for n in targets]
        results = found.run(wanted, {self.tensor(n): v for n, v in feeds.items()})[: len(fetches)]
        if found.is_over:
            self._partial_runs.pop(handle, None)
        return results

    def run_tasks(
        self,
        tasks: dict[str, _TaskRun],
        feeds: Mapping[str, tensor_pb2.TensorProto],
    ) -> dict[str, tensor_pb2.TensorProto]:
        """A run that was registered by hand: tensor name → TensorProto, in and out."""
        return self._execute(
            tasks, feeds, self._config.operation_timeout_in_ms, config_pb2.RunOptions(), None, wire.Call()
        )

    def close(self) -> None:
        """Stop what is under way, and let the tasks forget this session."""
        with self._lock:
            self._closed = True
            active = list(self._active)
        for execution in active:
            execution.stop(
                errors.CancelledError(None, None, "Step was cancelled by an explicit call to `Session::Close()`.")
            )
        request = worker_pb2.DeleteWorkerSessionRequest(session_handle=self.handle)
        for peer in self._peers.values():
            with contextlib.suppress(errors.UnavailableError, errors.DeadlineExceededError):
                peer.call("DeleteWorkerSession", request, timeout=5.0)


class _Execution:
    """One run under way: the parts on other tasks as calls, the one here in this thread. The first failure ends them
    all.
    """

    def __init__(
        self,
        session: MasterSession,
        tasks: dict[str, _TaskRun],
        feeds: Mapping[str, tensor_pb2.TensorProto],
        timeout_in_ms: int,
        options: config_pb2.RunOptions,
        call: wire.Call,
    ) -> None:
        self._session = session
        self._tasks = tasks
        self._feeds = feeds
        self._timeout_in_ms = timeout_in_ms
        self._options = options
        self._call = call
        self._step_id = next(_step_ids)
        self._lock = threading.Lock()
        self._calls: dict[str, grpc.Future] = {}
        self._cancel_here: Callable[[], None] | None = None
        self._error: errors.OpError | None = None

    def run(self, metadata: config_pb2.RunMetadata | None) -> dict[str, tensor_pb2.TensorProto]:
        session, here = self._session, self._session._here
        self._call.when_over(lambda: self.stop(errors.CancelledError(None, None, "The caller has gone away.")))
        deadline = time.monotonic() + self._timeout_in_ms / 1000.0 if self._timeout_in_ms > 0 else None
        values: dict[str, tensor_pb2.TensorProto] = {}
        try:
            for task in self._tasks:
                if task != here:
                    self._start(task, deadline)
            if here in self._tasks:
                self._run_here(here, values, metadata)
            for task, future in self._calls.items():
                try:
                    response = session._peers[task].finish(future)
                except errors.OpError as e:
                    self.stop(e)
                else:
                    self._collect(task, response, values, metadata)
        except BaseException:
            self._clean_up()
            raise
        if self._error is not None:
            self._clean_up()
            raise self._error
        return values

    def _request(self, task: str) -> worker_pb2.RunGraphRequest:
        run = self._tasks[task]
        request = worker_pb2.RunGraphRequest(
            session_handle=self._session.handle,
            create_worker_session_called=True,
            graph_handle=run.graph_handle,
            step_id=self._step_id,
            recv_key=run.fetches.values(),
            store_errors_in_response_body=True,
        )
        request.exec_opts.record_timeline = self._options.trace_level > 0
        for name, key in run.feeds.items():
            request.send.add(name=key, tensor=self._feeds[name])
        return request

    def _start(self, task: str, deadline: float | None) -> None:
        peer = self._session._peers[task]
        future = peer.start("RunGraph", self._request(task), timeout=wire.until(deadline))
        with self._lock:
            self._calls[task] = future
        future.add_done_callback(lambda done: self._check(peer, done))

    def _check(self, peer: wire.Peer, future: grpc.Future) -> None:
        """Stop the others as soon as one part has failed."""
        if future.cancelled():
            return
        error = future.exception()
        if error is not None:
            self.stop(peer.error(error))
        elif future.result().status_code:
            self.stop(_stored_error(future.result()))

    def _run_here(
        self,
        here: str,
        values: dict[str, tensor_pb2.TensorProto],
        metadata: config_pb2.RunMetadata | None,
    ) -> None:
        def register(cancel: Callable[[], None]) -> None:
            with self._lock:
                self._cancel_here = cancel
                stopped = self._error is not None
            if stopped:
                cancel()

        try:
            response = self._session._worker.start_here(self._request(here), self._timeout_in_ms, register)
        except errors.OpError as e:
            self.stop(e)
        else:
            self._collect(here, response, values, metadata)

    def _collect(
        self,
        task: str,
        response: worker_pb2.RunGraphResponse,
        values: dict[str, tensor_pb2.TensorProto],
        metadata: config_pb2.RunMetadata | None,
    ) -> None:
        if response.status_code:
            self.stop(_stored_error(response))
            return
        names = {key: name for name, key in self._tasks[task].fetches.items()}
        for item in response.recv:
            values[names[item.name]] = item.tensor
        if metadata is not None:
            metadata.step_stats.dev_stats.extend(response.step_stats.dev_stats)

    def stop(self, error: errors.OpError) -> None:
        """End the run with this error, unless it has ended with another one before."""
        with self._lock:
            if self._error is None:
                self._error = error
            calls, cancel_here = list(self._calls.values()), self._cancel_here
        for call in calls:
            call.cancel()
        if cancel_here is not None:
            cancel_here()

    def _clean_up(self) -> None:
        """After a failure, let every task forget what was sent and not taken; otherwise nothing is left."""
        request = worker_pb2.CleanupGraphRequest(step_id=self._step_id)
        for task in self._tasks:
            self._session._peers[task].start("CleanupGraph", request)


def _stored_error(response: worker_pb2.RunGraphResponse) -> errors.OpError:
    return wire.error_of(response.status_code, response.status_error_message)
