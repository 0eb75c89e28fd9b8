"""Locks of critical sections."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

from everflow.framework.forking import renewed
from everflow.kernels.facts import Waits
from everflow.kernels.queues.queues import shared_resource
from everflow.kernels.registry import kernel

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session, Step


class Mutex:
    """A lock that one run at a time holds."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.condition = renewed(threading.Condition())
        renewed(self)
        # Weak: a run that leaves the section's end out gives the lock back by ending.
        self.holder: Callable[[], Held | None] = lambda: None

    def _at_fork_reinit(self) -> None:
        self.holder = lambda: None

    def acquire(self, step: Step) -> Held:
        with self.condition:
            step.wait_for(self.condition, lambda: self.holder() is None)
            held = Held(self)
            self.holder = weakref.ref(held)
            step.locks.append(held)
            return held


class Held:
    """That a run holds a lock: until the section's end, or that of the run."""

    def __init__(self, mutex: Mutex) -> None:
        self.mutex = mutex

    def release(self) -> None:
        with self.mutex.condition:
            if self.mutex.holder() is self:
                self.mutex.holder = lambda: None
                self.mutex.condition.notify_all()


@kernel("MutexV2", once=True)
def mutex(*, container: str, shared_name: str, node: Node, session: Session) -> Mutex:
    return shared_resource("mutex", node, session, container, shared_name, Mutex)


@kernel("MutexLock", waits=Waits.OUTSIDE, writes=())
def mutex_lock(mutex: Mutex, *, step: Step) -> Held:
    return mutex.acquire(step)


@kernel("ConsumeMutexLock")
def consume_mutex_lock(held: Held) -> None:
    held.release()
