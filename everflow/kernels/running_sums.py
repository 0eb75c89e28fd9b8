"""Sums that a loop adds to as it goes round, as those of gradients for a recurrent network's weights.

What is to be added waits until there is enough of it: one large product takes a fraction of the time of many thin ones.
Only plans have these nodes (see `runtime/plan/accumulators.py`).
"""

from __future__ import annotations

import torch

from everflow.kernels.fused import sum_of_matmuls, sum_of_rows
from everflow.kernels.registry import kernel

# So many rows make a product that is no slower for each row than a larger one.
ENOUGH = 512


class RunningSum:
    """A total, and what has yet to be added to it: argument lists for `join`, which makes one tensor of them."""

    __slots__ = ("_join", "_total", "_is_ours", "_waiting", "_rows")

    def __init__(self, start: torch.Tensor):
        self._join = None
        self._total = start
        self._is_ours = False  # the first total belongs to others, later ones may be added to in place
        self._waiting: tuple[list, ...] = ()
        self._rows = 0

    def add(self, join, rows: int, *parts: torch.Tensor) -> RunningSum:
        """Add what `join` makes of parts that have so many rows."""
        if not self._waiting:
            self._join, self._waiting = join, tuple([] for _ in parts)
        for waiting, part in zip(self._waiting, parts, strict=True):
            waiting.append(part)
        self._rows += rows
        if self._rows >= ENOUGH:
            self.total()
        return self

    def total(self) -> torch.Tensor:
        """The sum of all so far."""
        if self._waiting:
            joined = self._join(*self._waiting)
            self._total = self._total.add_(joined) if self._is_ours else self._total + joined
            self._is_ours, self._waiting, self._rows = True, (), 0
        return self._total


@kernel("_RunningSum")
def running_sum(start):
    return RunningSum(start)


@kernel("_RunningSumOfMatMuls")
def running_sum_of_matmuls(total, a, b, *, transpose_a, transpose_b):
    def join(a, b):
        return sum_of_matmuls(a, b, transpose_a=transpose_a, transpose_b=transpose_b)

    return total.add(join, a.shape[0 if transpose_a else 1], a, b)


@kernel("_RunningSumOfRows")
def running_sum_of_rows(total, values):
    return total.add(sum_of_rows, values.shape[0], values)


@kernel("_Total")
def total(running):
    return running.total()
