"""How long the threads of kernels stay awake between two kernels, waiting for a share of the next.

To wake one takes longer than many a kernel; but a thread that spins takes a core from whoever has the work. Some 20
microseconds serve both: a tenth of that makes steps of small kernels twice as long, ten times as much gains nothing.
It has no effect on results.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

TURNS = "1000"  # of libgomp's loop, some 20 ns each


def choose_spinning(environment: MutableMapping[str, str] = os.environ) -> None:
    """Tell the OpenMP library, which reads it when torch loads it; what the environment says already stays."""
    if "OMP_WAIT_POLICY" not in environment:
        environment.setdefault("GOMP_SPINCOUNT", TURNS)
