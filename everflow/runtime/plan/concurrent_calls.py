"""Calls of one run at the same time, for nodes that wait for each other: what puts into a full queue, and what takes
from it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from everflow.framework.errors import CancelledError

if TYPE_CHECKING:
    from everflow.runtime.hints import Value
    from everflow.runtime.state import Step


class End:
    """How a call ended."""

    def __init__(self, call: Callable[[], Value], step: Step) -> None:
        self._call, self._step = call, step
        self.result: Value = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self._call()
        except BaseException as error:  # raised again where the call's statement is
            self.error = error
            self._step.cancel()  # the others would wait in vain

    def check(self) -> None:
        if self.error is not None:
            raise self.error

    @staticmethod
    def blame(ends: Sequence[End]) -> None:
        """Where one failed and others were stopped for it, leave the first its error alone."""
        failed = [end for end in ends if end.error is not None]
        if any(not isinstance(end.error, CancelledError) for end in failed):
            for end in failed:
                if isinstance(end.error, CancelledError):
                    end.error = None


def concurrently(step: Step, *calls: Callable[[], Value]) -> list[End]:
    """Make calls in threads and wait for all of them."""
    ends = [End(call, step) for call in calls]
    threads = [threading.Thread(target=end.run, daemon=True) for end in ends[1:]]
    for thread in threads:
        thread.start()
    ends[0].run()
    for thread in threads:
        thread.join()
    End.blame(ends)
    return ends
