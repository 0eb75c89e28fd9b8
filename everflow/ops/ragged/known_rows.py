"""Values of ragged ops that are known before running, in numpy: shapes of ragged graphs follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from everflow.framework.operation import Operation

# What is larger than this is left to the run.
_MAX_ELEMENTS = 1 << 16


def _ends(lengths: Sequence[int]) -> np.ndarray:
    """Where rows of these lengths begin and end, one after the other."""
    return np.cumsum([0, *lengths])


def _ragged_range(op: Operation, *inputs: np.ndarray) -> list[np.ndarray | None]:
    starts, limits, deltas = (each.ravel() for each in np.broadcast_arrays(*inputs))
    if not deltas.all() or np.sum(np.maximum(np.ceil((limits - starts) / deltas), 0)) > _MAX_ELEMENTS:
        return [None, None]  # what can't be run isn't known before
    rows = [np.arange(*each, dtype=starts.dtype) for each in zip(starts, limits, deltas)]
    return [
        _ends([len(row) for row in rows]).astype(op.attrs["Tsplits"].as_numpy_dtype),
        np.concatenate([starts[:0], *rows]),
    ]


def _ragged_gather(op: Operation, *inputs: np.ndarray) -> list[np.ndarray | None]:
    *splits, values, indices = inputs
    unknown: list[np.ndarray | None] = [None for _ in op.outputs]
    if indices.ndim != 1 or any(not 0 <= i < len(splits[0]) - 1 for i in indices):
        return unknown
    ranges = [(splits[0][i], splits[0][i + 1]) for i in indices]
    found = [_ends([end - start for start, end in ranges])]
    for inner in splits[1:]:
        found.append(_ends([n for start, end in ranges for n in np.diff(inner[start : end + 1])]))
        ranges = [(inner[start], inner[end]) for start, end in ranges]
    if sum(end - start for start, end in ranges) > _MAX_ELEMENTS:
        return unknown
    rows = np.concatenate([values[:0], *(values[start:end] for start, end in ranges)])
    return [*(each.astype(splits[0].dtype) for each in found), rows]


EVALUATORS = {"RaggedGather": _ragged_gather, "RaggedRange": _ragged_range}
