"""tensorflow.python.util.lock_util: a lock that threads of one group hold together, and those of others can't."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

__all__ = ["GroupLock"]


class GroupLock:
    """A lock for groups: any number of a group's threads may be inside while nobody of another group is."""

    def __init__(self, num_groups: int = 2) -> None:
        if num_groups < 1:
            raise ValueError(f"There must be one group at least, not {num_groups}")
        self._changed = threading.Condition(threading.Lock())
        self._inside = [0] * num_groups

    def group(self, group_id: int) -> contextlib.AbstractContextManager[None]:
        """A context in which a thread of a group is inside."""
        self._check(group_id)
        return self._held(group_id)

    @contextlib.contextmanager
    def _held(self, group_id: int) -> Iterator[None]:
        self.acquire(group_id)
        try:
            yield
        finally:
            self.release(group_id)

    def acquire(self, group_id: int) -> None:
        """Come in, once nobody of another group is inside."""
        self._check(group_id)
        with self._changed:
            self._changed.wait_for(lambda: not any(n for i, n in enumerate(self._inside) if i != group_id))
            self._inside[group_id] += 1

    def release(self, group_id: int) -> None:
        """Go out."""
        self._check(group_id)
        with self._changed:
            self._inside[group_id] -= 1
            self._changed.notify_all()

    def _check(self, group_id: int) -> None:
        if not 0 <= group_id < len(self._inside):
            raise ValueError(f"There are {len(self._inside)} groups, from 0 up, and no group {group_id}")
