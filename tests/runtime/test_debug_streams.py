"""Streams of events to a debugger: what it said of a watch holds for later runs, and errors say who is missing."""

import pytest

from everflow.framework import errors
from everflow.protos import event_pb2
from everflow.runtime.debug_streams import EventStream
from tests.debug.listener import CHANGE, listening


def test_what_a_debugger_asked_for_holds_until_it_says_otherwise():
    with listening() as listener:
        for state, wanted in [(None, False), (CHANGE.READ_ONLY, True), (None, True), (CHANGE.DISABLED, False)]:
            listener.wanted = {} if state is None else {"node": state}
            stream = EventStream("grpc://" + listener.address)
            stream.ask(event_pb2.Event(step=1))
            stream.close()
            later = EventStream("grpc://" + listener.address)
            assert later.wants("node:0:DebugIdentity") is wanted
            assert not later.wants("other:0:DebugIdentity")
            later.close()


def test_everything_sent_has_arrived_when_it_is_closed():
    with listening() as listener:
        stream = EventStream("grpc://" + listener.address)
        for step in range(100):
            stream.send(event_pb2.Event(step=step))
        stream.close()
        assert [event.step for event in listener.events] == list(range(100))


def test_nobody_there():
    stream = EventStream("grpc://localhost:1")
    with pytest.raises(errors.FailedPreconditionError, match="grpc://localhost:1"):
        stream.ask(event_pb2.Event())
