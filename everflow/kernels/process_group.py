"""Processes that reduce, gather and broadcast tensors together, on torch.distributed's gloo.

gloo wants all processes to ask for the same things in the same order, but plans come to their tensors in orders of their
own. So the processes agree first, as Horovod's do: each says what it has, what all have is done, and many small tensors
to be summed go as one.
"""

from __future__ import annotations

import datetime
import os
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from everflow.framework import errors
from everflow.kernels.habits import Entry, Habits
from everflow.platform.trust import is_loopback, listener, trust

REDUCE, GATHER, BROADCAST = "reduce", "gather", "broadcast"
MERGES: dict[str, Any] = {
    "Add": dist.ReduceOp.SUM,
    "Mul": dist.ReduceOp.PRODUCT,
    "Min": dist.ReduceOp.MIN,
    "Max": dist.ReduceOp.MAX,
}
# Tensors to be reduced are put together up to so many bytes.
BUCKET = 25 << 20
# How many requests one message can tell of; where a process has more, a longer message follows.
_ROOM = 40
# Between two looks at what others have, where nothing is common to all.
_PAUSE = 0.0005
# Requests that nobody waits for yet are let come together so long: each agreement costs messages between all.
_GATHERING = 0.01
# How many hold a storage (with a torch that doesn't tell, memory is made anew each time), and how many do where nobody
# holds a part of it: the tensor itself, and Python's object that is asked.
_holders = getattr(torch._C, "_storage_Use_Count", lambda storage: _ONLY_HERE + 1)
_ONLY_HERE = 2


def timeout_of_environment() -> datetime.timedelta:
    """How long a process may let the others wait. A lost one is noticed at once; this is for one that hangs."""
    return datetime.timedelta(seconds=float(os.environ.get("EVERFLOW_COLLECTIVE_TIMEOUT", 7 * 86400)))


class Store:
    """Where processes that are to be a group leave word for each other."""

    def __init__(self, store: dist.Store, address: str) -> None:
        self.store: Any = store  # torch's own hints know of text only
        self.address = address

    @classmethod
    def serve(cls, host: str, port: int = 0) -> Store:
        """One that this process keeps; it listens at the address of its host."""
        try:
            listening = listener(host, port)
        except OSError as e:
            raise errors.UnavailableError(None, None, f"No store can listen at {host}:{port}: {e}") from None
        port = listening.getsockname()[1]
        timeout = timeout_of_environment()
        store = dist.TCPStore(
            host, port, is_master=True, wait_for_workers=False, master_listen_fd=listening.detach(), timeout=timeout
        )
        return cls(store, f"{host}:{port}")

    @classmethod
    def at(cls, address: str) -> Store:
        """One that another process keeps."""
        host, _, port = address.rpartition(":")
        if not port.isdigit():
            raise errors.UnavailableError(None, None, f"Processes can't meet at {address!r}: it is no host:port")
        try:
            return cls(dist.TCPStore(host, int(port), is_master=False, timeout=timeout_of_environment()), address)
        except RuntimeError as e:
            raise errors.UnavailableError(None, None, f"The store at {address} can't be reached: {e}") from None

    @classmethod
    def of_environment(cls) -> Store:
        """The one that torchrun keeps for the processes it has started, or the first of them for all."""
        host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        kept_by_agent = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
        is_master = os.environ["RANK"] == "0" and not kept_by_agent
        if (host, port) not in _stores:
            _stores[host, port] = cls.serve(host, port) if is_master else cls.at(f"{host}:{port}")
        return _stores[host, port]

    def tell(self, key: str, word: str) -> None:
        """Leave word for the others."""
        self.store.set(key, trust().seal(key, word.encode()))

    def told(self, key: str) -> str:
        """What somebody has left, or will."""
        return trust().unseal(key, self.store.get(key)).decode()

    def part(self, name: str) -> Store:
        """The same store, with names of its own."""
        return Store(dist.PrefixStore(name, self.store), self.address)

    def sealed(self) -> dist.Store:
        """The store as gloo gets it: with a secret, what a stranger has left in it is refused."""
        return _SealedStore(self.store) if trust().secret else self.store


