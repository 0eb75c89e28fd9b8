"""Where the members of collective operations meet: devices of this process first, then this process and others.

A *group* is a set of devices, known by a key; an *instance* one thing that it does together, again in every run. Which
devices a group has, somebody else finds out (`Resolve`), for they may be in other processes.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from everflow.framework import errors
from everflow.kernels.process_group import BROADCAST, GATHER, REDUCE, ProcessGroup, Request

if TYPE_CHECKING:
    from everflow.kernels.context import Step

# In the container of a run: the Exchange that its collective ops use. A run that has none makes one for itself.
EXCHANGE = "collectives"


@dataclass(frozen=True, slots=True)
class Collective:
    """What an op asks for."""

    kind: str
    group_key: int
    group_size: int
    instance_key: int
    merge: str = "Add"
    divides: bool = False  # the sum becomes a mean


@dataclass(slots=True)
class Membership:
    """A group that is complete: its devices in this process, in order, and the way to the others, if there are any."""

    devices: list[str]
    processes: ProcessGroup | None = None


# (group key, group size, device) → the group, once it is complete.
Resolve = Callable[[int, int, str], "Future[Membership]"]


@dataclass(eq=False, slots=True)
class _Meeting:
    """One use of an instance: what the devices here have brought."""

    collective: Collective
    brought: dict[str, tuple[torch.Tensor, bool]] = field(default_factory=dict)  # device → (value, is it the source)
    future: Future = field(default_factory=Future)
    request: Request | None = None
    processes: ProcessGroup | None = None  # whom it was submitted to
    is_awaited: bool = False

    def hurry(self) -> None:
        """Somebody waits for the result now."""
        self.is_awaited = True
        if self.processes is not None and self.request is not None:
            self.processes.hurry(self.request)


@dataclass(eq=False, slots=True)
class Member:
    """What a device has brought; it waits for what comes of it."""

    exchange: Exchange
    meeting: _Meeting
    device: str

    def wait(self, step: Step) -> torch.Tensor:
        """The result, as soon as all members have come; memory that nobody else holds."""
        if not self.meeting.future.done():
            self.meeting.hurry()
        while True:
            try:
                result = self.meeting.future.result(timeout=step.patience())
            except NotYet:
                step.check()
                continue
            return result if next(iter(self.meeting.brought)) == self.device else result.clone()

    def release(self) -> None:
        """The run has failed: what it brought and nobody took is not wanted any more."""
        self.exchange.withdraw(self.meeting, self.device)


class Exchange:
    """The meetings of one process, or of one run."""

    def __init__(self, resolve: Resolve | None = None) -> None:
        self._resolve = resolve or LocalGroups().resolve
        self._lock = threading.RLock()
        self._groups: dict[int, _Group] = {}

    def start(self, collective: Collective, device: str, value: torch.Tensor, is_source: bool = False) -> Member:
        """Bring a device's value; whoever is last sets things going."""
        key = collective.group_key
        with self._lock:
            group = self._groups.get(key)
            if group is None or group.is_broken:
                group = self._groups[key] = _Group(collective.group_size)
            if group.size != collective.group_size:
                text = f"Group {key} has {group.size} members, and not {collective.group_size} as {device} says"
                raise errors.InternalError(None, None, text)
            is_new = device not in group.asked
            group.asked.add(device)
            meeting = group.meeting(collective, device)
            meeting.brought[device] = value, is_source
        if is_new:
            found = self._resolve(key, collective.group_size, device)
            found.add_done_callback(functools.partial(self._resolved, group))
        self._begin_ready(group)
        return Member(self, meeting, device)

    def withdraw(self, meeting: _Meeting, device: str) -> None:
        """Forget what a device brought, unless it is under way."""
        with self._lock:
            for group in self._groups.values():
                if meeting in group.meetings:
                    meeting.brought.pop(device, None)
                    if not meeting.brought:
                        group.meetings.remove(meeting)
                elif meeting.request is not None and group.membership is not None:
                    processes = group.membership.processes
                    if processes is not None and processes.withdraw(meeting.request):
                        meeting.request = None

    def _resolved(self, group: _Group, found: Future[Membership]) -> None:
        error = found.exception()
        with self._lock:
            if error is None:
                group.membership = found.result()
            else:
                group.error = error
                failed, group.meetings = group.meetings, []
        if error is None:
            self._begin_ready(group)
            return
        for meeting in failed:
            meeting.future.set_exception(error)

    def _begin_ready(self, group: _Group) -> None:
        with self._lock:
            membership = group.membership
            if membership is None:
                return
            ready = [m for m in group.meetings if m.brought.keys() >= set(membership.devices)]
            group.meetings = [m for m in group.meetings if m not in ready]
        for meeting in ready:
            try:
                _begin(meeting, membership)
            except Exception as e:  # told to all members
                meeting.future.set_exception(e)


