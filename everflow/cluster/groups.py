"""Groups of devices for collective ops: one task, the leader, hears from all members and tells each who the others are.

It speaks TensorFlow's CompleteGroup. With its answer comes the address of a store by which the processes of the group
find each other; tensors then travel between them directly (`kernels/process_group.py`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from everflow.cluster import wire
from everflow.framework import errors
from everflow.kernels.exchange import Membership
from everflow.kernels.process_group import ProcessGroup, Store, timeout_of_environment
from everflow.protos import worker_pb2

if TYPE_CHECKING:
    from everflow.cluster.worker import Worker

_GRACE_SECONDS = 2.0


def _task_of(device: str) -> str:
    return device[: device.index("/device:")]


class _Forming:
    """A group that may still miss members."""

    def __init__(self, size: int, generation: int) -> None:
        self.size = size
        self.generation = generation
        self.devices: set[str] = set()

    @property
    def is_complete(self) -> bool:
        return len(self.devices) == self.size


class Leader:
    """Brings the members of groups together. A member that comes again has lost the others: a new group is formed."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._condition = threading.Condition()
        self._groups: dict[int, _Forming] = {}
        self._store: Store | None = None
        self._is_closed = False

    def close(self) -> None:
        """Whoever waits here for others is told that they won't come."""
        with self._condition:
            self._is_closed = True
            self._condition.notify_all()

    def complete(self, request: worker_pb2.CompleteGroupRequest, call: wire.Call) -> worker_pb2.CompleteGroupResponse:
        """Wait until all members of a group have come."""
        key, device = request.group_key, request.device_name[0]
        with self._condition:
            group = self._groups.get(key)
            if group is None or (group.is_complete and device in group.devices):
                generation = group.generation + 1 if group is not None else 0
                group = self._groups[key] = _Forming(request.group_size, generation)
            if group.size != request.group_size:
                text = f"{device} asks for group {key} of {request.group_size} members; others for one of {group.size}"
                raise errors.InternalError(None, None, text)
            if group.is_complete:
                text = f"{device} is not one of the {group.size} members of group {key}: {sorted(group.devices)}"
                raise errors.InternalError(None, None, text)
            group.devices.add(device)
            self._condition.notify_all()
            patience = timeout_of_environment().total_seconds()
            until = time.monotonic() + patience

            def give_up() -> None:
                if self._is_closed or not call.is_wanted:
                    group.devices.discard(device)
                    raise errors.CancelledError(None, None, f"{device} doesn't wait for group {key} any more")
                if time.monotonic() > until:
                    text = f"Of {group.size} members of group {key} only {sorted(group.devices)} came within {patience:g} s"
                    group.devices.discard(device)
                    raise errors.DeadlineExceededError(None, None, text)

            wire.wait_until(self._condition, lambda: group.is_complete, give_up)
            devices = sorted(group.devices)
            return worker_pb2.CompleteGroupResponse(
                group_key=key,
                group_size=group.size,
                device_type=request.device_type,
                num_tasks=len({_task_of(d) for d in devices}),
                device_name=devices,
                task_name=[_task_of(d) for d in devices],
                communicator_key=f"{self._address()}/{key}.{group.generation}".encode(),
            )

    def _address(self) -> str:
        """The address of the store, which begins when it is first needed; it listens where the server does."""
        if self._store is None:
            self._store = Store.serve(self._host)
        return self._store.address


class Groups:
    """The groups that devices of one task belong to."""

    def __init__(self, worker: Worker, leader: str, host: str, peer_of: Callable[[str], wire.Peer]) -> None:
        """`leader` is the leading task, `host` the address under which others reach this one."""
        self._worker = worker
        self._leader_task = leader
        self._leader = Leader(host)
        self._host = host
        self._peer_of = peer_of
        self._lock = threading.Lock()
        self._known: dict[str, Future[ProcessGroup]] = {}  # what the leader calls a group of processes → it

    def complete(self, request: worker_pb2.CompleteGroupRequest, call: wire.Call) -> worker_pb2.CompleteGroupResponse:
        return self._leader.complete(request, call)

    def resolve(self, group_key: int, group_size: int, device: str) -> Future[Membership]:
        """Ask for a group; it is there when all its members have asked."""
        made: Future[Membership] = Future()
        threading.Thread(
            target=self._ask, args=(group_key, group_size, device, made), daemon=True, name="everflow group"
        ).start()
        return made

    def _ask(self, group_key: int, group_size: int, device: str, made: Future[Membership]) -> None:
        request = worker_pb2.CompleteGroupRequest(
            group_key=group_key, group_size=group_size, device_type="CPU", device_name=[device], collective_type=1
        )
        try:
            if self._leader_task == self._worker.task:
                answer = self._leader.complete(request, wire.Call())
            else:
                # The leader gives up first, and says who is missing, if it can.
                patience = timeout_of_environment().total_seconds() + _GRACE_SECONDS
                answer = self._peer_of(self._leader_task).call("CompleteGroup", request, wait=True, timeout=patience)
            made.set_result(self._membership(answer))
        except BaseException as e:  # told to all who wait for the group
            made.set_exception(e)

    def _membership(self, answer: worker_pb2.CompleteGroupResponse) -> Membership:
        mine = [d for d in answer.device_name if _task_of(d) == self._worker.task]
        tasks = list(dict.fromkeys(answer.task_name))
        if len(tasks) == 1:
            return Membership(mine)
        name = answer.communicator_key.decode()
        with self._lock:
            future, is_first = self._known.get(name), name not in self._known
            if future is None:
                future = self._known[name] = Future()
        if is_first:
            try:
                future.set_result(self._connect(name, tasks.index(self._worker.task), len(tasks)))
            except BaseException as e:  # whoever else waits for it is told, too
                future.set_exception(e)
        return Membership(mine, future.result())

    def _connect(self, name: str, rank: int, size: int) -> ProcessGroup:
        address, _, prefix = name.partition("/")
        return ProcessGroup(Store.at(address).part(prefix), rank, size, self._host)

    def close(self) -> None:
        """Leave all groups."""
        self._leader.close()
        with self._lock:
            known, self._known = list(self._known.values()), {}
        for future in known:
            if future.done() and future.exception() is None and not future.result().is_broken:
                future.result().close()
