"""tensorflow.python.eager.memory_tests.memory_test_util: whether calling a function again and again takes more and more
memory.
"""

from __future__ import annotations

import gc
import importlib.util
from collections.abc import Callable
from typing import Any

from everflow.kernels.memory_stats import process_bytes


def memory_profiler_is_available() -> bool:
    """Whether the package `memory_profiler` is there, by which tests decide whether they look at memory."""
    return importlib.util.find_spec("memory_profiler") is not None


def assert_no_leak(f: Callable[[], Any], num_iters: int = 100000, increase_threshold_absolute_mb: float = 10) -> None:
    """AssertionError where the process needs that much more memory after many calls than after a few."""
    for _ in range(max(num_iters // 10, 1)):
        f()
    gc.collect()
    before = process_bytes()
    for _ in range(num_iters):
        f()
    gc.collect()
    grown = (process_bytes() - before) / 2**20
    if grown >= increase_threshold_absolute_mb:
        raise AssertionError(
            f"{num_iters} calls took {grown:.1f} MB more memory, where less than {increase_threshold_absolute_mb} is expected"
        )
