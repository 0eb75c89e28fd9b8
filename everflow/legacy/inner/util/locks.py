"""TensorFlow's `python.util.lock_util`: a lock that the threads of one group hold together."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class GroupLock:
    """A lock with groups: any number of threads of one group hold it, as long as no thread of another group does."""

    def __init__(self, num_groups: int = 2):
        if num_groups < 1:
            raise ValueError(f"A lock needs one group at least, not {num_groups}.")
        self._changed = threading.Condition()
        self._group_member_counts = [0] * num_groups

    def group(self, group_id: int) -> contextlib.AbstractContextManager[None]:
        """Hold the lock for a group."""
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
        """Wait until no other group holds the lock, and take it."""
        self._check(group_id)
        with self._changed:
            self._changed.wait_for(lambda: not any(n for i, n in enumerate(self._group_member_counts) if i != group_id))
            self._group_member_counts[group_id] += 1

    def release(self, group_id: int) -> None:
        """Give it back, once for each `acquire`."""
        self._check(group_id)
        with self._changed:
            self._group_member_counts[group_id] -= 1
            self._changed.notify_all()

    def _check(self, group_id: int) -> None:
        if not 0 <= group_id < len(self._group_member_counts):
            raise ValueError(f"Group {group_id} of a lock with the groups 0 to {len(self._group_member_counts) - 1}.")
