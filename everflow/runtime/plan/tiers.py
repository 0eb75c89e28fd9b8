"""When a plan becomes machine code: at once, never, or, as a rule, in the background once it has run for a while.

Compiling takes from tenths of a second to seconds. A plan that has run for so long will, as with most things that
last, run for as long again; one that hasn't never waits for a compiler.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everflow.protos import config_pb2

OFF, WHEN_IT_PAYS, ALWAYS = "off", "when it pays", "always"
# Seconds and runs after which a plan is compiled.
LONG_ENOUGH, OFTEN_ENOUGH = 0.5, 20
_MODES = {"off": OFF, "always": ALWAYS, "auto": WHEN_IT_PAYS}


def mode_of(config: config_pb2.ConfigProto) -> str:
    """What a session's configuration says, or EVERFLOW_NATIVE (off, auto, always) or TF_XLA_FLAGS in the environment."""
    level = config.graph_options.optimizer_options.global_jit_level
    if level:
        return OFF if level < 0 else ALWAYS
    named = os.environ.get("EVERFLOW_NATIVE")
    if named is not None:
        if named not in _MODES:
            raise ValueError(f"EVERFLOW_NATIVE must be one of {', '.join(_MODES)}, not {named!r}")
        return _MODES[named]
    for flag in os.environ.get("TF_XLA_FLAGS", "").split():
        name, _, value = flag.lstrip("-").partition("=")
        if name == "tf_xla_auto_jit":
            return OFF if value.startswith("-") else WHEN_IT_PAYS if value == "0" else ALWAYS
    return WHEN_IT_PAYS


def is_possible() -> bool:
    """Whether llvmlite is there."""
    try:
        import llvmlite.binding  # noqa: F401  # a library that not every machine has
    except ImportError:
        return False
    return True


class Watch:
    """Counts a plan's runs and their time, and says once that it is worth compiling."""

    __slots__ = ("runs", "seconds")

    def __init__(self) -> None:
        self.runs = 0
        self.seconds = 0.0

    def is_hot(self, seconds: float) -> bool:
        self.runs += 1
        self.seconds += seconds
        return self.runs >= OFTEN_ENOUGH and self.seconds >= LONG_ENOUGH


class _Background:
    """One thread that does what it is given, one after the other; it ends with the process, and is not there in a
    child that was forked.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self.busy = threading.Lock()

    def submit(self, job: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="everflow-compiler", daemon=True)
            self._thread.start()
            atexit.register(self.close)
        self._jobs.put(job)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            with self.busy:
                job()

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
