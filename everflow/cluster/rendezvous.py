"""Where the values of one run wait for their takers: sent by name, taken in the order they were sent."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from everflow.cluster import edges, wire
from everflow.cluster.values import decode, encode
from everflow.framework import dtypes, errors
from everflow.kernels import tensors
from everflow.protos import tensor_pb2, worker_pb2

if TYPE_CHECKING:
    from everflow.runtime.hints import Value
    from everflow.runtime.state import Step


class Rendezvous:
    """The values that a run's part on this task has sent, until other tasks ask for them."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._values: dict[str, deque[tensor_pb2.TensorProto]] = {}
        self._error: errors.OpError | None = None
        self._complete = False

    def put(self, key: str, value: tensor_pb2.TensorProto) -> None:
        with self._condition:
            self._values.setdefault(key, deque()).append(value)
            self._condition.notify_all()

    def take(self, key: str, call: wire.Call) -> tensor_pb2.TensorProto:
        """The next value of that name, as soon as there is one."""

        def give_up() -> None:
            if self._error is not None:
                raise self._error
            if not call.is_wanted:
                raise errors.CancelledError(None, None, f"Nobody waits for {key} any more")

        with self._condition:
            wire.wait_until(self._condition, lambda: bool(self._values.get(key)), give_up)
            return self._values[key].popleft()

    def complete(self) -> None:
        """Nothing more will be put here."""
        with self._condition:
            self._complete = True

    @property
    def is_spent(self) -> bool:
        """Whether all that was to come has been put and taken."""
        with self._condition:
            return self._complete and not any(self._values.values())

    def abort(self, error: errors.OpError) -> None:
        """Let everyone who waits here fail."""
        with self._condition:
            self._error = error
            self._condition.notify_all()


class Carrier:
    """What the `_Send` and `_Recv` kernels of one run talk to."""

    def __init__(self, step_id: int, rendezvous: Rendezvous, step: Step, peer_of: Callable[[str], wire.Peer]) -> None:
        self._step_id = step_id
        self._rendezvous = rendezvous
        self._step = step
        self._peer_of = peer_of  # task name → wire.Peer
        self._asked: dict[str, deque[_Asked]] = {}

    def ask(self, keys: list[str]) -> None:
        """Ask a task for values that will be there at the same time, before they are needed."""
        asked = _Asked(self._peer_of(edges.sending_task(keys[0])[0]), self._step_id, keys)
        for key in keys:
            self._asked.setdefault(key, deque()).append(asked)

    def send(self, attrs: Mapping[str, Any], value: Value) -> None:
        dtype = dtypes.as_dtype(attrs["T"])
        self._rendezvous.put(edges.key_of(attrs), to_proto(value, dtype))

    def recv(self, attrs: Mapping[str, Any]) -> Value:
        key = edges.key_of(attrs)
        if not self._asked.get(key):
            self.ask([key])
        value = self._asked[key].popleft().value(key, self._step)
        return from_proto(value, dtypes.as_dtype(attrs["tensor_type"]))

    def close(self) -> None:
        """Give up the calls that nobody waits for."""
        for calls in self._asked.values():
            for asked in calls:
                asked.cancel()


class _Asked:
    """A call for values of another task."""

    def __init__(self, peer: wire.Peer, step_id: int, keys: list[str]) -> None:
        self._peer = peer
        self._keys = keys
        self._done = threading.Event()
        self._values: dict[str, tensor_pb2.TensorProto] | None = None
        self._future = peer.start(
            "RecvTensor", worker_pb2.RecvTensorRequest(step_id=step_id, rendezvous_key="\n".join(keys))
        )
        self._future.add_done_callback(lambda _: self._done.set())

    def value(self, key: str, step: Step) -> tensor_pb2.TensorProto:
        """The value of a key, as soon as they have come."""
        if self._values is None:
            while not self._done.wait(0.1):
                step.check()
            self._values = dict(
                zip(self._keys, unpack(self._peer.finish(self._future).tensor, len(self._keys)), strict=True)
            )
        return self._values[key]

    def cancel(self) -> None:
        self._future.cancel()


def pack(values: list[tensor_pb2.TensorProto]) -> tensor_pb2.TensorProto:
    """Several values as one message: a vector of serialized tensors. One alone goes as it is."""
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


def to_proto(value: Value, dtype: dtypes.DType) -> tensor_pb2.TensorProto:
    """A kernel's value as it travels: a copy, so that it stays what it was when it was sent."""
    return encode(tensors.to_numpy(value, dtype), dtype)


def from_proto(proto: tensor_pb2.TensorProto, dtype: dtypes.DType) -> Value:
    """A kernel's value from one that came, which must be of this type."""
    return tensors.from_numpy(decode(proto, dtype))