class _SealedStore(dist.Store):
    """A store whose values carry a proof that their writer knows the cluster's secret."""

    def __init__(self, inner: dist.Store) -> None:
        super().__init__()
        self._inner: Any = inner
        self._trust = trust()

    def set(self, key: str, value: Any) -> None:
        value = value.encode() if isinstance(value, str) else bytes(value)
        self._inner.set(key, self._trust.seal(key, value))

    def get(self, key: str) -> bytes:
        return self._trust.unseal(key, self._inner.get(key))

    def wait(self, keys: list[str], timeout: datetime.timedelta | None = None) -> None:
        self._inner.wait(keys, timeout or timeout_of_environment())

    def check(self, keys: list[str]) -> bool:
        return self._inner.check(keys)

    def add(self, key: str, amount: int) -> int:
        return self._inner.add(key, amount)

    def delete_key(self, key: str) -> bool:
        return self._inner.delete_key(key)


def _device(host: str) -> Any:
    """What gloo sends by. Where tasks have certificates, tensors that leave the machine are encrypted, too, or stay."""
    gloo: Any = dist.ProcessGroupGloo  # whose methods torch's own hints leave out
    told = trust()
    if not told.is_encrypted or is_loopback(host) or told.plain_collectives:
        return gloo.create_device(hostname=host)
    names = {"PKEY": told.key, "CERT": told.certificate, "CA_FILE": told.authority}
    os.environ.update({f"GLOO_DEVICE_TRANSPORT_TCP_TLS_{name}": path for name, path in names.items()})
    os.environ["GLOO_DEVICE_TRANSPORT"] = "TCP_TLS"
    try:
        return gloo.create_device(hostname=host)
    except RuntimeError as e:
        text = (
            f"Tensors can't be encrypted between workers: the gloo of this torch has no TLS ({e}). Have workers meet over a network "
            "that is private or encrypted itself, and set EVERFLOW_CLUSTER_PLAIN_COLLECTIVES=1"
        )
        raise errors.FailedPreconditionError(None, None, text) from None
    finally:
        del os.environ["GLOO_DEVICE_TRANSPORT"]


_stores: dict[tuple[str, int], Store] = {}  # a process may keep one only once


@dataclass(eq=False, slots=True)
class Request:
    """What a process has to give or wants to get. All processes of the group use the same `key` for it."""

    key: int
    kind: str
    tensor: torch.Tensor
    merge: str = "Add"
    is_source: bool = False  # of a broadcast
    future: Future = field(default_factory=Future)
    is_awaited: bool = False  # whether somebody needs the result now
    entry: Entry = (0, 0)  # the key, and a sum of what has to be alike

    def __post_init__(self) -> None:
        shape = list(self.tensor.shape[1:] if self.kind == GATHER else self.tensor.shape)
        alike = zlib.crc32(f"{self.kind} {self.merge} {self.tensor.dtype} {shape}".encode())
        self.entry = self.key, alike

    def told(self) -> tuple[int, int, int]:
        """What others are told: the key, a sum of what has to be alike, and what may differ."""
        return *self.entry, self.tensor.shape[0] if self.kind == GATHER else int(self.is_source)

    @property
    def is_plain(self) -> bool:
        """Whether it may be expected, and not only agreed on: a sum has room for a word beside it."""
        return self.kind == REDUCE and self.merge == "Add" and self.tensor.dtype is torch.float32


