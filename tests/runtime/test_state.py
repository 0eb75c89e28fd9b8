"""What a session keeps between runs, and when a run stops."""

import threading
import time
from unittest import mock

import pytest

import everflow as tf
from everflow.runtime.state import RandomStreams, ResourceStore, SessionState, Step


class Thing:
    """Something a store can hold."""


def test_things_are_made_once_and_found_by_container_kind_and_name():
    store = ResourceStore()
    one = store.lookup_or_create("", "queue", "q", Thing)
    assert store.lookup_or_create("localhost", "queue", "q", Thing) is one  # the default container has a name, too
    assert store.lookup("", "queue", "q") is one
    others = [
        store.lookup_or_create(*key, Thing) for key in [("c", "queue", "q"), ("", "table", "q"), ("", "queue", "r")]
    ]
    assert len({one, *others}) == 4
    assert store.lookup("nowhere", "queue", "q") is None


def test_things_are_forgotten():
    store = ResourceStore()
    made = {name: store.lookup_or_create("c", "kind", name, Thing) for name in "abc"}
    assert store.delete("c", "kind", "a") and not store.delete("c", "kind", "a") and not store.delete("z", "kind", "a")
    assert store.remove(made["b"]) and not store.remove(made["b"])
    store.clear_container("c")
    store.clear_container("never there")
    assert store.lookup("c", "kind", "c") is None


def test_threads_that_ask_at_once_get_the_same_thing():
    store, found, start = ResourceStore(), [], threading.Barrier(4)

    def slow():
        time.sleep(0.01)
        return Thing()

    def work():
        start.wait(10)
        found.append(store.lookup_or_create("", "kind", "name", slow))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


def test_every_node_has_a_stream():
    streams = RandomStreams()
    assert streams.stream("a", Thing) is streams.stream("a", Thing) is not streams.stream("b", Thing)


def test_bodies_of_functions_share_variables_but_no_streams_and_no_queues_of_their_nodes():
    state = SessionState()
    body = state.for_function()
    assert body.resources is state.resources and body.closed is state.closed
    assert body.random.stream("a", Thing) is not state.random.stream("a", Thing)
    assert body.own("queue", "q", Thing) is not state.own("queue", "q", Thing)
    assert state.own("queue", "q", Thing) is state.own("queue", "q", Thing)


def test_another_graph_of_the_session_shares_all_but_constants_and_functions(graph):
    state = SessionState()
    known = mock.Mock(shared=lambda name: f"{name} shared", fresh=lambda name: f"{name} fresh")
    other = state.for_graph(graph, lambda: known)
    other.constants[graph] = 1
    assert other.graph is graph and other.random is state.random and not state.constants
    assert other.function("f", fresh=True) == "f fresh" and other.function("f") == "f shared"
    with pytest.raises(tf.errors.InternalError, match="no executor"):
        state.function("f")


def test_what_goes_on_when_a_run_is_over_has_a_step_of_its_own():
    step = Step(SessionState(), timeout_in_ms=1)
    other = step.detached()
    step.cancel()
    assert other.session is step.session and other.deadline is None
    other.check()


# --- steps -------------------------------------------------------------------------------------


def test_a_step_stops_when_it_is_cancelled_the_session_is_closed_or_time_is_over():
    step = Step(SessionState())
    step.check()
    assert step.reason_to_stop() is None and not step.cancelled
    step.cancel()
    with pytest.raises(tf.errors.CancelledError):
        step.check()
    state = SessionState()
    step = Step(state)
    state.close()
    assert step.cancelled and isinstance(step.reason_to_stop(), tf.errors.CancelledError)
    late = Step(SessionState(), timeout_in_ms=1)
    late.deadline = time.monotonic() - 1
    with pytest.raises(tf.errors.DeadlineExceededError):
        late.check()
    assert late.patience() == 0.0


def test_an_interrupted_step_gives_back_its_locks():
    step, lock = Step(SessionState()), threading.Lock()
    lock.acquire()
    step.locks.append(lock)
    step.interrupt()
    assert step.cancelled and not lock.locked()


def test_waiting_ends_when_the_predicate_holds_or_the_step_does_not():
    condition, step = threading.Condition(), Step(SessionState())
    with condition:
        step.wait_for(condition, lambda: True)
        calls = []
        step.wait_for(condition, lambda: calls.append(1) or len(calls) > 2)
        step.cancel()
        with pytest.raises(tf.errors.CancelledError):
            step.wait_for(condition, lambda: False)


def test_what_comes_when_the_step_is_over_is_left_to_others():
    condition, step = threading.Condition(), Step(SessionState())

    def comes_late():
        found, step._cancelled = step._cancelled, True
        return found

    with condition, pytest.raises(tf.errors.CancelledError):
        step.wait_for(condition, comes_late)


def test_a_lock_is_waited_for_only_as_long_as_the_step_goes_on():
    lock, step = threading.Lock(), Step(SessionState())
    with step.holding(lock):
        assert lock.locked()
    assert not lock.locked()
    lock.acquire()
    step.cancel()
    with pytest.raises(tf.errors.CancelledError), step.holding(lock):
        pass
    assert lock.locked()  # it is the other's still


def test_sleep_ends_with_the_step():
    step = Step(SessionState())
    step.sleep(0.001)
    step.cancel()
    with pytest.raises(tf.errors.CancelledError):
        step.sleep(60)
