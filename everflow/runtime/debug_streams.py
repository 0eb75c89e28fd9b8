"""Dumps that go to a debugger elsewhere instead of a folder: events over gRPC, to whoever listens at `grpc://HOST:PORT`.

The listener is TensorBoard's debugger, or a program's own: it answers which gated watches it wants to see, and holds a
run at a tensor by not answering.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any

from everflow.framework import errors
from everflow.protos import debug_service_pb2, event_pb2

PREFIX = "grpc://"
_METHOD = "/tensorflow.EventListener/SendEvents"
_READ_WRITE = debug_service_pb2.EventReply.DebugOpStateChange.READ_WRITE
_DISABLED = (
    debug_service_pb2.EventReply.DebugOpStateChange.STATE_UNSPECIFIED,
    debug_service_pb2.EventReply.DebugOpStateChange.DISABLED,
)

# What listeners have said of gated watches, by address and watch key: it holds until they say something else.
_states: dict[str, dict[str, int]] = {}
_states_lock = threading.Lock()


class EventStream:
    """The events of one run on their way to one listener."""

    def __init__(self, url: str) -> None:
        import grpc  # only runs that stream to a debugger need it

        self._grpc = grpc
        self._address = url.removeprefix(PREFIX)
        self._events: queue.SimpleQueue[event_pb2.Event | None] = queue.SimpleQueue()
        self._channel = grpc.insecure_channel(self._address, [("grpc.max_receive_message_length", -1)])
        send = self._channel.stream_stream(
            _METHOD, event_pb2.Event.SerializeToString, debug_service_pb2.EventReply.FromString
        )
        self._replies: Any = send(self._queued(), wait_for_ready=False)

    def _queued(self) -> Iterator[event_pb2.Event]:
        yield from iter(self._events.get, None)

    def wants(self, watch_key: str) -> bool:
        """Whether the listener has asked for a gated watch."""
        return self._state(watch_key) not in _DISABLED

    def send(self, event: event_pb2.Event, watch_key: str = "") -> None:
        """Send an event; where the listener holds the run at this watch, wait until it answers."""
        self._events.put(event)
        if self._state(watch_key) == _READ_WRITE:
            self._answer()

    def ask(self, event: event_pb2.Event) -> None:
        """Send an event that the listener answers with what it wants to see."""
        self._events.put(event)
        self._answer()

    def close(self) -> None:
        """Wait until everything has arrived."""
        self._events.put(None)
        try:
            for reply in self._replies:
                self._take(reply)
        except self._grpc.RpcError as e:
            raise self._refusal(e) from None
        finally:
            self._channel.close()

    def _state(self, watch_key: str) -> int:
        with _states_lock:
            return _states.get(self._address, {}).get(watch_key, 0)

    def _answer(self) -> None:
        try:
            self._take(next(self._replies))
        except StopIteration:
            pass  # the listener has seen enough of this run
        except self._grpc.RpcError as e:
            raise self._refusal(e) from None

    def _take(self, reply: debug_service_pb2.EventReply) -> None:
        with _states_lock:
            states = _states.setdefault(self._address, {})
            for change in reply.debug_op_state_changes:
                states[f"{change.node_name}:{change.output_slot}:{change.debug_op}"] = change.state

    def _refusal(self, error: Any) -> errors.OpError:
        return errors.FailedPreconditionError(
            None, None, f"No debugger takes events at {PREFIX}{self._address}: {error.details()}"
        )