class ProcessGroup:
    """This process's end of a group. Requests are served by a thread of its own, in the order that all agree on."""

    def __init__(
        self,
        store: Store,
        rank: int,
        size: int,
        host: str = "localhost",
        timeout: datetime.timedelta | None = None,
    ) -> None:
        """`store` is common to the group; `host` is this machine's name or address, under which the others reach it."""
        self.rank, self.size = rank, size
        gloo: Any = dist.ProcessGroupGloo  # whose methods torch's own hints leave out
        options = gloo._Options()
        options._devices = [_device(host)]
        options._timeout = timeout or timeout_of_environment()
        try:
            self._group = gloo(store.sealed(), rank, size, options)
        except RuntimeError as e:
            raise errors.UnavailableError(None, None, f"No connection between {size} processes: {e}") from None
        self._condition = threading.Condition()
        self._pending: dict[int, deque[Request]] = {}
        self._error: errors.OpError | None = None
        self._habits = Habits()
        self._expected: Sequence[Entry] | None = None  # what the thread waits for
        self._sizes: dict[Entry, int] = {}  # numbers in what was agreed on
        # Memory of sums, to be used again, by how many numbers it has and where.
        self._sums: dict[tuple[int, torch.device], torch.Tensor] = {}
        threading.Thread(target=self._serve, daemon=True, name="everflow collectives").start()

    @property
    def is_broken(self) -> bool:
        """Whether a process was lost; the others have to make a new group."""
        return self._error is not None

    def submit(self, request: Request) -> Future:
        """Begin; the future has the result when all processes have submitted theirs."""
        with self._condition:
            if self._error is not None:
                raise self._error
            self._pending.setdefault(request.key, deque()).append(request)
            if self._expected is None or self._has(self._expected):  # otherwise it would be woken for nothing
                self._condition.notify()
        return request.future

    def hurry(self, request: Request) -> None:
        """Somebody waits for what was submitted: don't let more of it come together."""
        with self._condition:
            request.is_awaited = True
            self._condition.notify()

    def withdraw(self, request: Request) -> bool:
        """Take back what was submitted; whether that was in time."""
        with self._condition:
            waiting = self._pending.get(request.key)
            if waiting is None or request not in waiting:
                return False
            waiting.remove(request)
            if not waiting:
                del self._pending[request.key]
            return True

    def close(self) -> None:
        """Leave the group: what is under way fails, also for the others."""
        self._fail(errors.CancelledError(None, None, "The group of processes was closed"))
        self._group.abort()
        del self._group  # which closes the connections

    # --- the thread ----------------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            while True:
                with self._condition:
                    self._expected = expected = self._habits.expected()
                    if expected is None:
                        self._condition.wait_for(lambda: self._pending or self._error)
                    patience = _GATHERING if expected is None else None
                    self._condition.wait_for(self._is_due, patience)
                    if self._error is not None:
                        return
                    offered = {key: requests[0] for key, requests in self._pending.items()}
                if offered and expected is not None:
                    self._serve_expected(expected, offered)
                elif offered:
                    self._serve_common(offered)
        except RuntimeError as e:  # torch's own class has no other name
            self._fail(_lost(e))
        except BaseException as e:  # told to all who wait
            self._fail(errors.InternalError(None, None, f"Collective operations ended: {e!r}"))

    def _is_due(self) -> bool:
        """Whether what is pending should be served at once: somebody needs it, or it is what belongs together."""
        if self._error is not None:
            return True
        if any(r.is_awaited for requests in self._pending.values() for r in requests):
            return True
        if self._expected is not None:
            return self._has(self._expected)
        return sum(r.tensor.nbytes for requests in self._pending.values() for r in requests) >= BUCKET

    # --- what needs no agreement ---------------------------------------------------------------

    def _has(self, expected: Sequence[Entry]) -> bool:
        """Whether all is pending that belongs together."""
        if len(self._pending) < len(expected):
            return False
        heads = (self._pending.get(entry[0]) for entry in expected)
        return all(found and found[0].entry == entry for found, entry in zip(heads, expected, strict=True))

    def _serve_expected(self, expected: Sequence[Entry], offered: dict[int, Request]) -> None:
        """Sum what is expected of all, and a word from each whether it has it. If one hasn't, nothing has happened."""
        requests = [offered.get(key) for key, _ in expected]
        ours = [r for r, entry in zip(requests, expected, strict=True) if r is not None and r.entry == entry]
        sizes = [self._sizes[entry] for entry in expected]
        device = ours[0].tensor.device if ours else torch.device("cpu")
        flat = self._memory(sum(sizes) + 1, device)
        if len(ours) == len(expected):
            torch.cat([*(r.tensor.reshape(-1) for r in ours), torch.ones(1, device=device)], out=flat)
        else:
            flat.zero_()
        self._group.allreduce([flat], dist.AllreduceOptions()).wait()
        if int(flat[-1]) < self.size:
            self._habits.disappointed()
            return
        self._habits.kept()
        for request, part in zip(ours, flat[:-1].split(sizes), strict=True):
            self._take(request)
            request.future.set_result(part.view(request.tensor.shape))

    def _memory(self, count: int, device: torch.device) -> torch.Tensor:
        """Memory for so many numbers: that of the step before, if nobody holds anything of it any more."""
        found = self._sums.get((count, device))
        if found is None or _holders(found.untyped_storage()._cdata) > _ONLY_HERE:
            found = self._sums[count, device] = torch.empty(count, device=device)
        return found

    def _take(self, request: Request) -> None:
        """A request is served: it may have been taken back meanwhile."""
        with self._condition:
            waiting = self._pending.get(request.key)
            if waiting and waiting[0] is request:
                waiting.popleft()
                if not waiting:
                    del self._pending[request.key]

    # --- agreement -----------------------------------------------------------------------------

    def _serve_common(self, offered: dict[int, Request]) -> None:
        told = self._tell({r.told() for r in offered.values()})
        common = sorted(set.intersection(*(set(t) for t in told)))
        if not common:
            time.sleep(_PAUSE)
            return
        chosen = []
        for key in common:
            # What was taken back after others were told that it is there is served, too: they can't be told otherwise.
            request = offered[key]
            self._take(request)
            if len({t[key][0] for t in told}) > 1:
                request.future.set_exception(self._unlike(request))
            else:
                chosen.append((request, [t[key][1] for t in told]))
        self._learn([request for request, _ in chosen], told, len(chosen) == len(common))
        for together in _buckets(chosen):
            self._do(together)

    def _learn(self, served: list[Request], told: list[dict[int, tuple[int, int]]], are_alike: bool) -> None:
        """Note what is common to all, which all see alike: so must be what follows from it."""
        if not are_alike or not all(request.is_plain for request in served):
            self._habits.spoilt()
            return
        self._sizes.update((request.entry, request.tensor.numel()) for request in served)
        self._habits.agreed([request.entry for request in served], set().union(*told))

    def _tell(self, mine: set[tuple[int, int, int]]) -> list[dict[int, tuple[int, int]]]:
        """What each process has: key → the two numbers that a request tells of itself."""
        longest, room = len(mine), _ROOM
        rows = self._exchange_rows(mine, room)
        longest = max(row[0] for row in rows)
        if longest > room:
            rows = self._exchange_rows(mine, longest)
        return [{row[i]: (row[i + 1], row[i + 2]) for i in range(1, 1 + 3 * row[0], 3)} for row in rows]

    def _exchange_rows(self, mine: set[tuple[int, int, int]], room: int) -> list[list[int]]:
        row = torch.zeros(1 + 3 * room, dtype=torch.int64)
        numbers = [number for entry in list(mine)[:room] for number in entry]
        row[: 1 + len(numbers)] = torch.tensor([len(mine), *numbers])
        rows = [torch.empty_like(row) for _ in range(self.size)]
        self._group.allgather([rows], [row]).wait()
        return [r.tolist() for r in rows]

    def _do(self, together: list[tuple[Request, list[int]]]) -> None:
        requests = [request for request, _ in together]
        first, others = together[0]
        try:
            results = getattr(self, f"_{first.kind}")(requests, others)
        except RuntimeError as e:
            for request in requests:
                request.future.set_exception(_lost(e))
            raise
        for request, result in zip(requests, results, strict=True):
            request.future.set_result(result)

    def _reduce(self, requests: list[Request], _: list[int]) -> Sequence[torch.Tensor]:
        tensors = [r.tensor for r in requests]
        flat = torch.cat([t.reshape(-1) for t in tensors]) if len(tensors) > 1 else tensors[0].clone().contiguous()
        options = dist.AllreduceOptions()
        options.reduceOp = MERGES[requests[0].merge]
        if flat.numel():
            self._group.allreduce([flat], options).wait()
        if len(tensors) == 1:
            return [flat]
        parts = flat.split([t.numel() for t in tensors])
        return [part.view(t.shape) for part, t in zip(parts, tensors, strict=True)]

    def _gather(self, requests: list[Request], rows: list[int]) -> Sequence[torch.Tensor]:
        mine = requests[0].tensor
        longest = max(rows)
        if mine.shape[0] < longest:
            mine = torch.cat([mine, mine.new_zeros((longest - mine.shape[0], *mine.shape[1:]))])
        parts = [torch.empty_like(mine, memory_format=torch.contiguous_format) for _ in rows]
        if mine.numel():
            self._group.allgather([parts], [mine.contiguous()]).wait()
        return [torch.cat([part[:count] for part, count in zip(parts, rows, strict=True)])]

    def _broadcast(self, requests: list[Request], sources: list[int]) -> Sequence[torch.Tensor]:
        if sum(sources) != 1:
            raise errors.InternalError(None, None, f"A broadcast has {sum(sources)} senders; one is wanted")
        value = requests[0].tensor.clone().contiguous()
        options = dist.BroadcastOptions()
        options.rootRank = sources.index(1)
        if value.numel():
            self._group.broadcast([value], options).wait()
        return [value]

    def _unlike(self, request: Request) -> errors.OpError:
        text = (
            f"Shape mismatch in the collective instance {request.key}: here it is to {request.kind} "
            f"{str(request.tensor.dtype).removeprefix('torch.')} of shape {list(request.tensor.shape)}, and another "
            "member of the group has something else. Inputs of all members must be alike."
        )
        return errors.InvalidArgumentError(None, None, text)

    def _fail(self, error: errors.OpError) -> None:
        with self._condition:
            if self._error is None:
                self._error = error
            waiting = [request for requests in self._pending.values() for request in requests]
            self._pending.clear()
            self._condition.notify_all()
        for request in waiting:
            request.future.set_exception(self._error)


