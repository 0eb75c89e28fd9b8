"""Reports on queues and readers: whose time it was, how full they were, and what to change."""

import threading

import pytest

import everflow as tf
from everflow.framework import dtypes
from everflow.kernels.data import stages as shared
from everflow.kernels.data.stages import report
from everflow.kernels.io.readers import IdentityReader
from everflow.kernels.queues import stages
from everflow.kernels.queues.queues import FIFOQueue, RandomShuffleQueue
from everflow.kernels.queues.stages import Filling, Reading, Waiting, watched_queue, watched_reader


class Clock:
    """One that stands still until it is moved."""

    now = 0.0

    def perf_counter(self):
        return self.now


class Step:
    """A run that nobody gives up."""

    def wait_for(self, condition, is_so):
        assert is_so(), "nothing has to be waited for in these tests"

    def holding(self, lock):
        return lock


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    for module in (shared, stages):
        monkeypatch.setattr(module, "time", made)
        monkeypatch.setattr(module, "STAGES", [] if module is shared else shared.STAGES)
        monkeypatch.setattr(module, "HERE", shared._Here() if module is shared else shared.HERE)
    monkeypatch.setattr(stages, "IS_WATCHING", True)
    return made


def queue_of(name, clock, seconds=0.0, capacity=10, kind=FIFOQueue, more=()):
    """A watched queue whose elements are waited for."""
    made = kind(name, [dtypes.string], [tf.TensorShape([])], capacity, *more)
    take = made.take

    def slow(*arguments, **named):
        clock.now += seconds
        return take(*arguments, **named)

    made.take = slow
    return watched_queue(made, name)


def text(value):
    import numpy as np

    return (np.array(value, object),)


def in_runner(function):
    thread = threading.Thread(target=function, name="QueueRunnerThread-batch-enqueue")
    thread.start()
    thread.join()


def test_a_chain_of_queues_and_a_reader(clock):
    names = queue_of("input_producer", clock, seconds=1.0)
    batch = queue_of("batch/fifo_queue", clock, seconds=2.0)
    reader = watched_reader(IdentityReader("reader"))
    names.put([text(b"a"), text(b"b")], Step())

    def fill():
        for _ in range(2):
            key, _ = reader.read(names, Step())
            clock.now += 4.0
            batch.put([text(key)], Step())

    in_runner(fill)
    clock.now = 100.0
    batch.take(2, Step())
    words = report(shared.STAGES, 10.0)
    assert "pipeline 1: 2 elements; the program waited 2.00 s for them, 20% of its 10.0 s" in words
    assert "pipeline 2" not in words
    shown = [line.split()[0] for line in words.splitlines()[2:] if "→" not in line]
    assert shown == ["batch", "ops", "IdentityReader", "input_producer", "Python"]
    top = next(s for s in shared.STAGES if s.name == "batch")
    assert (top.filling.seconds, top.filling.elements, top.filling.name) == (8.0, 2, "ops of its runner")
    assert "2.0 of 10 in it when asked; full at 0% of enqueues" in words and "1 thread" in words


def test_threads_of_the_programs_own(clock):
    queue = queue_of("fifo_queue", clock, seconds=1.0)
    for _ in range(2):
        queue.put([text(b"a")], Step())
        clock.now += 3.0
    queue.take(1, Step())
    stage = shared.STAGES[0]
    assert stage.filling.name == "Python and ops of its threads" and stage.filling.seconds == 3.0
    assert any("enqueue_many" in sentence for sentence in stage.advice(1.0))


def measured(stage, seconds, elements=10, calls=10):
    stage.seconds = stage.seconds_with_inputs = seconds
    stage.elements, stage.calls = elements, calls
    return stage


def waiting(seconds, held, capacity=100, least_left=0, first=0.0):
    more = (least_left, 0, 0)
    queue = RandomShuffleQueue("q", [dtypes.string], [tf.TensorShape([])], capacity, *more)
    stage = measured(Waiting("q", queue), seconds)
    stage.held, stage.first_seconds = held, first
    return stage


def test_advice(monkeypatch):
    monkeypatch.setattr(stages.os, "cpu_count", lambda: 2)

    def words(stage):
        return " ".join(stage.advice(10.0))

    assert "leave it as it is" in words(waiting(0.1, 500))
    slow_start = waiting(3.0, 500, least_left=40, first=2.9)
    assert "min_after_dequeue=40" in words(slow_start) and "2.90 s" in words(slow_start)
    one_thread = waiting(5.0, 10)
    measured(one_thread.filling, 9.0).threads = {1}
    assert "little more than it must" in words(one_thread) and "num_threads=2" in words(one_thread)
    both = waiting(5.0, 10)
    measured(both.filling, 9.0).threads = {1, 2}
    assert "do less in them" in words(both)
    small = waiting(5.0, 10)
    measured(small.filling, 0.001).threads = {1, 2}
    assert "read_up_to" in words(small)
    reading = waiting(5.0, 10)
    reading.filling.inputs.append(measured(Reading("TFRecordReader", []), 7.0))
    assert "TFRecordReader takes longest" in words(reading) and "shuffle_batch_join" in words(reading)


def test_nothing_is_measured_unless_it_is_asked_for():
    queue = FIFOQueue("q", [dtypes.string], [tf.TensorShape([])], 3)
    assert watched_queue(queue, "q") is queue and "put" not in vars(queue)
    assert isinstance(Filling(), shared.Stage)
