"""Kernels that draw classes from unnormalised log-probabilities: Multinomial and StatelessMultinomial."""

from __future__ import annotations

import math
import os

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.philox import Philox
from everflow.kernels.random import RESERVED_PER_VALUE, doubles, stateless_place, stream_of
from everflow.kernels.registry import kernel
from everflow.kernels.tensors import torch_dtype


def _rows_per_task(rows: int, cost: float) -> int:
    """How many rows one task gets when `rows` of equal cost are spread over the machine's processors.

    Each task takes numbers from a place of its own, so the numbers drawn for large inputs depend on this division.
    """
    threads = os.cpu_count() or 1
    if rows <= 1 or threads == 1 or (rows * cost - 100000) / 100000 + 0.9 < 2:
        return rows
    size = min(rows, int(max(-(-rows // (4 * threads)), 40000 / cost)))
    largest = min(rows, 2 * size)

    def efficiency(count):
        return count / (-(-count // threads) * threads)

    count = -(-rows // size)
    best = efficiency(count)
    while best < 1.0 and count > 1:
        coarser = -(-rows // (count - 1))
        if coarser > largest:
            break
        count = -(-rows // coarser)
        if efficiency(count) + 0.01 >= best:
            size = coarser
            best = max(best, efficiency(count))
    return size


def categorical(place: Philox, logits: np.ndarray, samples: int) -> np.ndarray:
    """`samples` class indices for each row of logits."""
    rows, classes = logits.shape
    task = _rows_per_task(rows, 50 * (samples * math.log2(classes) + classes)) if rows else 1
    chosen = np.empty((rows, samples), np.int64)
    for first in range(0, rows, max(task, 1)):
        here = range(first, min(first + task, rows))
        blocks = -(-len(here) * samples // 2)
        uniforms = doubles(place.words(blocks, first * (samples + 3) // 4).ravel())[: len(here) * samples].reshape(len(here), samples)
        for row, u in zip(here, uniforms):
            weights = logits[row].astype(np.float64)
            finite = np.isfinite(weights)
            top = weights[finite].max() if finite.any() else 0.0
            # Classes of infinite or undefined logits have no weight.
            cumulative = np.cumsum(np.where(finite, np.exp(weights - top, where=finite, out=np.zeros(classes)), 0.0))
            chosen[row] = np.searchsorted(cumulative, u * cumulative[-1], side="right")
    return chosen


def _checked(logits: torch.Tensor, num_samples: torch.Tensor) -> tuple[np.ndarray, int]:
    if logits.dim() != 2:
        raise InvalidArgumentError(None, None, f"logits should be a matrix, got shape {list(logits.shape)}")
    if num_samples.dim() != 0:
        raise InvalidArgumentError(None, None, f"num_samples should be a scalar, got shape {list(num_samples.shape)}")
    samples = int(num_samples)
    if samples < 0:
        raise InvalidArgumentError(None, None, f"num_samples should be nonnegative, got {samples}")
    if logits.shape[1] <= 0:
        raise InvalidArgumentError(None, None, f"num_classes should be positive, got {logits.shape[1]}")
    return logits.to(torch.float64).numpy(), samples


@kernel("Multinomial")
def multinomial(logits, num_samples, *, output_dtype, node, session):
    values, samples = _checked(logits, num_samples)
    reserved = len(values) * (-(-samples // 4) * 4) * 2 * RESERVED_PER_VALUE
    place = stream_of(node, session).reserve(reserved)
    return torch.from_numpy(categorical(place, values, samples)).to(torch_dtype(output_dtype))


@kernel("StatelessMultinomial")
def stateless_multinomial(logits, num_samples, seed, *, output_dtype):
    values, samples = _checked(logits, num_samples)
    return torch.from_numpy(categorical(stateless_place(seed), values, samples)).to(torch_dtype(output_dtype))
