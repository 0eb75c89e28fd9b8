"""Elements made ahead: a thread where they take long, the same elements and errors, nothing left behind."""

import gc
import os
import threading
import time

import pytest
import torch

import everflow as tf
from everflow.kernels.data import ahead, threads
from everflow.kernels.data.ahead import Ahead, max_intra_op_parallelism_dataset, private_thread_pool_dataset
from everflow.kernels.data.datasets import Dataset, End, Iteration, from_iterable
from everflow.runtime.state import SessionState, Step

pytestmark = pytest.mark.usefixtures("own_graph")


def running():
    return [t for t in threading.enumerate() if t.name == "everflow-input"]


def gone():
    """Whether threads end that have nothing to do."""
    end = time.monotonic() + 20
    while running() and time.monotonic() < end:
        time.sleep(0.01)
    return not running()


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(threads, "PATIENCE", 0.05)
    assert gone()


@pytest.fixture
def worth_it(monkeypatch):
    """Every element is worth a thread."""
    monkeypatch.setattr(ahead, "WORTH", -1.0)


def iteration():
    return Iteration(Step(SessionState()))


def started(make, size=2):
    return Ahead(from_iterable(lambda: ((v,) for v in make())).start, iteration(), size)


def test_light_elements_are_made_by_whoever_asks(monkeypatch):
    monkeypatch.setattr(ahead, "WORTH", 60.0)
    following = started(lambda: range(3))
    assert [following() for _ in range(3)] == [(0,), (1,), (2,)] and not running()
    with pytest.raises(End):
        following()


def test_from_an_element_that_took_long_on_a_thread_makes_them(worth_it):
    made, makers = [], set()

    def elements():
        for i in range(9):
            made.append(i)
            makers.add(threading.current_thread().name)
            yield i

    following = started(elements, size=3)
    assert [following() for _ in range(3)] == [(0,), (1,), (2,)]
    end = time.monotonic() + 20
    while len(made) < 6 and time.monotonic() < end:
        time.sleep(0.01)
    assert len(made) == 6 and "everflow-input" in makers  # three ahead, and no more
    assert [following() for _ in range(6)] == [(i,) for i in range(3, 9)]
    for _ in range(2):
        with pytest.raises(End):
            following()


def test_errors_come_in_their_place_and_elements_after_them(worth_it):
    def start(iteration):
        given = iter([1, 2, 3, ValueError("the fourth"), 5])

        def following():
            value = next(given, None)
            if value is None:
                raise End
            if isinstance(value, ValueError):
                raise value
            return (value,)

        return following

    following = Ahead(start, iteration(), 2)
    assert [following() for _ in range(3)] == [(1,), (2,), (3,)]
    with pytest.raises(ValueError, match="the fourth"):
        following()
    assert following() == (5,)
    with pytest.raises(End):
        following()


def test_an_abandoned_pipeline_leaves_no_thread(worth_it):
    following = started(lambda: range(10**9))
    for _ in range(4):
        following()
    assert running()
    del following
    gc.collect()
    assert gone()


def test_a_thread_that_looks_for_ever_ends_with_its_pipeline(worth_it):
    def start(iteration):
        given = iter(range(3))

        def following():
            for value in given:
                return (value,)
            while True:
                iteration.step.check()

        return following

    following = Ahead(start, iteration(), 2)
    assert [following() for _ in range(3)] == [(0,), (1,), (2,)]
    del following
    gc.collect()
    assert gone()


def test_a_thread_that_ended_is_started_again(worth_it):
    following = started(lambda: range(8))
    assert [following() for _ in range(3)] == [(0,), (1,), (2,)]
    assert gone()
    assert [following() for _ in range(5)] == [(i,) for i in range(3, 8)]


def test_in_a_session(worth_it):
    dataset = tf.data.Dataset.range(20).shuffle(5, seed=3).batch(2).prefetch(2).repeat(2)
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as sess:
        got = [sess.run(following).tolist() for _ in range(20)]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(following)
    first, second = sum(got[:10], []), sum(got[10:], [])
    assert sorted(first) == sorted(second) == list(range(20)) and first != second
    assert gone()


def test_a_closed_session_leaves_no_thread(worth_it):
    dataset = tf.data.Dataset.range(10).repeat().filter(lambda x: x < 5).prefetch(2)
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    sess = tf.Session()
    assert [sess.run(following) for _ in range(4)] == [0, 1, 2, 3]
    sess.close()
    assert gone()


def test_settings_of_running():
    seen = []

    def start(iteration):
        seen.append((iteration.threads, iteration.threads_of_a_kernel))

    private_thread_pool_dataset(Dataset(start), torch.tensor(3)).start(iteration())
    max_intra_op_parallelism_dataset(Dataset(start), torch.tensor(2)).start(iteration())
    max_intra_op_parallelism_dataset(Dataset(start), torch.tensor(0)).start(iteration())
    assert seen[0][0] == 3 and seen[1][1] == 2 and seen[2][1] == os.cpu_count()
    with pytest.raises(tf.errors.InvalidArgumentError):
        private_thread_pool_dataset(Dataset(start), torch.tensor(0))
    with pytest.raises(tf.errors.InvalidArgumentError):
        max_intra_op_parallelism_dataset(Dataset(start), torch.tensor(-1))


def test_the_collector_waits_for_nobody():
    """It may run in a thread that is just being started, by one that holds the place where both meet."""
    meeting = ahead.Meeting()
    part = Ahead(lambda iteration: iter([1, 2]).__next__, Iteration(None), 1, meeting)
    with meeting.condition:
        closing = threading.Thread(target=part._buffer.close, daemon=True)
        closing.start()
        closing.join(10)
        assert not closing.is_alive()
