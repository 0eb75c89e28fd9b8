"""The part of a server that sessions talk to: it knows the cluster, keeps each session's graph, and runs it on the
tasks.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from everflow.cluster import wire
from everflow.cluster.cluster import ClusterSpec
from everflow.cluster.master_session import MasterSession
from everflow.framework import errors
from everflow.framework.devices import DeviceSpec
from everflow.protos import master_pb2, worker_pb2

if TYPE_CHECKING:
    from everflow.cluster.worker import Worker
    from everflow.protos import config_pb2, device_attributes_pb2


class Master:
    """Serves `tensorflow.MasterService` for one task. `peers` has a peer for every other task, by task name."""

    def __init__(self, worker: Worker, peers: dict[str, wire.Peer], default_config: config_pb2.ConfigProto) -> None:
        self._worker = worker
        self._here = wire.LocalPeer(worker)
        self._peers = peers
        self._default_config = default_config
        self._lock = threading.Lock()
        self._sessions: dict[str, MasterSession] = {}
        self._serial = itertools.count(int.from_bytes(os.urandom(6), "big"))

    def CreateSession(
        self,
        request: master_pb2.CreateSessionRequest,
        call: wire.Call,
    ) -> master_pb2.CreateSessionResponse:
        config = type(self._default_config)()
        config.CopyFrom(self._default_config)
        config.MergeFrom(request.config)
        if config.HasField("cluster_def"):
            here, peers = self._tasks_of_client(config, request.target)
        else:
            here, peers = self._worker.task, self._filtered(self._peers, config.device_filters)
        devices = self._devices({here: self._here, **peers}, call)
        handle = f"{next(self._serial):016x}"
        session = MasterSession(
            handle, request.graph_def, config, self._worker, here, {here: self._here, **peers}, devices
        )
        with self._lock:
            self._sessions[handle] = session
        return master_pb2.CreateSessionResponse(session_handle=handle, graph_version=session.version)

    def ExtendSession(
        self,
        request: master_pb2.ExtendSessionRequest,
        call: wire.Call,
    ) -> master_pb2.ExtendSessionResponse:
        version = self._session(request.session_handle).extend(request.graph_def, request.current_graph_version)
        return master_pb2.ExtendSessionResponse(new_graph_version=version)

    def RunStep(self, request: master_pb2.RunStepRequest, call: wire.Call) -> master_pb2.RunStepResponse:
        response = master_pb2.RunStepResponse()
        try:
            session = self._session(request.session_handle)
            feeds = {item.name: item.tensor for item in request.feed}
            arguments = feeds, list(request.fetch), list(request.target)
            if request.partial_run_handle:
                values = session.partial_run(request.partial_run_handle, *arguments)
            else:
                values = session.run(*arguments, request.options, response.metadata, call)
        except errors.OpError as e:
            if not request.store_errors_in_response_body:
                raise
            wire.store(wire.status_of(e), response)
            return response
        for name, value in zip(request.fetch, values, strict=True):
            response.tensor.add(name=name, tensor=value)
        return response

    def PartialRunSetup(
        self,
        request: master_pb2.PartialRunSetupRequest,
        call: wire.Call,
    ) -> master_pb2.PartialRunSetupResponse:
        session = self._session(request.session_handle)
        handle = session.partial_run_setup(list(request.feed), list(request.fetch), list(request.target))
        return master_pb2.PartialRunSetupResponse(partial_run_handle=handle)

    def MakeCallable(self, request: master_pb2.MakeCallableRequest, call: wire.Call) -> master_pb2.MakeCallableResponse:
        return master_pb2.MakeCallableResponse(
            handle=self._session(request.session_handle).make_callable(request.options)
        )

    def RunCallable(self, request: master_pb2.RunCallableRequest, call: wire.Call) -> master_pb2.RunCallableResponse:
        response = master_pb2.RunCallableResponse()
        values = self._session(request.session_handle).run_callable(
            request.handle, list(request.feed), response.metadata, call
        )
        response.fetch.extend(values)
        return response

    def ReleaseCallable(
        self,
        request: master_pb2.ReleaseCallableRequest,
        call: wire.Call,
    ) -> master_pb2.ReleaseCallableResponse:
        self._session(request.session_handle).release_callable(request.handle)
        return master_pb2.ReleaseCallableResponse()

    def CloseSession(self, request: master_pb2.CloseSessionRequest, call: wire.Call) -> master_pb2.CloseSessionResponse:
        session = self._session(request.session_handle)
        with self._lock:
            self._sessions.pop(request.session_handle, None)
        session.close()
        return master_pb2.CloseSessionResponse()

    def ListDevices(self, request: master_pb2.ListDevicesRequest, call: wire.Call) -> master_pb2.ListDevicesResponse:
        if request.session_handle:
            devices = self._session(request.session_handle).devices
        else:
            devices = self._devices({self._worker.task: self._here, **self._peers}, call)
        count = len(self._worker.attributes)
        return master_pb2.ListDevicesResponse(local_device=devices[:count], remote_device=devices[count:])

    def Reset(self, request: master_pb2.ResetRequest, call: wire.Call) -> master_pb2.ResetResponse:
        """Forget what containers hold, on every task. Sessions end with it, for their plans hold what is forgotten."""
        with self._lock:
            sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            session.close()
        peers: list[wire.Peer | wire.LocalPeer] = [
            self._here,
            *self._filtered(self._peers, request.device_filters).values(),
        ]
        for peer in peers:
            peer.call("CleanupAll", worker_pb2.CleanupAllRequest(container=request.container))
        return master_pb2.ResetResponse()

    def _session(self, handle: str) -> MasterSession:
        with self._lock:
            found = self._sessions.get(handle)
        if found is None:
            raise errors.AbortedError(
                None, None, f"Session {handle} is not found. Its server was reset or restarted, or the session closed."
            )
        return found

    def _tasks_of_client(self, config: config_pb2.ConfigProto, target: str) -> tuple[str, dict[str, wire.Peer]]:
        """This task's name and the others in the cluster that a client brought: names are those of its session only."""
        addresses = ClusterSpec(config.cluster_def).addresses()
        mine = [task for task, address in addresses.items() if address == target.removeprefix("grpc://")]
        if not mine:
            text = f"The cluster of the session, {config.cluster_def}, doesn't have the server it talks to, {target!r}"
            raise errors.InvalidArgumentError(None, None, text)
        peers = {task: wire.Peer(address, task) for task, address in addresses.items() if task != mine[0]}
        return mine[0], self._filtered(peers, config.device_filters)

    @staticmethod
    def _filtered(peers: dict[str, wire.Peer], filters: Iterable[str]) -> dict[str, wire.Peer]:
        """The tasks that fit one of the filters; all of them without filters."""
        wanted = [DeviceSpec.from_string(text) for text in filters]
        return {task: peer for task, peer in peers.items() if not wanted or any(_fits(task, w) for w in wanted)}

    def _devices(self, peers: Mapping[str, Any], call: wire.Call) -> list[device_attributes_pb2.DeviceAttributes]:
        """The devices of tasks, those of this one first; waits until all of them are there."""
        here = next((task for task, peer in peers.items() if peer is self._here), self._worker.task)
        devices = wire.renamed(self._worker.attributes, here)
        others = {task: peer for task, peer in peers.items() if peer is not self._here}
        for task, status in wire.statuses(others, "CreateSession", call).items():
            devices += wire.renamed(status.device_attributes, task)
        return devices


def _fits(task: str, wanted: DeviceSpec) -> bool:
    mine = DeviceSpec.from_string(task)
    return all(
        a is None or a == b
        for a, b in ((wanted.job, mine.job), (wanted.replica, mine.replica), (wanted.task, mine.task))
    )
