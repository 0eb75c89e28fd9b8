"""Several calls of a function at the same time, whose results come in the order of the elements, or as they are ready
where that may be.

Kernels leave Python's lock while they decode, parse and compute; so calls that take some time are shared out among
threads, and short ones stay with whoever asks.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from everflow.framework.forking import renewed
from everflow.kernels.data import threads
from everflow.kernels.data.datasets import Element, End, Following, Iteration

if TYPE_CHECKING:
    from everflow.kernels.context import Step

Call = Callable[["Step | None", Element], Element]

# A call that takes longer than this, in seconds, is worth another thread.
WORTH = 2.5e-4
# Calls are handed over some at a time where nobody sees it: as many as take so many seconds, and not more than so many.
LONG, MOST = 4e-3, 16

Result = Element | Exception


class Job:
    """Work that a thread does, or what it came to."""

    def __init__(self, step: Step | None, given: Any, results: Sequence[Any] | None = None) -> None:
        self.step, self.given, self.results = step, given, results
        self.seconds = 0.0  # that it took


Work = Callable[[Job], Sequence[Any]]


class _Workers:
    """Threads that take jobs from a queue, as many as there are calls at a time."""

    def __init__(self, work: Work, count: int, threads_of_a_kernel: int) -> None:
        self._do, self._count, self._threads_of_a_kernel = work, count, threads_of_a_kernel
        self.condition = threading.Condition()
        self._jobs: deque[Job] = deque()
        self._running = self._idle = 0
        self._is_over = False

    def submit(self, job: Job) -> None:
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
        while self._work_once():
            pass

    def _work_once(self) -> bool:
        """Do a job, if there is one; a thread that waits holds none, so that results belong to who asked for them."""
        job = self._next()
        if job is None:
            return False
        begin = time.perf_counter()
        results = self._do(job)
        job.seconds = time.perf_counter() - begin
        with self.condition:
            job.results = results
            self.condition.notify_all()
        return True

    def _next(self) -> Job | None:
        with self.condition:
            self._idle += 1
            self.condition.wait_for(lambda: self._jobs or self._is_over, threads.PATIENCE)
            self._idle -= 1
            if not self._jobs:
                self._running -= 1
                return None
            return self._jobs.popleft()


class Jobs:
    """What threads are at: `work(job)` gives the results of a job, and must not know this. They come in the order in
    which jobs were handed over, or in any order where `sloppy`.
    """

    def __init__(self, work: Work, count: int, iteration: Iteration, *, sloppy: bool = False) -> None:
        most = iteration.threads - iteration.has_own_threads
        self._work, self._count, self._sloppy = work, max(1, min(count, most)), sloppy
        self._threads_of_a_kernel = iteration.threads_of_a_kernel
        self._jobs: deque[Job] = deque()
        self._begin()
        renewed(self)

    def _at_fork_reinit(self) -> None:
        """What the parent's threads have at hand is done again."""
        self._begin()
        for job in self._jobs:
            if job.results is None:
                self._workers.submit(job)

    def _begin(self) -> None:
        self._workers = _Workers(self._work, self._count, self._threads_of_a_kernel)
        weakref.finalize(self, self._workers.close)

    def __len__(self) -> int:
        return len(self._jobs)

    @property
    def is_at_end(self) -> bool:
        """Whether the last that was handed over is the end of the elements."""
        last = self._jobs[-1].results if self._jobs else None
        return last is not None and isinstance(last[-1], End)

    def submit(self, step: Step | None, given: Any) -> None:
        job = Job(None if step is None else step.detached(), given)
        self._jobs.append(job)
        self._workers.submit(job)

    def follow(self, result: Exception) -> None:
        """What comes after the jobs at hand."""
        self._jobs.append(Job(None, (), [result]))

    def next(self, step: Step | None) -> Job:
        """The first job, once it is done, or the first that is done."""
        condition = self._workers.condition
        with condition:
            if step is None:
                condition.wait_for(self._done)
            else:
                step.wait_for(condition, lambda: self._done() is not None)
            job = self._done()
            assert job is not None
            self._jobs.remove(job)
        return job

    def _done(self) -> Job | None:
        """A job whose turn it may be; what follows jobs comes after all of them."""
        for job in self._jobs:
            if job.results is not None and (job.given or job is self._jobs[0]):
                return job
            if not self._sloppy:
                return None
        return None


def result_of(call: Call, step: Step | None, element: Element) -> Result:
    """What a call comes to."""
    try:
        return call(step, element)
    except Exception as e:
        return e


class Parallel:
    """Gives `call(step, element)` for the elements of `following`, `count` of them at a time once one took long.

    `count` -1 is one for each thread. `ahead`: whether elements may be read, and calls made, that nobody asked for yet.
    `sloppy`: whether results may come in another order.
    """

    def __init__(
        self,
        following: Following,
        call: Call,
        count: int,
        iteration: Iteration,
        *,
        ahead: bool = False,
        sloppy: bool = False,
    ) -> None:
        self._following, self._call, self._iteration, self._sloppy = following, call, iteration, sloppy
        self._count = count if count > 0 else iteration.threads
        if iteration.has_own_threads:
            self._count = min(self._count, iteration.threads)
        self._ahead, self._quickest = ahead, LONG  # seconds of the quickest call so far
        self._jobs: Jobs | None = None
        self._read: list[Element] = []  # of the next job
        self._results: deque[Result] = deque()
        self._first = True
        if sloppy and not ahead and self._count > 1:  # Python may be late in any call
            self._begin()

    def __call__(self) -> Element:
        step = self._iteration.step
        if self._jobs is None:
            return self._alone(step)
        if not self._results:
            self._results.extend(self._next_results(step, self._jobs))
        result = self._results.popleft()
        if isinstance(result, Exception):
            raise result
        return result

    @property
    def busy(self) -> int:
        """How many calls go on at this moment, or went on last."""
        return 1 if self._jobs is None else max(1, len(self._jobs))

    def _next_results(self, step: Step | None, jobs: Jobs) -> Sequence[Result]:
        # One job more than there are calls at a time waits, so that no thread does where jobs are short.
        while len(jobs) < self._count + self._ahead and not jobs.is_at_end:
            self._submit(step, jobs)
        job = jobs.next(step)
        assert job.results is not None
        if job.given:
            self._quickest = min(self._quickest, job.seconds / len(job.given))
        return job.results

    def _submit(self, step: Step | None, jobs: Jobs) -> None:
        """Begin calls for the next elements; where there is none, what there is instead is a result."""
        failure = None
        together = min(MOST, int(LONG / self._quickest)) if self._ahead else 1
        try:
            while len(self._read) < together:
                self._read.append(self._following())
        except Exception as e:
            failure = e
        if self._read:
            jobs.submit(step, self._read)
            self._read = []
        if failure is not None:
            self._iteration.check()  # what ends the run that asks is no element's error
            jobs.follow(failure)

    def _alone(self, step: Step | None) -> Element:
        element = self._following()
        begin = time.perf_counter()
        try:
            return threads.with_threads(self._iteration.threads_of_a_kernel, self._call, step, element)
        finally:
            if time.perf_counter() - begin > WORTH and not self._first and self._count > 1:
                self._begin()
            self._first = False

    def _begin(self) -> None:
        call = self._call
        self._jobs = Jobs(
            lambda job: [result_of(call, job.step, element) for element in job.given],
            self._count,
            self._iteration,
            sloppy=self._sloppy,
        )
