"""Where the values of one run wait for their takers: sent by name, taken in the order they were sent."""

from __future__ import annotations

import threading
from collections import deque

from everflow.distributed import edges, wire
from everflow.distributed.values import decode, encode
from everflow.framework import dtypes, errors
from everflow.kernels import tensors
from everflow.protos import tensor_pb2, worker_pb2


class Rendezvous:
    """The values that a run's part on this task has sent, until other tasks ask for them."""

    def __init__(self):
        self._condition = threading.Condition()
        self._values: dict[str, deque[tensor_pb2.TensorProto]] = {}
        self._error: errors.OpError | None = None

    def put(self, key: str, value: tensor_pb2.TensorProto) -> None:
        with self._condition:
            self._values.setdefault(key, deque()).append(value)
            self._condition.notify_all()

    def take(self, key: str, call: wire.Call) -> tensor_pb2.TensorProto:
        """The next value of that name, as soon as there is one."""

        def give_up():
            if self._error is not None:
                raise self._error
            if not call.is_wanted:
                raise errors.CancelledError(None, None, f"Nobody waits for {key} any more")

        with self._condition:
            wire.wait_until(self._condition, lambda: bool(self._values.get(key)), give_up)
            return self._values[key].popleft()

    def abort(self, error: errors.OpError) -> None:
        """Let everyone who waits here fail."""
        with self._condition:
            self._error = error
            self._condition.notify_all()


class Carrier:
    """What the `_Send` and `_Recv` kernels of one run talk to."""

    def __init__(self, step_id: int, rendezvous: Rendezvous, step, peer_of):
        self._step_id = step_id
        self._rendezvous = rendezvous
        self._step = step
        self._peer_of = peer_of  # task name → wire.Peer
        self._asked: dict = {}  # key → the calls under way

    def ask(self, key: str) -> None:
        """Ask the sender for a value before it is needed."""
        peer = self._peer_of(edges.sending_task(key)[0])
        request = worker_pb2.RecvTensorRequest(step_id=self._step_id, rendezvous_key=key)
        self._asked.setdefault(key, deque()).append((peer, peer.start("RecvTensor", request)))

    def send(self, attrs, value) -> None:
        dtype = dtypes.as_dtype(attrs["T"])
        self._rendezvous.put(edges.key_of(attrs), to_proto(value, dtype))

    def recv(self, attrs):
        key = edges.key_of(attrs)
        if not self._asked.get(key):
            self.ask(key)
        peer, future = self._asked[key].popleft()
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        try:
            while not done.wait(0.1):
                self._step.check()
        except errors.OpError:
            future.cancel()
            raise
        return from_proto(peer.finish(future).tensor, dtypes.as_dtype(attrs["tensor_type"]))

    def close(self) -> None:
        """Give up the calls that nobody waits for."""
        for calls in self._asked.values():
            for _, future in calls:
                future.cancel()


def to_proto(value, dtype) -> tensor_pb2.TensorProto:
    """A kernel's value as it travels: a copy, so that it stays what it was when it was sent."""
    return encode(tensors.to_numpy(value, dtype), dtype)


def from_proto(proto: tensor_pb2.TensorProto, dtype):
    """A kernel's value from one that came, which must be of this type."""
    return tensors.from_numpy(decode(proto, dtype))
