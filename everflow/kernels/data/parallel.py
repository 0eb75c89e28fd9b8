"""Several calls of a function at the same time, whose results come in the order of the elements.

Kernels leave Python's lock while they decode, parse and compute; so calls that take some time are shared out among
threads, and short ones stay with whoever asks.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from everflow.framework.forking import renewed
from everflow.kernels.data import blocks, threads
from everflow.kernels.data.datasets import Element, End, Following, Iteration

if TYPE_CHECKING:
    from everflow.kernels.context import Step

Call = Callable[["Step | None", Element], Element]

# A call that takes longer than this, in seconds, is worth another thread.
WORTH = 2.5e-4
# Calls are handed over some at a time where nobody sees it: as many as take so many seconds, and not more than so many.
LONG, MOST = 4e-3, 16

Result = Element | Exception


class _Job:
    """Calls that are under way, one after the other, or what they came to."""

    def __init__(self, step: Step | None, elements: list[Element], results: Sequence[Result] | None = None) -> None:
        self.step, self.elements, self.results = step, elements, results
        self.seconds = 0.0  # that it took


class _Workers:
    """Threads that take jobs from a queue, as many as there are calls at a time."""

    def __init__(self, call: Call, many: blocks.Many | None, count: int, threads_of_a_kernel: int) -> None:
        self._call, self._many = call, many
        self._count, self._threads_of_a_kernel = count, threads_of_a_kernel
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
            begin = time.perf_counter()
            results = self._together(job) or [self._result(job.step, element) for element in job.elements]
            job.seconds = time.perf_counter() - begin
            with self.condition:
                job.results = results
                self.condition.notify_all()

    def _together(self, job: _Job) -> Sequence[Result]:
        """The results of all elements at once, where the function has a form for that and none of them is odd."""
        if self._many is None or len(job.elements) == 1:
            return ()
        try:
            return blocks.rows(self._many(blocks.stacked(job.elements), job.step))
        except Exception:  # whatever it is: the elements are asked one by one, and whose error it is gives it
            results = [self._result(job.step, element) for element in job.elements]
            if not any(isinstance(result, Exception) for result in results):
                self._many = None  # such as elements whose results have different shapes
            return results

    def _result(self, step: Step | None, element: Element) -> Result:
        try:
            return self._call(step, element)
        except Exception as e:
            return e

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

    `count` -1 is one for each thread. `ahead`: whether elements may be read, and calls made, that nobody asked for yet;
    `many` makes calls for several elements then.
    """

    def __init__(
        self,
        following: Following,
        call: Call,
        count: int,
        iteration: Iteration,
        ahead: bool = False,
        many: blocks.Many | None = None,
    ) -> None:
        self._following, self._call, self._many, self._iteration = following, call, many, iteration
        self._count = count if count > 0 else iteration.threads
        self._ahead, self._quickest = ahead, LONG  # seconds of the quickest call so far
        self._workers: _Workers | None = None
        self._read: list[Element] = []  # of the next job
        self._jobs: deque[_Job] = deque()
        self._results: deque[Result] = deque()
        self._first = True
        renewed(self)

    def _at_fork_reinit(self) -> None:
        """What the parent's threads have at hand is done again."""
        if self._workers is not None:
            self._begin()
            for job in self._jobs:
                if job.results is None:
                    self._workers.submit(job)

    def _begin(self) -> None:
        count = min(self._count, self._iteration.threads)
        self._workers = _Workers(self._call, self._many, count, self._iteration.threads_of_a_kernel)
        weakref.finalize(self, self._workers.close)

    def __call__(self) -> Element:
        step = self._iteration.step
        if self._workers is None:
            return self._alone(step)
        if not self._results:
            self._results.extend(self._next_results(step, self._workers))
        result = self._results.popleft()
        if isinstance(result, Exception):
            raise result
        return result

    def _next_results(self, step: Step | None, workers: _Workers) -> Sequence[Result]:
        # One job more than there are calls at a time waits, so that no thread does where jobs are short.
        while len(self._jobs) < self._count + self._ahead and not (self._jobs and self._is_end(self._jobs[-1])):
            self._submit(step, workers)
        job, condition = self._jobs[0], workers.condition
        with condition:
            if step is None:
                condition.wait_for(lambda: job.results is not None)
            else:
                step.wait_for(condition, lambda: job.results is not None)
        self._jobs.popleft()
        assert job.results is not None
        if job.elements:
            self._quickest = min(self._quickest, job.seconds / len(job.elements))
        return job.results

    @staticmethod
    def _is_end(job: _Job) -> bool:
        return job.results is not None and isinstance(job.results[-1], End)

    def _submit(self, step: Step | None, workers: _Workers) -> None:
        """Begin calls for the next elements; where there is none, what there is instead is a result."""
        failure = None
        together = min(MOST, int(LONG / self._quickest)) if self._ahead else 1
        try:
            while len(self._read) < together:
                self._read.append(self._following())
        except Exception as e:
            failure = e
        if self._read:
            job = _Job(None if step is None else step.detached(), self._read)
            self._read = []
            self._jobs.append(job)
            workers.submit(job)
        if failure is not None:
            self._iteration.check()  # what ends the run that asks is no element's error
            self._jobs.append(_Job(None, [], [failure]))

    def _alone(self, step: Step | None) -> Element:
        element = self._following()
        begin = time.perf_counter()
        try:
            return threads.with_threads(self._iteration.threads_of_a_kernel, self._call, step, element)
        finally:
            if time.perf_counter() - begin > WORTH and not self._first and self._count > 1:
                self._begin()
            self._first = False
