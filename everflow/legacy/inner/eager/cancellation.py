"""TensorFlow's `python.eager.cancellation`: calls that are to end before they are done."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from everflow.framework.errors import CancelledError


class CancellationManager:
    """Says of calls whether they are cancelled: one that begins after `start_cancel` raises CancelledError."""

    def __init__(self) -> None:
        self.is_cancelled = False

    def start_cancel(self) -> None:
        """Cancel the calls."""
        self.is_cancelled = True

    def check(self, what: Any) -> None:
        """CancelledError, if calls are cancelled."""
        if self.is_cancelled:
            raise CancelledError(None, None, f"{what} was cancelled before it began.")

    def get_cancelable_function(self, concrete_function: Callable) -> Callable:
        """The function, which raises CancelledError once calls are cancelled."""

        @functools.wraps(concrete_function)
        def cancelable(*args: Any, **kwargs: Any) -> Any:
            self.check(getattr(concrete_function, "name", concrete_function))
            return concrete_function(*args, **kwargs)

        return cancelable