def _buckets(chosen: list[tuple[Request, list[int]]]) -> Iterator[list[tuple[Request, list[int]]]]:
    """Requests in groups that are done at once: reductions of a type and kind together, everything else alone."""
    open_buckets: dict[Any, tuple[list, int]] = {}
    for request, others in chosen:
        if request.kind != REDUCE:
            yield [(request, others)]
            continue
        kind = request.merge, request.tensor.dtype
        held, size = open_buckets.pop(kind, ([], 0))
        added = request.tensor.numel() * request.tensor.element_size()
        if held and size + added > BUCKET:
            yield held
            held, size = [], 0
        open_buckets[kind] = [*held, (request, others)], size + added
    yield from (held for held, _ in open_buckets.values())


def _lost(error: RuntimeError) -> errors.OpError:
    return errors.UnavailableError(
        None, None, f"Another process of the group was lost, or took too long, during a collective operation: {error}"
    )


def reduced_array(group: ProcessGroup, key: int, array: np.ndarray, merge: str = "Add") -> np.ndarray:
    """What a group makes of numpy arrays, for programs that have no graph at hand."""
    request = Request(key, REDUCE, torch.from_numpy(np.array(array)), merge)
    future = group.submit(request)
    group.hurry(request)
    result: np.ndarray = future.result().numpy()
    return result
