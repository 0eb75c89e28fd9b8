"""Runs with a time limit: each goes on a thread of its own, so whoever waits for it is free in time, whatever a kernel
is doing.

A kernel can't be stopped from outside. One that looks at its step (`Step.check`) ends by itself; any other finishes on
the thread it is on, and there nothing that comes after it is run.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from everflow.runtime.state import Step

if TYPE_CHECKING:
    from everflow.runtime.hints import Value
    from everflow.runtime.plan.program import Node

# How long a run that should stop may take to do so in order, before nobody waits for it any more.
GRACE = 0.3


class _Here(threading.local):
    """The run that goes on in this thread."""

    step: Step | None = None


_here = _Here()


def check_after(node: Node, begin: int, end: int, values: list[Value]) -> None:
    """What plans of such runs call after each node (a recorder, as `plan/emit.py` takes it)."""
    # Nodes that run at the same time have threads of their own, which the run's thread waits for.
    if _here.step is not None:
        _here.step.check()


class _Job:
    """A call, and how it ended."""

    def __init__(self, call: Callable, step: Step) -> None:
        self.call, self.step = call, step
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = threading.Event()

    def run(self) -> None:
        _here.step = self.step
        try:
            self.result = self.call()
        except BaseException as error:  # raised again where it is waited for
            self.error = error
        _here.step = None


class _Runner:
    """A thread that does one job after the other."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True, name="everflow run").start()

    def _work(self) -> None:
        while True:
            job = self.jobs.get()
            job.run()
            _idle.append(self)
            job.done.set()
            del job  # its values aren't kept until the next one comes


_idle: list[_Runner] = []
os.register_at_fork(after_in_child=_idle.clear)  # a child has none of its parent's threads


def within_limit(call: Callable, step: Step) -> Any:
    """What `call()` returns or raises; when the step's time is over or it is cancelled, the error for that, even if the
    call goes on.
    """
    job = _Job(call, step)
    try:
        runner = _idle.pop()
    except IndexError:
        runner = _Runner()
    runner.jobs.put(job)
    try:
        while not job.done.wait(step.patience()):
            error = step.reason_to_stop()
            if error is not None and not job.done.wait(GRACE):
                raise error
    except BaseException:
        step.cancel()
        raise
    try:
        if job.error is not None:
            raise job.error
        return job.result
    finally:
        del job  # its error has this frame in its traceback: together they would keep all values of the run
