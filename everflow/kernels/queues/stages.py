"""Where the time of queues and readers goes: clocks round what is put in, taken out and read.

A thread that fills a queue takes turns: it asks other queues and readers, computes, puts the result in. What it asked for
since it last put something in is shown below the queue, and the rest of that time is the stage between them.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from everflow.kernels.data.stages import HERE, IS_WATCHING, LOCK, NOT_WAITED_FOR, STAGES, Stage, timed

if TYPE_CHECKING:
    from everflow.kernels.context import Step
    from everflow.kernels.io.readers import Reader
    from everflow.kernels.queues.queues import Queue

_R = TypeVar("_R", bound="Reader")
_RUNNERS = "QueueRunnerThread"  # how the names of their threads begin
_SMALL = 400e-6  # seconds of an element for which a run of its own is much


class Filling(Stage):
    """What threads do before they put an element into a queue, besides asking for others."""

    def __init__(self) -> None:
        super().__init__("ops of its runner", [])
        self.threads: set[int] = set()

    def how(self) -> str:
        return f"{len(self.threads)} thread{'s' if len(self.threads) > 1 else ''}"

    def remedy(self) -> str:
        """What to do where it takes longest."""
        processors = os.cpu_count() or 1
        if self.name != "ops of its runner":
            return (
                "Python between two enqueues takes longest: put many rows in at a time (enqueue_many), or use tf.data."
            )
        if len(self.threads) < processors:
            return f"The ops that fill it take longest, in {self.how()}: use num_threads={processors}, one for each processor."
        return "The ops that fill it take longest: do less in them, or write what they make into records once."


class Reading(Stage):
    """A reader."""

    def how(self) -> str:
        return f"{self.elements / max(self.calls, 1):.0f} at a time" if self.elements > self.calls else "one by one"

    def remedy(self) -> str:
        """What to do where it takes longest."""
        return f"{self.name} takes longest, and reads for one thread at a time: use several readers with shuffle_batch_join or batch_join."


class Waiting(Stage):
    """A queue. Its time is what others waited for its elements."""

    def __init__(self, name: str, queue: Queue) -> None:
        self.filling = Filling()
        super().__init__(name, [self.filling])
        self.capacity, self.least_left = queue.capacity, queue.least_left
        self.first_seconds = 0.0  # of the first time that it was asked
        self.held = 0  # elements in it when it was asked, added up
        self.puts = self.puts_when_full = 0

    def how(self) -> str:
        most = "any number" if self.capacity == float("inf") else f"{self.capacity:,}"
        full = f"; full at {100 * self.puts_when_full / self.puts:.0f}% of enqueues" if self.puts else ""
        return f"{self.held / max(self.calls, 1):,.1f} of {most} in it when asked{full}"

    def note_put(self, begin: float, elements: int, is_full: bool) -> None:
        """Elements are put in by this thread: whom it asked for before, and what it did besides, belong to them."""
        filling = self.filling
        with LOCK:
            self.puts += 1
            self.puts_when_full += is_full
            filling.elements += elements
            filling.calls += 1
            filling.threads.add(threading.get_ident())
            if not threading.current_thread().name.startswith(_RUNNERS):
                filling.name = "Python and ops of its threads"
            if HERE.since is not None:
                filling.seconds += max(0.0, begin - HERE.since - sum(HERE.asked.values()))
            for asked in HERE.asked:
                if asked not in filling.inputs and self not in [stage for stage, _ in asked.below()]:
                    filling.inputs.append(asked)
                    asked.is_used = True

    def advice(self, seconds: float) -> list[str]:
        if self.seconds < 0.05 * seconds:
            return [NOT_WAITED_FOR]
        found = []
        if self.first_seconds > 0.3 * self.seconds and self.least_left:
            found.append(
                f"{self.first_seconds:.2f} s of that was the first time: with min_after_dequeue={self.least_left} so many "
                "elements come before it. A smaller number starts sooner."
            )
            if self.seconds - self.first_seconds < 0.05 * seconds:
                return found
        calls = max(self.calls, 1)
        if self.held / calls - self.least_left < 2 * self.elements / calls:
            found.append("The queue has little more than it must when asked: what fills it is slower than the program.")
        below = [stage for stage, _ in self.below()]
        work = [stage for stage in below if isinstance(stage, Filling | Reading) and stage.elements]
        slowest = max(work, key=lambda stage: stage.seconds, default=None)
        if slowest is None:
            return found
        found.append(slowest.remedy())
        if slowest.calls == slowest.elements and slowest.seconds / slowest.elements < _SMALL:
            found.append(
                "Elements are small, and each is a run of its own: read many at a time with reader.read_up_to(queue, n) "
                "and batch them with enqueue_many=True, or use tf.data."
            )
        return found


def watched_queue(queue: Queue, name: str) -> Queue:
    """A queue that is measured, if anything is."""
    if not IS_WATCHING:
        return queue
    stage = Waiting(_short(name), queue)
    STAGES.append(stage)
    put, take = queue.put, queue.take

    def measured_put(items: list, step: Step) -> None:
        stage.note_put(time.perf_counter(), len(items), len(queue.items) >= queue.capacity)
        try:
            put(items, step)
        finally:
            HERE.asked.clear()
            HERE.since = time.perf_counter()

    def noted_take(*arguments: Any, **named: Any) -> list:
        is_first, begin = not stage.calls, time.perf_counter()
        with LOCK:
            stage.held += len(queue.items)
            _link(stage)
        taken = take(*arguments, **named)
        if is_first:
            stage.first_seconds = time.perf_counter() - begin
        return taken

    queue.put, queue.take = measured_put, timed(stage, noted_take, len)  # type: ignore[method-assign]
    return queue


def _link(stage: Stage) -> None:
    """A queue that a reader asks belongs below it."""
    outer = HERE.stages[-2] if len(HERE.stages) > 1 else None
    if outer is not None and stage not in outer.inputs:
        outer.inputs.append(stage)
        stage.is_used = True


def watched_reader(reader: _R) -> _R:
    """A reader that is measured, if anything is."""
    if IS_WATCHING:
        stage = Reading(type(reader).__name__, [])
        STAGES.append(stage)
        reader.read = timed(stage, reader.read, lambda pair: 1)  # type: ignore[method-assign]
        reader.read_up_to = timed(stage, reader.read_up_to, len)  # type: ignore[method-assign]
    return reader


def _short(name: str) -> str:
    """shuffle_batch/random_shuffle_queue → shuffle_batch"""
    scope, _, own = name.rpartition("/")
    return scope if scope and own.endswith("_queue") else name
