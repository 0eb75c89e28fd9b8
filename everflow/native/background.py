"""Whether there is a compiler, and the thread that waits for it."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator


def is_possible() -> bool:
    """Whether there is a compiler: llvmlite, and a Python to run it. What is frozen into a program of its own has none."""
    return bool(sys.executable) and not getattr(sys, "frozen", False) and _is_installed()


@functools.cache
def _is_installed() -> bool:
    """Only looked for: to load it would make every program's first run longer."""
    return importlib.util.find_spec("llvmlite") is not None


# Seconds for which a job may hold Python's lock, and for which it then leaves it to others. A thread that calls kernels
# lets go of the lock at each, and would get it back after five milliseconds only.
_AT_A_STRETCH, _REST = 1e-3, 1e-3


class Ending(Exception):
    """The program ends, and nobody needs the code any more that was being made."""


class _Background:
    """One thread that does what it is given, one after the other; it ends with the process, and is not there in a
    child that was forked.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self.busy = threading.Lock()
        self._level = logging.WARNING
        self._since = 0.0  # when it last rested
        self._hurries = 0  # how many wait for what it does

    def submit(self, job: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="everflow-compiler", daemon=True)
            self._thread.start()
            atexit.register(self.close)
        self._jobs.put(job)

    @property
    def is_idle(self) -> bool:
        """Whether all that was asked for is done."""
        return self._jobs.empty() and not self.busy.locked()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            with self.busy:
                self.attempt(job)

    def attempt(self, job: Callable[[], None]) -> None:
        """Do something at once; whatever goes wrong is told, once, and stops nobody: what fails for one plan fails for
        most.
        """
        try:
            job()
        except Ending:
            return
        except Exception:
            level, self._level = self._level, logging.DEBUG
            text = "A plan stays as it is: it could not be compiled. EVERFLOW_NATIVE=off lets it be."
            logging.getLogger("everflow").log(level, text, exc_info=True)

    def breathe(self) -> None:
        """Between two pieces of a job: leave Python's lock to others for a moment, unless somebody waits for the job. To
        whoever is not in the background it is nothing.
        """
        if self._hurries or threading.current_thread() is not self._thread:
            return
        if time.perf_counter() - self._since > _AT_A_STRETCH:
            time.sleep(_REST)
            self._since = time.perf_counter()

    @contextlib.contextmanager
    def hurrying(self) -> Iterator[None]:
        """While somebody waits for a job, it takes no rests."""
        self._hurries += 1
        try:
            yield
        finally:
            self._hurries -= 1

    def close(self) -> None:
        """Let the job at hand end: a process must not go away under a compiler's feet."""
        while not self._jobs.empty():
            self._jobs.get()
        self._jobs.put(None)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None

    def begin_anew(self) -> None:
        self.__init__()  # type: ignore[misc]  # in a child of a fork, where the thread is not


BACKGROUND = _Background()
os.register_at_fork(
    before=lambda: BACKGROUND.busy.acquire(),
    after_in_parent=lambda: BACKGROUND.busy.release(),
    after_in_child=BACKGROUND.begin_anew,
)
