"""Locks that one run at a time holds: until it lets go, or is gone."""

import gc
import threading

import pytest

from everflow.kernels.mutexes import Mutex
from everflow.runtime.state import SessionState, Step


@pytest.fixture
def mutex():
    return Mutex("m")


def step():
    return Step(SessionState())


def test_the_second_waits_for_the_first(mutex):
    held, order = mutex.acquire(step()), []

    def second():
        mine = mutex.acquire(step())
        order.append("second")
        mine.release()

    thread = threading.Thread(target=second)
    thread.start()
    order.append("first")
    held.release()
    thread.join(10)
    assert order == ["first", "second"] and mutex.holder() is None


def test_letting_go_twice_does_not_free_the_next_ones_lock(mutex):
    first = mutex.acquire(step())
    first.release()
    second = mutex.acquire(step())
    first.release()
    assert mutex.holder() is second


def test_a_run_that_is_gone_holds_nothing(mutex):
    mutex.acquire(step())
    gc.collect()
    assert mutex.holder() is None
    mutex.acquire(step()).release()


def test_a_run_knows_what_it_holds(mutex):
    run = step()
    held = mutex.acquire(run)
    assert run.locks == [held]
