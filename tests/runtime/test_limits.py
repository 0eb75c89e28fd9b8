"""Calls with a time limit: whoever waits is free in time, whatever the call does."""

import gc
import threading
import weakref

import pytest

import everflow as tf
from everflow.runtime import limits
from everflow.runtime.limits import check_after, within_limit
from everflow.runtime.state import SessionState, Step


@pytest.fixture
def step():
    return Step(SessionState(), timeout_in_ms=20_000)


@pytest.fixture
def late():
    return Step(SessionState(), timeout_in_ms=50)


def test_results_and_errors_are_those_of_the_call(step):
    assert within_limit(lambda: 3, step) == 3
    with pytest.raises(ZeroDivisionError):
        within_limit(lambda: 1 / 0, step)


def test_a_call_runs_on_a_thread_of_its_own_which_is_used_again(step):
    threads = {within_limit(threading.get_ident, step) for _ in range(20)}
    assert len(threads) < 20 and threading.get_ident() not in threads


def test_whoever_waits_is_free_although_the_call_goes_on(late, monkeypatch):
    monkeypatch.setattr(limits, "GRACE", 0.01)
    go_on = threading.Event()
    with pytest.raises(tf.errors.DeadlineExceededError):
        within_limit(lambda: go_on.wait(30), late)
    assert late.cancelled  # nothing that comes after it shall run
    go_on.set()


def test_a_call_that_is_slow_to_stop_is_given_its_grace(late, monkeypatch):
    """It ends by itself soon after its time: its own error is the one that counts."""
    monkeypatch.setattr(limits, "GRACE", 30.0)

    def call():
        threading.Event().wait(0.1)
        raise tf.errors.AbortedError(None, None, "its own words")

    with pytest.raises(tf.errors.AbortedError, match="its own words"):
        within_limit(call, late)


def test_a_session_that_is_closed_ends_it(monkeypatch):
    monkeypatch.setattr(limits, "GRACE", 0.01)
    state, go_on = SessionState(), threading.Event()
    step = Step(state, timeout_in_ms=20_000)

    def call():
        state.close()
        go_on.wait(30)

    with pytest.raises(tf.errors.CancelledError):
        within_limit(call, step)
    go_on.set()


def test_an_interrupt_of_who_waits_cancels_the_call(step):
    class Interrupted(Step):
        def patience(self):
            raise KeyboardInterrupt

    step = Interrupted(SessionState(), timeout_in_ms=20_000)
    go_on = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        within_limit(lambda: go_on.wait(30), step)
    assert step.cancelled
    go_on.set()


def test_nodes_look_at_the_step_of_their_run(step):
    check_after(None, 0, 0, [])  # no run, nothing to look at

    def call():
        check_after(None, 0, 0, [])
        step.cancel()
        check_after(None, 0, 0, [])

    with pytest.raises(tf.errors.CancelledError):
        within_limit(call, step)
    check_after(None, 0, 0, [])  # the next run on that thread has a step of its own
    assert within_limit(lambda: check_after(None, 0, 0, []), Step(SessionState(), 20_000)) is None


def test_calls_inside_of_calls(step):
    assert within_limit(lambda: within_limit(lambda: 3, step), step) == 3


def test_values_of_a_call_are_let_go(step):
    class Large:
        pass

    made = Large()
    gone = weakref.ref(made)
    with pytest.raises(ValueError) as caught:
        within_limit(lambda held=made: int("x"), step)
    del made, caught
    gc.collect()
    within_limit(lambda: None, step)
    assert gone() is None
