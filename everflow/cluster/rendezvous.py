"""Where the values of one run wait for their takers: sent by name, taken in the order they were sent."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from everflow.cluster import edges, wire
from everflow.cluster.values import Parcel, decode, encode, unwrap, wrap
from everflow.framework import dtypes, errors
from everflow.kernels import tensors
from everflow.protos import tensor_pb2, worker_pb2

if TYPE_CHECKING:
    import numpy as np

    from everflow.runtime.hints import Value
    from everflow.runtime.state import Step


# What takes values when they are all there, or the error in their place.
Taker = Callable[[list[Parcel] | errors.OpError], None]


@dataclass(eq=False, slots=True)
class _Waiting:
    """Somebody who waits for values: those that have come, in the places they were asked for."""

    give: Taker
    found: list[Any]
    missing: int
    keeps: bool  # values for longer than `give` takes


class Rendezvous:
    """The values that a run's part on this task has sent, until other tasks ask for them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[str, deque[Parcel]] = {}
        self._waiting: dict[str, deque[tuple[_Waiting, int]]] = {}
        self._error: errors.OpError | None = None
        self._complete = False

    def put(self, key: str, value: Parcel) -> None:
        """Leave a value, whose memory may be written to as soon as this returns."""
        with self._lock:
            waiting = self._waiting.get(key)
            if not waiting:
                self._values.setdefault(key, deque()).append(value.kept())
                return
            taker, place = waiting.popleft()
            taker.missing -= 1
            is_last = not taker.missing
            taker.found[place] = value if is_last and not taker.keeps else value.kept()
        if is_last:
            taker.give(taker.found)

    def when_there(self, keys: list[str], give: Taker, keeps: bool = False) -> None:
        """Have the next values of these names given to `give`, which is done with them when it returns, or `keeps` them."""
        taker = _Waiting(give, [None] * len(keys), len(keys), keeps)
        with self._lock:
            error = self._error
            if error is None:
                for place, key in enumerate(keys):
                    values = self._values.get(key)
                    if values:
                        taker.found[place] = values.popleft()
                        taker.missing -= 1
                    else:
                        self._waiting.setdefault(key, deque()).append((taker, place))
            is_there = not taker.missing
        if error is not None:
            give(error)
        elif is_there:
            give(taker.found)

    def take(self, keys: list[str], call: wire.Call) -> list[Parcel]:
        """The next values of these names, as soon as they are there."""
        done = threading.Event()
        found: list[Parcel] | errors.OpError = []

        def give(values: list[Parcel] | errors.OpError) -> None:
            nonlocal found
            found = values
            done.set()

        self.when_there(keys, give, keeps=True)
        while not done.wait(0.1):
            if not call.is_wanted:
                raise errors.CancelledError(None, None, f"Nobody waits for {', '.join(keys)} any more")
        if isinstance(found, errors.OpError):
            raise found
        return found

    def complete(self) -> None:
        """Nothing more will be put here."""
        with self._lock:
            self._complete = True

    @property
    def is_spent(self) -> bool:
        """Whether all that was to come has been put and taken."""
        with self._lock:
            return self._complete and not any(self._values.values())

    def abort(self, error: errors.OpError) -> None:
        """Let everyone who waits here fail."""
        with self._lock:
            self._error = error
            takers = {taker for waiting in self._waiting.values() for taker, _ in waiting}
            self._waiting = {}
        for taker in takers:
            taker.give(error)


