"""Threads of pipelines: started where something is to do, and over before the process is.

Python takes away the ground under threads that still run when it ends; kernels in C++ abort the process then.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import torch

T = TypeVar("T")

# A thread that waits longer than this, in seconds, ends.
PATIENCE = 1.0
# What an ending process waits for its threads, in seconds: they may be in the midst of an element.
_LAST_PATIENCE = 10.0


class Owner(Protocol):
    """Whom threads work for."""

    def close(self) -> None:
        """Let its threads end as soon as they can."""
        ...


_owners: weakref.WeakSet[Owner] = weakref.WeakSet()
_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def begin_thread(target: Callable[[], None], owner: Owner, threads_of_a_kernel: int) -> None:
    """Start a thread of a pipeline, whose kernels take so many threads in turn."""

    def run() -> None:
        torch.get_num_threads()  # at first it takes the process's number for this thread, which must not come later
        torch.set_num_threads(threads_of_a_kernel)
        target()

    thread = threading.Thread(target=run, name="everflow-input", daemon=True)
    _owners.add(owner)
    _threads.add(thread)
    thread.start()


def with_threads(count: int, call: Callable[..., T], *arguments: Any) -> T:
    """Call something whose kernels take so many threads. Some results depend on that in the last bits: what may run here
    or in a thread of the pipeline has the same number in both.
    """
    before = torch.get_num_threads()
    if before == count:
        return call(*arguments)
    torch.set_num_threads(count)
    try:
        return call(*arguments)
    finally:
        torch.set_num_threads(before)


@atexit.register
def end_threads() -> None:
    """Let all threads end, and wait for them."""
    for owner in list(_owners):
        owner.close()
    for thread in list(_threads):
        if thread.is_alive():
            thread.join(_LAST_PATIENCE)
