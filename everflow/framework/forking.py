"""Processes that are made by forking: a child has the memory of its parent, but of its threads only the one that
forked.

Locks that others held would stay locked for ever in it, and those who waited would be first in every queue.
"""

from __future__ import annotations

import os
import weakref
from typing import TypeVar

T = TypeVar("T")
_renewed: weakref.WeakSet = weakref.WeakSet()


def renewed(made: T) -> T:
    """A lock, condition, event, or anything else with `_at_fork_reinit()`, which is called in a child process after a
    fork.
    """
    _renewed.add(made)
    return made


def _renew() -> None:
    for made in list(_renewed):
        made._at_fork_reinit()


os.register_at_fork(after_in_child=_renew)
