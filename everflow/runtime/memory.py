"""How the C library keeps freed memory: tensors of a step are as large as those of the step before, so it should not go
back.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys

# mallopt's parameters in glibc's malloc.h, and the variables of the environment that set the same.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _TOP_PAD, _MXFAST = -1, -3, -2, 1
_ENVIRONMENT = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_", "GLIBC_TUNABLES", "LD_PRELOAD")
_KEPT = 1 << 30
_GROWN_BY = 64 << 20


@functools.cache
def keep_freed_memory() -> bool:
    """Let glibc hand out freed memory again rather than ask the system, which clears every page anew; once for the
    process.

    Steps of large element-wise ops and updates then take a fifth to a third less time. What is freed is put together
    with what lies free beside it at once: aligned tensors of a few bytes would leave holes between them until there are
    40 MB of holes. Leaves things alone where the environment chooses an allocator or its limits. Says whether it did
    something.
    """
    if not sys.platform.startswith("linux") or any(name in os.environ for name in _ENVIRONMENT):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    # Some versions refuse thresholds above half of what a heap may hold.
    if not (mallopt(_MMAP_THRESHOLD, _KEPT) or mallopt(_MMAP_THRESHOLD, _GROWN_BY // 2)):
        return False
    return all(mallopt(*setting) for setting in ((_TRIM_THRESHOLD, _KEPT), (_TOP_PAD, _GROWN_BY), (_MXFAST, 0)))
