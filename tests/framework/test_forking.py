"""Locks that somebody else held when a process forked are free in the child."""

import gc
import os
import threading
import weakref

import pytest

from everflow.framework.forking import renewed


def in_child(look) -> bool:
    """Whether a function is true in a child made by forking."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, b"1" if look() else b"0")
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        found = answer.read()
    os.waitpid(child, 0)
    return found == b"1"


@pytest.mark.parametrize("make", [threading.Lock, threading.RLock, threading.Condition])
def test_a_lock_of_another_thread_is_free_in_the_child(make):
    lock, held, done = renewed(make()), threading.Event(), threading.Event()

    def hold():
        with lock:
            held.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30)
    try:
        assert in_child(lambda: lock.acquire(blocking=False))
        assert not lock.acquire(blocking=False)  # here it is held as before
    finally:
        done.set()
        thread.join()


def test_anything_that_can_be_renewed_is_and_only_in_the_child():
    class Renewable:
        def _at_fork_reinit(self):
            self.renewed = True

    made = Renewable()
    assert renewed(made) is made
    assert in_child(lambda: made.renewed) and not hasattr(made, "renewed")


def test_nothing_is_kept_alive_to_be_renewed():
    gone = weakref.ref(renewed(threading.RLock()))
    gc.collect()
    assert gone() is None
