"""Plans try one thread and all of them, and keep what was quicker. The clock is a made one, so that nothing depends on
the machine.
"""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.runtime import threads

pytestmark = pytest.mark.usefixtures("same_threads")


class Work:
    """A function that takes as long as it is told to, by its number of threads."""

    def __init__(self, monkeypatch, seconds: dict[int, float]):
        self.now, self.seconds, self.counts = 0.0, seconds, []
        monkeypatch.setattr(threads.time, "perf_counter", lambda: self.now)

    def __call__(self, step, value):
        count = torch.get_num_threads()
        self.counts.append(count)
        self.now += self.seconds[count]
        return value


def _runs(work, count=2, runs=30):
    """Call as a plan does."""
    chosen = [None]
    chosen[0] = threads.tried(work, count, lambda function: chosen.__setitem__(0, function))
    for _ in range(runs):
        assert chosen[0](None, 7) == 7
    return chosen[0]


@pytest.mark.parametrize("alone, shared, best", [(0.010, 0.015, 1), (0.015, 0.010, 2)])
def test_the_quicker_number_stays(monkeypatch, alone, shared, best):
    work = Work(monkeypatch, {1: alone, 2: shared})
    _runs(work)
    assert set(work.counts[-10:]) == {best}
    assert work.counts.count(3 - best) <= threads.WARM_UP + threads.PAIRS


def test_what_is_far_slower_is_tried_once(monkeypatch):
    work = Work(monkeypatch, {1: 0.05, 2: 0.01})
    _runs(work)
    assert work.counts.count(1) == 1


def test_a_choice_is_tried_again(monkeypatch):
    work = Work(monkeypatch, {1: 0.010, 2: 0.015})
    chosen = [None]
    chosen[0] = threads.tried(work, 2, lambda function: chosen.__setitem__(0, function))
    for _ in range(threads.FIRST_AGAIN):
        chosen[0](None, 7)
    work.seconds[2] = 0.004  # whoever took the other processor has gone
    for _ in range(threads.FIRST_AGAIN):
        chosen[0](None, 7)
    assert set(work.counts[100:200]) == {1}
    assert set(work.counts[-100:]) == {2}
    seen = len(work.counts)
    for _ in range(4 * threads.FIRST_AGAIN):
        chosen[0](None, 7)
    assert work.counts[seen:].count(1) == 1  # far slower now: tried once more, and seen at once


def test_long_runs_are_not_tried_with_one_thread(monkeypatch):
    work = Work(monkeypatch, {1: 100.0, 2: 3.0})
    _runs(work)
    assert 1 not in work.counts


@pytest.mark.parametrize("alone, best", [(0.19, 1), (0.25, 2)])
def test_rather_long_runs_are_tried_once(monkeypatch, alone, best):
    work = Work(monkeypatch, {1: alone, 2: 0.2})
    _runs(work)
    assert set(work.counts[-10:]) == {best}
    assert work.counts[: threads.WARM_UP + 2].count(1) == 1 and set(work.counts[threads.WARM_UP + 2 :]) == {best}


def test_quick_runs_are_left_alone(monkeypatch):
    work = Work(monkeypatch, {1: 1e-6, 2: 1e-6})
    assert _runs(work) is work


def test_deterministic_runs_take_all_threads(monkeypatch):
    monkeypatch.setenv("TF_DETERMINISTIC_OPS", "1")
    work = Work(monkeypatch, {1: 0.01, 2: 0.02})
    _runs(work)
    assert set(work.counts) == {2}


def test_a_session_that_allows_one_thread_takes_one():
    seen = []
    x = tf.placeholder(tf.float32, [4, 4])
    y = tf.py_func(lambda v: seen.append(torch.get_num_threads()) or v, [tf.matmul(x, x)], tf.float32)
    with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1)) as sess:
        for _ in range(5):
            np.testing.assert_array_equal(sess.run(y, {x: np.eye(4)}), np.eye(4))
    assert set(seen) == {1}


def test_an_error_during_the_trial_is_the_usual_one():
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.matmul(x, tf.constant([[1.0], [2.0], [3.0]][:2])) + tf.check_numerics(tf.reduce_sum(x), "sum")
    with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=2)) as sess:
        for _ in range(4):
            with pytest.raises(tf.errors.InvalidArgumentError, match="sum"):
                sess.run(y, {x: [[np.nan, 1.0]]})
            assert sess.run(y, {x: [[1.0, 1.0]]}) == [[5.0]]


@pytest.mark.usefixtures("same_threads")
def test_a_kernel_by_one_thread_leaves_others_theirs():
    threads.use(2)

    def kernel(fails=False):
        if fails:
            raise ValueError("no")
        return torch.get_num_threads()

    alone = threads.by_one_thread(kernel)
    assert alone() == 1 and torch.get_num_threads() == 2
    with pytest.raises(ValueError, match="no"):
        alone(fails=True)
    assert torch.get_num_threads() == 2
