"""Two calls of one run side by side: a second thread takes one of them, if it is awake in time.

To wake a thread takes some ten microseconds, and on a busy machine far more. So nobody waits for one to begin: who is
done with the first call and finds that the second was not begun makes it, too.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from everflow.runtime import threads
from everflow.runtime.denormals import flush
from everflow.runtime.plan.concurrent_calls import End

if TYPE_CHECKING:
    from everflow.runtime.hints import Value
    from everflow.runtime.state import Step


class _Offer:
    """A call that the partner may take."""

    def __init__(self, end: End) -> None:
        self.end = end
        self._claim, self._over = threading.Lock(), threading.Lock()
        self._over.acquire()

    def take(self) -> bool:
        """Whether it is the asker's now."""
        return self._claim.acquire(blocking=False)

    def run(self) -> None:
        self.end.run()
        self._over.release()

    def wait(self, step: Step) -> None:
        try:
            self._over.acquire()
        except BaseException:  # an interrupt: nothing of the run may go on
            step.cancel()
            self._over.acquire()
            raise


class _Partner:
    """The thread that takes calls, for all runs of the process; started with the first."""

    def __init__(self) -> None:
        self._offers: queue.SimpleQueue[_Offer] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._is_there = False

    def offer(self, offer: _Offer) -> None:
        self._offers.put(offer)
        if not self._is_there:
            with self._lock:
                if not self._is_there:
                    self._is_there = True
                    threading.Thread(target=self._serve, name="everflow-partner", daemon=True).start()

    def _serve(self) -> None:
        threads.use(1)
        flush(True)
        while True:
            offer = self._offers.get()
            if offer.take():
                offer.run()
            del offer  # and what it holds


_partner: _Partner | None = _Partner()


def _stay_alone() -> None:
    """After a fork: kernels of a child take one thread."""
    global _partner
    _partner = None


os.register_at_fork(after_in_child=_stay_alone)


def side_by_side(step: Step, first: Callable[[], Value], second: Callable[[], Value]) -> tuple[End, End]:
    """Make two calls that know nothing of each other, each on one thread, and wait for both. Where one failed and the
    other was stopped for it, only the first has an error.
    """
    ends = End(first, step), End(second, step)
    before = threads.use(1)
    try:
        if _partner is None:
            for end in ends:
                end.run()
        else:
            offer = _Offer(ends[1])
            _partner.offer(offer)
            ends[0].run()
            if offer.take():
                offer.run()
            else:
                offer.wait(step)
    finally:
        threads.use(before)
    End.blame(ends)
    return ends
