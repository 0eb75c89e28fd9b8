"""tensorflow.python.eager.executor: those who run operations. Here they run at once, whoever is asked."""

from __future__ import annotations


class Executor:
    """Runs operations; one that may put them off has none waiting, ever."""

    def __init__(self, handle: bool) -> None:
        self._is_async = handle

    def is_async(self) -> bool:
        """Whether operations may be put off."""
        return self._is_async

    def handle(self) -> Executor:
        """What stands for it: itself."""
        return self

    def wait(self) -> None:
        """Return when everything has run: at once."""

    def clear_error(self) -> None:
        """Forget an error that stopped it: errors are raised where they come up, and stop nothing."""


def new_executor(enable_async: bool) -> Executor:
    """An executor of its own."""
    return Executor(enable_async)