class Carrier:
    """What the `_Send` and `_Recv` kernels of one run talk to."""

    def __init__(
        self,
        ends: Mapping[str, tuple[str, dtypes.DType]],
        step_id: int,
        rendezvous: Rendezvous,
        step: Step,
        peer_of: Callable[[str], wire.Peer],
    ) -> None:
        self._ends = ends  # node name → rendezvous key and type
        self._step_id = step_id
        self._rendezvous = rendezvous
        self._step = step
        self._peer_of = peer_of  # task name → wire.Peer
        self._asked: dict[str, deque[_Asked]] = {}

    def ask(self, keys: list[str]) -> None:
        """Ask a task for values that will be there at the same time, before they are needed."""
        peer = self._peer_of(edges.sending_task(keys[0])[0])
        lane = peer.lane()
        if lane is not None:
            asked: list[_Asked] = [_AskedOnLane(lane.ask(self._step_id, keys), keys)]
        elif peer.is_ours:
            asked = [_AskedByMessage(peer, self._step_id, keys)]
        else:  # TensorFlow's tasks give one value in a call
            asked = [_AskedByMessage(peer, self._step_id, [key]) for key in keys]
        for each in asked:
            for key in each.keys:
                self._asked.setdefault(key, deque()).append(each)

    def send(self, name: str, value: Value) -> None:
        key, dtype = self._ends[name]
        self._rendezvous.put(key, wrap(tensors.to_numpy(value, dtype), dtype))

    def recv(self, name: str) -> Value:
        key, dtype = self._ends[name]
        if not self._asked.get(key):
            self.ask([key])
        return tensors.from_numpy(self._asked[key].popleft().value(key, dtype, self._step))

    def close(self) -> None:
        """Give up the calls that nobody waits for."""
        for calls in self._asked.values():
            for asked in calls:
                asked.cancel()


class _Asked:
    """Values that another task was asked for."""

    def __init__(self, call: Any, keys: list[str]) -> None:
        self.keys = keys
        self._call = call
        self._values: dict[str, deque[np.ndarray]] | None = None

    def value(self, key: str, dtype: dtypes.DType, step: Step) -> np.ndarray:
        """The value of a key, as soon as they have come."""
        if self._values is None:
            while not self._is_done(0.1):
                step.check()
            self._values = {}
            for name, each in zip(self.keys, self._read(), strict=True):
                self._values.setdefault(name, deque()).append(each)
        found = self._values[key].popleft()
        if found.dtype != (object if dtype is dtypes.string else dtype.as_numpy_dtype):
            text = f"{found.dtype} came for {key} where {dtype.name} was expected"
            raise errors.InvalidArgumentError(None, None, text)
        return found

    def _is_done(self, seconds: float) -> bool:
        raise NotImplementedError

    def _read(self) -> list[np.ndarray]:
        raise NotImplementedError

    def cancel(self) -> None:
        self._call.cancel()


class _AskedOnLane(_Asked):
    def _is_done(self, seconds: float) -> bool:
        return self._call.wait(seconds)

    def _read(self) -> list[np.ndarray]:
        return [unwrap(parcel) for parcel in self._call.result()]


class _AskedByMessage(_Asked):
    def __init__(self, peer: wire.Peer, step_id: int, keys: list[str]) -> None:
        request = worker_pb2.RecvTensorRequest(step_id=step_id, rendezvous_key="\n".join(keys))
        if peer.is_ours:
            request.transport_options.type_url = wire.IN_PIECES
        super().__init__(peer.start("RecvTensor", request), keys)
        self._peer = peer
        self._done = threading.Event()
        self._call.add_done_callback(lambda _: self._done.set())

    def _is_done(self, seconds: float) -> bool:
        return self._done.wait(seconds)

    def _read(self) -> list[np.ndarray]:
        response = self._peer.finish(self._call)
        if response.transport_options.type_url == wire.IN_PIECES:
            return [unwrap(parcel) for parcel in self._peer.take(response.transport_options.value)]
        return [decode(value) for value in unpack(response.tensor, len(self.keys))]


def pack(parcels: list[Parcel]) -> tensor_pb2.TensorProto:
    """Several values as one message: a vector of serialized tensors. One alone goes as it is."""
    values = [encode(unwrap(parcel), parcel.dtype) for parcel in parcels]
    if len(values) == 1:
        return values[0]
    made = tensor_pb2.TensorProto(
        dtype=dtypes.string.as_datatype_enum, string_val=[v.SerializeToString() for v in values]
    )
    made.tensor_shape.dim.add(size=len(values))
    return made


def unpack(message: tensor_pb2.TensorProto, count: int) -> list[tensor_pb2.TensorProto]:
    """The values of a message that `pack` made of so many."""
    if count == 1:
        return [message]
    if len(message.string_val) != count:
        raise errors.InternalError(None, None, f"{len(message.string_val)} values came where {count} were asked for")
    return [tensor_pb2.TensorProto.FromString(data) for data in message.string_val]
