"""Several calls of a function at the same time, whose results come in the order of the elements.

Kernels leave Python's lock while they decode, parse and compute; so calls that take some time are shared out among
threads, and short ones stay with whoever asks.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from everflow.framework.forking import renewed
from everflow.kernels.data import threads
from everflow.kernels.data.datasets import Element, End, Following, Iteration

if TYPE_CHECKING:
    from everflow.kernels.context import Step

Call = Callable[["Step | None", Element], Element]

# A call that takes longer than this, in seconds, is worth another thread.
WORTH = 2.5e-4


class _Job:
    """A call that is under way, or what it came to."""

    def __init__(self, step: Step | None, element: Element) -> None:
        self.step, self.element = step, element
        self.result: Element | Exception | None = None


class _Workers:
    """Threads that take jobs from a queue, as many as there are calls at a time."""

    def __init__(self, call: Call, count: int, threads_of_a_kernel: int) -> None:
        self._call, self._count, self._threads_of_a_kernel = call, count, threads_of_a_kernel
        self.condition = threading.Condition()
        self._jobs: deque[_Job] = deque()
        self._running = self._idle = 0
        self._is_over = False

    def submit(self, job: _Job) -> None:
        with self.condition:
            self._jobs.append(job)
            if self._running < self._count and self._idle < len(self._jobs):
                self._running += 1
                threads.begin_thread(self._work, self, self._threads_of_a_kernel)
            self.condition.notify_all()

    def close(self) -> None:
        """Nobody waits for results any more."""
        with self.condition:
            self._is_over = True
            self._jobs.clear()
            self.condition.notify_all()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                result: Element | Exception = self._call(job.step, job.element)
            except Exception as e:
                result = e
            with self.condition:
                job.result = result
                self.condition.notify_all()

    def _next(self) -> _Job | None:
        with self.condition:
            self._idle += 1
            self.condition.wait_for(lambda: self._jobs or self._is_over, threads.PATIENCE)
            self._idle -= 1
            if not self._jobs:
                self._running -= 1
                return None
            return self._jobs.popleft()


class Parallel:
    """Gives `call(step, element)` for the elements of `following`, `count` of them at a time once one took long.

    `count` -1 is one for each thread.
    """

    def __init__(self, following: Following, call: Call, count: int, iteration: Iteration) -> None:
        self._following, self._call, self._iteration = following, call, iteration
        self._count = count if count > 0 else iteration.threads
        self._workers: _Workers | None = None
        self._jobs: deque[_Job] = deque()
        self._first = True
        renewed(self)

    def _at_fork_reinit(self) -> None:
        """What the parent's threads have at hand is done again."""
        if self._workers is not None:
            self._begin()
            for job in self._jobs:
                if job.result is None:
                    self._workers.submit(job)

    def _begin(self) -> None:
        count = min(self._count, self._iteration.threads)
        self._workers = _Workers(self._call, count, self._iteration.threads_of_a_kernel)
        weakref.finalize(self, self._workers.close)

    def __call__(self) -> Element:
        step = self._iteration.step
        if self._workers is None:
            return self._alone(step)
        while len(self._jobs) < self._count and not (self._jobs and isinstance(self._jobs[-1].result, End)):
            self._jobs.append(self._begun(step))
        job = self._jobs[0]
        condition = self._workers.condition
        with condition:
            if step is None:
                condition.wait_for(lambda: job.result is not None)
            else:
                step.wait_for(condition, lambda: job.result is not None)
        self._jobs.popleft()
        assert job.result is not None
        if isinstance(job.result, Exception):
            raise job.result
        return job.result

    def _begun(self, step: Step | None) -> _Job:
        """A job for the next element; where there is none, what there is instead is its result."""
        assert self._workers is not None
        try:
            job = _Job(None if step is None else step.detached(), self._following())
        except Exception as e:
            self._iteration.check()  # what ends the run that asks is no element's error
            job = _Job(None, ())
            job.result = e
        else:
            self._workers.submit(job)
        return job

    def _alone(self, step: Step | None) -> Element:
        element = self._following()
        begin = time.perf_counter()
        try:
            return threads.with_threads(self._iteration.threads_of_a_kernel, self._call, step, element)
        finally:
            if time.perf_counter() - begin > WORTH and not self._first and self._count > 1:
                self._begin()
            self._first = False
