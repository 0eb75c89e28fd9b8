"""Kernels that compare elements with each other: unique values, differences of lists, edit distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.kernels.array.basic import bracketed, dims_of, invalid, is_text, wrap_axis
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import AnyTensor, to_numpy, torch_dtype
from everflow.native.loops.library import Library

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

REPEATS = Library("repeats", cost=1)


def first_seen(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(positions of first occurrences in order, for each key the rank of its value in that order)."""
    if keys.dtype.kind in "iu" and keys.size and int(keys.max()) - int(keys.min()) < _TABLE + _SPARSEST * keys.size:
        return _first_seen_by_table(keys)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(order.size)
    return first[order], ranks[inverse.reshape(-1)]


# Integers that lie so close together, such as words of a vocabulary, are looked up in a table instead of sorted.
_TABLE, _SPARSEST = 1 << 16, 16


def _first_seen_by_table(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wide = keys.astype(np.int64) if keys.dtype.kind == "i" else keys  # small types can't hold differences
    keys = wide - keys.min()
    positions = np.arange(keys.size)
    table = np.empty(int(keys.max()) + 1, np.int64)
    table[keys[::-1]] = positions[::-1]  # of equal keys the one assigned last stays: the first
    first_of = table[keys]
    is_first = first_of == positions
    return np.flatnonzero(is_first), (np.cumsum(is_first) - 1)[first_of]


def _comparable(x: AnyTensor) -> np.ndarray:
    """A numpy vector that sorts, with equal elements where TensorFlow finds them equal."""
    return x if is_text(x) else to_numpy(x)


def _unique(x: AnyTensor, out_idx: DType) -> tuple[AnyTensor, torch.Tensor, np.ndarray]:
    if x.ndim != 1:
        raise invalid("unique expects a 1D vector.")
    keys = _comparable(x)
    if keys.dtype.kind in "fc" and np.isnan(keys).any():  # each nan is a value of its own
        where = np.isnan(keys)
        ranks = np.unique(np.where(where, 0, keys), return_inverse=True)[1].reshape(-1)
        keys = np.where(where, keys.size + np.arange(keys.size), ranks)
    first, idx = first_seen(keys)
    y = x[first] if is_text(x) else x[torch.from_numpy(first)]
    return y, torch.from_numpy(idx).to(torch_dtype(out_idx)), first


@fresh("Unique")
def unique(x: AnyTensor, *, out_idx: DType) -> tuple[AnyTensor, torch.Tensor]:
    if isinstance(x, torch.Tensor) and x.ndim == 1 and x.dtype in (torch.int64, torch.int32) and x.is_cpu:
        code = REPEATS.ready(len(x))
        if code is not None:
            return _unique_numbers(x, code, torch_dtype(out_idx))
    y, idx, _ = _unique(x, out_idx)
    return y, idx


def _unique_numbers(x: torch.Tensor, code: Any, out_idx: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    keys = x.long().contiguous()
    count = len(keys)
    distinct, numbers = torch.empty(count, dtype=torch.int64), torch.empty(count, dtype=torch.int64)
    size = 1 << max(2, (2 * count).bit_length())
    slots = torch.zeros(size, dtype=torch.int64)
    addresses = slots.data_ptr(), size - 1, distinct.data_ptr(), numbers.data_ptr()
    found = code.free.first_seen(keys.data_ptr(), count, *addresses)
    return distinct[:found].to(x.dtype, copy=True), numbers.to(out_idx)


@fresh("UniqueWithCounts")
def unique_with_counts(x: AnyTensor, *, out_idx: DType) -> tuple[AnyTensor, torch.Tensor, torch.Tensor]:
    y, idx, first = _unique(x, out_idx)
    return y, idx, torch.bincount(idx, minlength=first.size).to(idx.dtype)


def _unique_along(x: AnyTensor, axis: torch.Tensor, out_idx: DType) -> tuple[AnyTensor, torch.Tensor, np.ndarray]:
    axes = dims_of(axis.reshape(-1))
    if not axes:
        if x.ndim != 1:
            raise invalid("unique expects a 1D vector.")
        return _unique(x, out_idx)
    at = wrap_axis(axes[0], x.ndim, "axis has to be between [0, {rank})")
    rows = np.moveaxis(_comparable(x), at, 0).reshape(x.shape[at], -1)
    seen: dict = {}
    idx = np.array(
        [seen.setdefault(row.tobytes() if row.dtype != object else tuple(row), len(seen)) for row in rows], np.int64
    )
    first = np.unique(idx, return_index=True)[1] if idx.size else np.zeros(0, np.int64)
    y = np.take(x, first, at) if is_text(x) else x.index_select(at, torch.from_numpy(first))
    return y, torch.from_numpy(idx).to(torch_dtype(out_idx)), first


@fresh("UniqueV2")
def unique_v2(x: AnyTensor, axis: torch.Tensor, *, out_idx: DType) -> tuple[AnyTensor, torch.Tensor]:
    y, idx, _ = _unique_along(x, axis, out_idx)
    return y, idx


@fresh("UniqueWithCountsV2")
def unique_with_counts_v2(
    x: AnyTensor, axis: torch.Tensor, *, out_idx: DType
) -> tuple[AnyTensor, torch.Tensor, torch.Tensor]:
    y, idx, first = _unique_along(x, axis, out_idx)
    return y, idx, torch.bincount(idx, minlength=first.size).to(idx.dtype)


@fresh("ListDiff")
def list_diff(x: AnyTensor, y: AnyTensor, *, out_idx: DType) -> tuple[AnyTensor, torch.Tensor]:
    for name, value in (("x", x), ("y", y)):
        if value.ndim != 1:
            raise invalid(f"{name} should be a 1D vector.")
    kept = np.flatnonzero(~np.isin(_comparable(x), _comparable(y)))
    out = x[kept] if is_text(x) else x[torch.from_numpy(kept)]
    return out, torch.from_numpy(kept).to(torch_dtype(out_idx))


def levenshtein(first: Sequence, second: Sequence) -> int:
    """The fewest insertions, deletions and replacements that turn one sequence into the other."""
    previous = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        current = [i]
        for j, b in enumerate(second, 1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (a != b)))
        previous = current
    return previous[-1]


def _sequences(indices: torch.Tensor, values: AnyTensor) -> dict[tuple[int, ...], list]:
    """The values of a sparse tensor's rows, by all but the last index."""
    rows: dict = {}
    for index, value in zip(indices.tolist(), values.tolist(), strict=True):
        rows.setdefault(tuple(index[:-1]), []).append(value)
    return rows


@fresh("EditDistance")
def edit_distance(
    hypothesis_indices: torch.Tensor,
    hypothesis_values: AnyTensor,
    hypothesis_shape: torch.Tensor,
    truth_indices: torch.Tensor,
    truth_values: AnyTensor,
    truth_shape: torch.Tensor,
    *,
    normalize: bool,
) -> torch.Tensor:
    dims, truth_dims = dims_of(hypothesis_shape), dims_of(truth_shape)
    if len(dims) != len(truth_dims):
        raise invalid(
            f"Expected hypothesis and truth to have matching ranks, but saw shapes {bracketed(dims)} and {bracketed(truth_dims)}"
        )
    if len(dims) < 2:
        raise invalid(f"Sequences need a batch: two axes at least, got {bracketed(dims)}")
    out = [max(a, b) for a, b in zip(dims[:-1], truth_dims[:-1], strict=True)]
    result = torch.zeros(out, dtype=torch.float32)
    hypotheses, truths = _sequences(hypothesis_indices, hypothesis_values), _sequences(truth_indices, truth_values)
    for place in hypotheses.keys() | truths.keys():
        if any(i >= d for i, d in zip(place, out, strict=True)):
            raise invalid(f"Got index {list(place)} which is outside of {bracketed(out)}")
        hypothesis, truth = hypotheses.get(place, []), truths.get(place, [])
        distance = float(levenshtein(hypothesis, truth))
        if normalize:
            distance = distance / len(truth) if truth else float("inf") if hypothesis else 0.0
        result[place] = distance
    return result
