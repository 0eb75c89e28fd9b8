"""Two calls side by side: by two threads where the second is awake in time, else one after the other."""

import functools
import os
import threading

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework.errors import CancelledError
from everflow.runtime import threads
from everflow.runtime.plan import partner
from everflow.runtime.plan.concurrent_calls import End
from everflow.runtime.plan.partner import side_by_side
from everflow.runtime.state import Step

LONG = 60.0


@pytest.fixture
def step():
    with tf.Graph().as_default(), tf.Session() as sess:
        yield Step(sess._executor.state)


@pytest.fixture
def busy_partner():
    """The partner is held by a call of somebody else."""
    begun, over = threading.Event(), threading.Event()

    class Held:
        def cancel(self):
            pass

    def wait():
        begun.set()
        over.wait(LONG)

    partner._partner.offer(partner._Offer(End(wait, Held())))
    begun.wait(LONG)
    yield
    over.set()


def test_both_run_at_the_same_time(step):
    met = threading.Barrier(2)

    def call():
        met.wait(LONG)
        return threading.get_ident()

    ends = side_by_side(step, call, call)
    assert len({end.result for end in ends}) == 2


def test_who_finds_the_partner_busy_does_both(step, busy_partner):
    ends = side_by_side(step, threading.get_ident, threading.get_ident)
    assert [end.result for end in ends] == [threading.get_ident()] * 2


def test_each_has_one_thread_and_the_caller_its_number_again(step):
    before = threads.use(2)
    try:
        met = threading.Barrier(2)

        def count():
            met.wait(LONG)
            return torch.get_num_threads()

        assert [end.result for end in side_by_side(step, count, count)] == [1, 1]
        assert torch.get_num_threads() == 2
    finally:
        threads.use(before)


def test_small_numbers_are_zero_there_too(step):
    met = threading.Barrier(2)

    def halved():
        met.wait(LONG)
        return (torch.full([64], 1.5e-38) * 0.5).max().item()

    assert side_by_side(step, halved, halved)[1].result == 0.0


@pytest.mark.parametrize("failing", [0, 1])
def test_the_one_that_failed_has_the_error_and_the_other_is_stopped(step, failing):
    met = threading.Barrier(2)

    def fail():
        met.wait(LONG)
        raise ValueError("no")

    def wait():
        met.wait(LONG)
        step.sleep(LONG)

    ends = side_by_side(step, *((fail, wait) if failing == 0 else (wait, fail)))
    with pytest.raises(ValueError, match="no"):
        ends[failing].check()
    ends[1 - failing].check()


def test_a_stopped_run_stops_both(step):
    step.cancel()
    ends = side_by_side(step, step.check, step.check)
    for end in ends:
        with pytest.raises(CancelledError):
            end.check()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes don't fork here")
def test_a_forked_process_does_both(step):
    side_by_side(step, int, int)  # the partner is there
    child = os.fork()
    if not child:
        ends = side_by_side(step, threading.get_ident, threading.get_ident)
        os._exit(0 if ends[0].result == ends[1].result else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_many_threads_may_ask_at_once(step):
    found = []

    def ask(number):
        for i in range(50):
            ends = side_by_side(step, functools.partial(pow, number, i), functools.partial(divmod, i, number))
            found.append([end.result for end in ends] == [number**i, divmod(i, number)])

    asking = [threading.Thread(target=ask, args=(number,)) for number in range(1, 5)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert len(found) == 200 and np.all(found)
