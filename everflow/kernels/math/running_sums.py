"""Sums that a loop adds to as it goes round, as those of gradients for a recurrent network's weights.

What is to be added waits until there is enough of it: one large product takes a fraction of the time of many thin ones.
Only plans have these nodes (see `runtime/plan/accumulators.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from everflow.kernels.facts import SHARE, Effect, same
from everflow.kernels.registry import kernel

# So many rows make a product that a larger one could hardly beat.
ENOUGH = 128


class RunningSum:
    """A total, and what has yet to be added to it by `accumulate(total, *lists of parts, out=)`."""

    __slots__ = ("_accumulate", "_total", "_is_ours", "_waiting", "_rows")

    def __init__(self, start: torch.Tensor) -> None:
        self._accumulate: Any = None  # comes with the first part
        self._total = start
        self._is_ours = False  # the first total belongs to others, later ones may be added to in place
        self._waiting: tuple[list, ...] = ()
        self._rows = 0

    def add(self, accumulate: Callable[..., torch.Tensor], rows: int, *parts: torch.Tensor) -> RunningSum:
        """Have parts of so many rows added, now or later."""
        if not self._waiting:
            self._accumulate, self._waiting = accumulate, tuple([] for _ in parts)
        for waiting, part in zip(self._waiting, parts, strict=True):
            waiting.append(part)
        self._rows += rows
        if self._rows >= ENOUGH:
            self.total()
        return self

    def total(self) -> torch.Tensor:
        """The sum of all so far."""
        if self._waiting:
            self._total = self._accumulate(self._total, *self._waiting, out=self._total if self._is_ours else None)
            self._is_ours, self._waiting, self._rows = True, (), 0
        return self._total


def _joined(parts: list[torch.Tensor], dim: int) -> torch.Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim)


@kernel("_RunningSum", result=same(0), effect=Effect.ACTS)
def running_sum(start: torch.Tensor) -> RunningSum:
    return RunningSum(start)


@kernel("_RunningSumOfMatMuls", result=same(0), effect=Effect.ACTS, keeps=(1, 2), threads_matter_from=0)
def running_sum_of_matmuls(
    running: RunningSum, a: torch.Tensor, b: torch.Tensor, *, transpose_a: bool, transpose_b: bool
) -> RunningSum:
    def accumulate(
        total: torch.Tensor, a: list[torch.Tensor], b: list[torch.Tensor], out: torch.Tensor | None
    ) -> torch.Tensor:
        left = _joined(a, 0).t() if transpose_a else _joined(a, 1)
        right = _joined(b, 1).t() if transpose_b else _joined(b, 0)
        return torch.addmm(total, left, right, out=out)

    return running.add(accumulate, a.shape[0 if transpose_a else 1], a, b)


@kernel("_RunningSumOfRows", result=same(0), effect=Effect.ACTS, keeps=(1,), threads_matter_from=SHARE)
def running_sum_of_rows(running: RunningSum, values: torch.Tensor) -> RunningSum:
    return running.add(_add_rows, values.shape[0], values)


def _add_rows(total: torch.Tensor, values: list[torch.Tensor], out: torch.Tensor | None) -> torch.Tensor:
    return torch.add(total, _joined(values, 0).sum(0), out=out)


@kernel("_Total", result=same(0), effect=Effect.ACTS)
def total(running: RunningSum) -> torch.Tensor:
    return running.total()
