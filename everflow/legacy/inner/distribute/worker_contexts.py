"""`tensorflow.python.distribute.distribute_coordinator_context`: which worker of a coordinator this thread runs."""

from __future__ import annotations

import threading
from typing import Any

_worker_context = threading.local()


def get_current_worker_context() -> Any:
    """The context of the worker that this thread runs, or None."""
    return getattr(_worker_context, "current", None)
