"""Threads and processes that make batches ahead: their results come in order, and they end, busy or not."""

import time
from concurrent.futures import CancelledError

import pytest

from everflow.keras.utils import enqueuers
from everflow.keras.utils.worker_pools import Processes, Threads


def _nothing():
    pass


def _failing():
    raise KeyError("three")


@pytest.fixture(params=[Threads, lambda count: Processes(count, _nothing)], ids=["threads", "processes"])
def pool(request):
    made = request.param(2)
    yield made
    made.terminate()


def test_each_job_has_its_own_result(pool):
    assert [job.result(20) for job in [pool.submit(pow, i, 2) for i in range(20)]] == [i * i for i in range(20)]
    pool.close()


def test_errors_are_those_of_the_job(pool):
    with pytest.raises(KeyError, match="three"):
        pool.submit(_failing).result(20)
    assert pool.submit(abs, -3).result(20) == 3


def test_what_cannot_be_sent_back_is_an_error():
    pool = Processes(1, _nothing)
    with pytest.raises(Exception, match=r"lambda|pickle"):
        pool.submit(eval, "lambda: 1").result(20)
    pool.close()


def test_busy_processes_can_be_ended():
    pool = Processes(2, _nothing)
    jobs = [pool.submit(time.sleep, 600) for _ in range(5)]
    while not any(job.running() for job in jobs):
        time.sleep(0.01)
    enqueuers.terminate_keras_multiprocessing_pools(grace_period=20)
    for job in jobs:
        with pytest.raises(CancelledError):
            job.result(20)
    assert not any(process.is_alive() for process in pool.processes)
