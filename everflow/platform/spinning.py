"""How long the threads of kernels stay awake between two kernels, waiting for a share of the next.

On a machine of our own they should: to wake one takes longer than many a kernel, and a plan's kernels follow each other
closely. Where others run, too, a thread that spins takes the core from whoever has the work. It has no effect on
results.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path

# Turns of libgomp's loop, some 20 ns each.
LONG, SHORT = "20000", "100"
_RUNNING = Path("/proc/loadavg")


def choose_spinning(environment: MutableMapping[str, str] = os.environ) -> None:
    """Tell the OpenMP library, which reads it when torch loads it; what the environment says already stays."""
    if "OMP_WAIT_POLICY" not in environment and "GOMP_SPINCOUNT" not in environment:
        environment["GOMP_SPINCOUNT"] = LONG if is_idle() else SHORT


def is_idle() -> bool:
    """Whether nobody else wants a processor at this moment, as far as the system tells."""
    try:
        running = _RUNNING.read_text().split()[3].partition("/")[0]  # of threads, this one included
        return int(running) <= 1
    except (OSError, ValueError, IndexError):
        return False
