"""OpenMP's teams: which threads of ours may have further ones.

Between two kernels the threads of a team stay awake, and begin in no time, only while the process has no more of them
than processors. Once a thread besides the program's own has had a team, all of them sleep, and to wake them takes some
15 µs for every kernel that is shared, as long as that thread lives.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

import torch


def work_alone() -> None:
    """Let kernels that the current thread calls keep to it: for threads that themselves share some work."""
    torch.get_num_threads()  # at first it takes the process's number for this thread, which must not come later
    tell = _set_threads()
    if tell is not None:
        tell(1)


@functools.cache
def _set_threads() -> Callable[[int], None] | None:
    """OpenMP's own function: torch's speaks for threads to come, too."""
    try:
        return getattr(ctypes.CDLL(None), "omp_set_num_threads", None)
    except (OSError, TypeError):  # on Windows a process has no names of its own
        return None
