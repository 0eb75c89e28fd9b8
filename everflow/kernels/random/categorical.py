"""Kernels that draw classes from unnormalised log-probabilities: Multinomial and StatelessMultinomial."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect
from everflow.kernels.random.distributions import RESERVED_PER_VALUE, doubles, stateless_place, stream_of
from everflow.kernels.random.philox import Philox
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Session

# So many comparisons are quicker made at once than searched row by row.
_AT_ONCE = 1 << 22


def _rows_per_task(rows: int, cost: float) -> int:
    """How many rows one task gets when `rows` of equal cost are spread over the machine's processors.

    Each task takes numbers from a place of its own, so the numbers drawn for large inputs depend on this division.
    """
    threads = os.cpu_count() or 1
    if rows <= 1 or threads == 1 or (rows * cost - 100000) / 100000 + 0.9 < 2:
        return rows
    size = min(rows, int(max(-(-rows // (4 * threads)), 40000 / cost)))
    largest = min(rows, 2 * size)

    def efficiency(count: int) -> float:
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


def _uniforms(place: Philox, rows: int, classes: int, samples: int) -> np.ndarray:
    """One uniform value for each sample of each row, as the tasks draw them."""
    task = max(1, _rows_per_task(rows, 50 * (samples * math.log2(classes) + classes)))
    parts = []
    for first in range(0, rows, task):
        count = min(task, rows - first) * samples
        parts.append(doubles(place.words(-(-count // 2), first * (samples + 3) // 4).ravel())[:count])
    return np.concatenate(parts).reshape(rows, samples) if parts else np.empty((0, samples))


def categorical(place: Philox, logits: np.ndarray, samples: int) -> np.ndarray:
    """`samples` class indices for each row of logits."""
    rows, classes = logits.shape
    finite = np.isfinite(logits)
    top = np.max(logits, axis=1, keepdims=True, initial=-np.inf, where=finite)
    # Classes of infinite or undefined logits have no weight.
    weights = np.zeros(logits.shape)
    np.exp(logits - np.where(np.isfinite(top), top, 0.0), out=weights, where=finite)
    cumulative = np.cumsum(weights, axis=1)
    wanted = _uniforms(place, rows, classes, samples) * cumulative[:, -1:]
    if rows * samples * classes <= _AT_ONCE:
        return (cumulative[:, None, :] <= wanted[:, :, None]).sum(axis=2)
    return np.stack([np.searchsorted(c, w, side="right") for c, w in zip(cumulative, wanted)])


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


@fresh("Multinomial", effect=Effect.RANDOM)
def multinomial(
    logits: torch.Tensor, num_samples: torch.Tensor, *, output_dtype: DType, node: Node, session: Session
) -> torch.Tensor:
    values, samples = _checked(logits, num_samples)
    reserved = len(values) * (-(-samples // 4) * 4) * 2 * RESERVED_PER_VALUE
    place = stream_of(node, session).reserve(reserved)
    return torch.from_numpy(categorical(place, values, samples)).to(torch_dtype(output_dtype))


@fresh("StatelessMultinomial")
def stateless_multinomial(
    logits: torch.Tensor, num_samples: torch.Tensor, seed: torch.Tensor, *, output_dtype: DType
) -> torch.Tensor:
    values, samples = _checked(logits, num_samples)
    return torch.from_numpy(categorical(stateless_place(seed), values, samples)).to(torch_dtype(output_dtype))