class _Group:
    """A group as far as it is known here."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.asked: set[str] = set()  # devices here that have asked for it
        self.membership: Membership | None = None
        self.error: BaseException | None = None
        self.meetings: list[_Meeting] = []

    @property
    def is_broken(self) -> bool:
        processes = self.membership.processes if self.membership is not None else None
        return self.error is not None or (processes is not None and processes.is_broken)

    def meeting(self, collective: Collective, device: str) -> _Meeting:
        """The next use of an instance that waits for this device."""
        for meeting in self.meetings:
            if meeting.collective.instance_key == collective.instance_key and device not in meeting.brought:
                return meeting
        made = _Meeting(collective)
        self.meetings.append(made)
        return made


def _begin(meeting: _Meeting, membership: Membership) -> None:
    """All devices of this process are here: put their values together, and then those of all processes."""
    collective = meeting.collective
    brought = [meeting.brought[device] for device in membership.devices]
    values = [value for value, _ in brought]
    _check_alike(meeting, membership)
    is_source = any(source for _, source in brought)
    if collective.kind == REDUCE:
        value = functools.reduce(_MERGES[collective.merge], values)
    elif collective.kind == GATHER:
        value = torch.cat(values) if len(values) > 1 else values[0]
    else:
        value = next((v for v, source in brought if source), values[0])
    if membership.processes is None:
        # An input that comes out as it is would be somebody else's memory.
        meeting.future.set_result(_finished(collective, value.clone() if len(values) == 1 or is_source else value))
        return
    request = Request(collective.instance_key, collective.kind, value, collective.merge, is_source)
    meeting.request = request
    membership.processes.submit(request).add_done_callback(lambda done: _pass_on(done, meeting))
    meeting.processes = membership.processes
    if meeting.is_awaited:
        meeting.hurry()


def _pass_on(done: Future[torch.Tensor], meeting: _Meeting) -> None:
    meeting.request = (
        None  # which holds this meeting: the result's memory would be free only when cycles are looked for
    )
    error = done.exception()
    if error is not None:
        meeting.future.set_exception(error)
    else:
        meeting.future.set_result(_finished(meeting.collective, done.result()))


_MERGES: dict[str, Callable[[Any, Any], torch.Tensor]] = {"Add": torch.add, "Mul": torch.mul}


def _finished(collective: Collective, value: torch.Tensor) -> torch.Tensor:
    if not collective.divides:
        return value
    if value.is_floating_point():
        return value.div_(collective.group_size)
    return value.div_(collective.group_size, rounding_mode="trunc")


def _check_alike(meeting: _Meeting, membership: Membership) -> None:
    first, *others = membership.devices
    wanted = meeting.brought[first][0]
    for device in others:
        value = meeting.brought[device][0]
        if value.shape != wanted.shape or value.dtype != wanted.dtype:
            text = (
                f"Shape mismatch in the collective instance {meeting.collective.instance_key}: {first} has "
                f"{_described(wanted)}, {device} has {_described(value)}. Inputs of all members must be alike."
            )
            raise errors.InvalidArgumentError(None, None, text)


def _described(value: torch.Tensor) -> str:
    return f"{str(value.dtype).removeprefix('torch.')} of shape {list(value.shape)}"


class LocalGroups:
    """Groups whose devices are all in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: dict[int, tuple[list[str], list[Future[Membership]]]] = {}

    def resolve(self, group_key: int, group_size: int, device: str) -> Future[Membership]:
        with self._lock:
            devices, futures = self._groups.setdefault(group_key, ([], []))
            devices.append(device)
            futures.append(Future())
            complete = len(devices) == group_size
        if complete:
            for future in futures:
                future.set_result(Membership(sorted(devices)))
        return futures[-1]


_of_process: dict[int, Exchange] = {}  # groups of which this process, whatever runs in it, is one member


def join(group_key: int, processes: ProcessGroup) -> None:
    """Let every op of this process with that group key take part in a group of processes."""

    def resolve(key: int, size: int, device: str) -> Future[Membership]:
        found: Future[Membership] = Future()
        found.set_result(Membership([device], processes))
        return found

    _of_process[group_key] = Exchange(resolve)


def leave(group_key: int) -> None:
    """The opposite of `join`."""
    _of_process.pop(group_key, None)


def exchange_of(step: Step, group_key: int, device: str) -> tuple[Exchange, str]:
    """Where an op of a run, on a device, meets the others of a group, and as whom."""
    if group_key in _of_process:
        return _of_process[group_key], "this process"
    found: Exchange = step.container.setdefault(EXCHANGE, None) or Exchange()
    step.container[EXCHANGE] = found
    return found, device


__all__ = [
    "BROADCAST",
    "EXCHANGE",
    "GATHER",
    "REDUCE",
    "Collective",
    "Exchange",
    "Member",
    "Membership",
    "exchange_of",
    "join",
    "leave",
]
