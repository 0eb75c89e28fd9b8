"""Elements made before they are asked for, by threads of a pipeline's own, while whoever asks computes with the last one.

A thread pays only for elements that take some time: Python runs one thread at a time, and handing over costs more than
a light element. So elements are made by whoever asks until one took long. A thread with nothing to do for a second
ends; the next who asks starts another. So none is left behind where a pipeline is abandoned.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.framework.forking import renewed
from everflow.kernels.data import threads
from everflow.kernels.data.datasets import Dataset, Element, End, Following, Iteration, dataset
from everflow.kernels.registry import kernel

if TYPE_CHECKING:
    from everflow.kernels.context import Step
    from everflow.kernels.data.stats import Recorder

# What takes longer than this, in seconds, is worth a thread.
WORTH = 5e-4
# How many elements to make ahead where that is left open.
AUTOTUNED = 4


class Meeting:
    """Where whoever asks waits for threads."""

    def __init__(self) -> None:
        self._at_fork_reinit()
        renewed(self)

    def _at_fork_reinit(self) -> None:
        self.condition = threading.Condition()


class _Buffer:
    """What is shared with the thread that fills it."""

    def __init__(self, following: Following, iteration: Iteration, size: int, meeting: Meeting) -> None:
        self._meeting, self.is_running = meeting, False
        self.ready: deque[Element | Exception] = deque()
        self.size = size
        self.is_over = False  # nobody will ask any more
        self._following, self._iteration = following, iteration
        renewed(self)

    def _at_fork_reinit(self) -> None:
        self.is_running = False

    @property
    def condition(self) -> threading.Condition:
        return self._meeting.condition

    def close(self) -> None:
        """Nobody will ask any more. The collector calls this in whatever thread it runs, perhaps in one that is just being
        started by who holds the place to meet: so nothing is waited for. A thread that misses the word sees it in time.
        """
        self.is_over = True
        step = self._iteration.step
        if self.condition.acquire(blocking=False):
            self.condition.notify_all()
            self.condition.release()
        if step is not None:
            step.cancel()

    def take(self, step: Step | None) -> Element:
        """The next element, made by the thread."""
        with self.condition:
            self.wake()
            if step is None:
                self.condition.wait_for(lambda: self.ready)
            else:
                step.wait_for(self.condition, lambda: bool(self.ready))
            found = self.ready.popleft()
            if not self.is_running and not isinstance(found, End):
                self._begin()
            self.condition.notify_all()
        if isinstance(found, Exception):
            raise found
        return found

    def wake(self) -> None:
        """See that there is a thread where there is no element."""
        if not self.ready and not self.is_running:
            self._begin()

    def _begin(self) -> None:
        self.is_running = True
        threads.begin_thread(self._fill, self, self._iteration.threads_of_a_kernel)

    def _fill(self) -> None:
        while self._has_room() and self._make_one():
            pass

    def _make_one(self) -> bool:
        """Make an element, and say whether to go on; a thread that waits holds none."""
        step = self._iteration.step
        self._iteration.step = step.detached() if step is not None else None
        try:
            made: Element | Exception = self._following()
        except Exception as e:
            made = e
        with self.condition:
            self.ready.append(made)
            self.condition.notify_all()
            self.is_running = not (isinstance(made, End) or self.is_over)
            return self.is_running

    def _has_room(self) -> bool:
        """Whether another element is wanted; if not so for long, the thread is over."""
        with self.condition:
            wanted = self.condition.wait_for(lambda: len(self.ready) < self.size or self.is_over, threads.PATIENCE)
            if not wanted or self.is_over:
                self.is_running = False
            return self.is_running


class Ahead:
    """Gives the elements of `following`; from the first that takes long on, a thread makes `size` of them ahead. With a
    place to meet, where others are waited for, too, one does so from the beginning.
    """

    def __init__(
        self,
        start: Callable[[Iteration], Following],
        iteration: Iteration,
        size: int,
        meeting: Meeting | None = None,
    ) -> None:
        self._iteration = iteration
        self._own = iteration.apart()  # its step is that of the run that asks, or of the thread
        self._following = start(self._own)
        self.size = AUTOTUNED if size < 0 else size
        self.asked = self.found_ready = 0  # how often an element was asked for, and the sum of those that were ready
        self._buffer: _Buffer | None = None
        self._first = True
        if meeting is not None:
            self._begin(iteration.step, meeting)

    def _begin(self, step: Step | None, meeting: Meeting) -> None:
        self._buffer = _Buffer(self._following, self._own, self.size, meeting)
        self._own.step = step.detached() if step is not None else None
        weakref.finalize(self, self._buffer.close)
        with meeting.condition:
            self.wake()

    def wake(self) -> None:
        """See that a thread is at work where no element is ready; whoever asks holds the place to meet."""
        if self._buffer is not None:
            self._buffer.wake()

    @property
    def ready(self) -> int:
        """How many elements are made."""
        return len(self._buffer.ready) if self._buffer is not None else 0

    def __call__(self) -> Element:
        step = self._iteration.step
        if self._buffer is not None:
            self.asked += 1
            self.found_ready += len(self._buffer.ready)
            return self._buffer.take(step)
        self._own.step = step
        begin = time.perf_counter()
        try:
            return threads.with_threads(self._own.threads_of_a_kernel, self._following)
        finally:
            if time.perf_counter() - begin > WORTH and not self._first and step is not None:
                self._begin(step, Meeting())
            self._first = False


@dataset("PrefetchDataset")
def prefetch_dataset(input_dataset: Dataset, buffer_size: torch.Tensor) -> Dataset:
    size = int(buffer_size)
    if size < -1:
        raise InvalidArgumentError(None, None, "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")

    def start(iteration: Iteration) -> Following:
        if size == 0:
            return input_dataset.start(iteration)
        ahead = Ahead(input_dataset.start, iteration, size)
        return ahead if iteration.stats is None else _telling(ahead, iteration.stats, made)

    made = Dataset(start, input_dataset.cardinality, blocks=lambda: input_dataset.blocks)
    return made


def _telling(ahead: Ahead, stats: Recorder, made: Dataset) -> Following:
    """The same elements; how full the buffer is when one is asked for goes to the statistics."""
    name = made.origin.told_name if made.origin is not None else "PrefetchDataset"
    count = 0

    def told() -> Element:
        nonlocal count
        # At the end nothing is told; before, the element that was waited for is in the buffer.
        ready, element = max(1, ahead.ready), ahead()
        count += 1
        stats.add_to_histogram(f"{name}::buffer_utilization", ready / ahead.size, count)
        stats.set_scalar(f"{name}::buffer_capacity", ahead.size, count)
        stats.set_scalar(f"{name}::buffer_size", ready, count)
        return element

    return told


@dataset("PrivateThreadPoolDataset", "ExperimentalPrivateThreadPoolDataset")
def private_thread_pool_dataset(input_dataset: Dataset, num_threads: torch.Tensor) -> Dataset:
    count = int(num_threads)
    if count < 1:
        raise InvalidArgumentError(None, None, "`num_threads` must be greater or equal to 1")

    def start(iteration: Iteration) -> Following:
        iteration.threads, iteration.has_own_threads = count, True
        return input_dataset.start(iteration)

    return Dataset(start, input_dataset.cardinality)


@dataset("MaxIntraOpParallelismDataset", "ExperimentalMaxIntraOpParallelismDataset")
def max_intra_op_parallelism_dataset(input_dataset: Dataset, max_intra_op_parallelism: torch.Tensor) -> Dataset:
    count = int(max_intra_op_parallelism)
    if count < 0:
        raise InvalidArgumentError(None, None, f"`max_intra_op_parallelism` is 0 or more, not {count}")

    def start(iteration: Iteration) -> Following:
        iteration.threads_of_a_kernel = count or os.cpu_count() or 1  # 0: as many as the machine has
        return input_dataset.start(iteration)

    return Dataset(start, input_dataset.cardinality)


@kernel("ThreadPoolHandle", "ExperimentalThreadPoolHandle", once=True)
def thread_pool_handle(*, num_threads: int, max_intra_op_parallelism: int) -> tuple[int, int]:
    return num_threads, max_intra_op_parallelism


@dataset("ThreadPoolDataset", "ExperimentalThreadPoolDataset")
def thread_pool_dataset(input_dataset: Dataset, thread_pool: tuple[int, int]) -> Dataset:
    def start(iteration: Iteration) -> Following:
        iteration.threads, iteration.threads_of_a_kernel = thread_pool
        iteration.has_own_threads = True
        return input_dataset.start(iteration)

    return Dataset(start, input_dataset.cardinality)
