"""Kernels for sets that are the rows of a last axis: union, intersection, difference and size."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch

from everflow.kernels.array.basic import bracketed, dims_of, invalid, is_text
from everflow.kernels.registry import fresh
from everflow.kernels.sparse.functions import check_order

if TYPE_CHECKING:
    from everflow.kernels.tensors import AnyTensor, SparseParts

_OPERATIONS = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}

_Rows: TypeAlias = tuple[
    tuple[int, ...], dict[tuple[int, ...], set]
]  # the batch's shape, and the set at each place of it


def _dense_rows(values: AnyTensor) -> _Rows:
    """(batch dims, {batch index: set})"""
    if values.ndim < 2:
        raise invalid(f"Input rank {values.ndim} is less than 2.")
    batch = tuple(values.shape[:-1])
    return batch, {place: set(values[place].tolist()) for place in np.ndindex(*batch)}


def _sparse_rows(indices: torch.Tensor, values: AnyTensor, shape: torch.Tensor) -> _Rows:
    """As `_dense_rows`. Places are checked also where `validate_indices` says no, as in TensorFlow."""
    dims = dims_of(shape)
    check_order(indices, dims)
    rows: dict = {}
    for index, value in zip(indices.tolist(), values.tolist(), strict=True):
        rows.setdefault(tuple(index[:-1]), set()).add(value)
    return tuple(dims[:-1]), rows


def _combine(
    first: _Rows,
    second: _Rows,
    like: AnyTensor,
    set_operation: str,
) -> SparseParts:
    (batch, ours), (other_batch, theirs) = first, second
    if batch != other_batch:
        raise invalid(f"Mismatched group shapes {bracketed(batch)} vs. {bracketed(other_batch)}.")
    operate = _OPERATIONS.get(set_operation.lower())
    if operate is None:
        raise invalid(f"Invalid set_operation {set_operation}.")
    indices, values, widest = [], [], 0
    for place in sorted(ours.keys() | theirs.keys()):
        found = sorted(operate(ours.get(place, set()), theirs.get(place, set())))
        indices += [(*place, i) for i in range(len(found))]
        values += found
        widest = max(widest, len(found))
    out_indices = torch.tensor(indices, dtype=torch.int64).reshape(-1, len(batch) + 1)
    out_values = np.array([*values, None], object)[:-1] if is_text(like) else torch.tensor(values, dtype=like.dtype)
    return out_indices, out_values, torch.tensor([*batch, widest], dtype=torch.int64)


@fresh("DenseToDenseSetOperation")
def dense_to_dense(set1: AnyTensor, set2: AnyTensor, *, set_operation: str) -> SparseParts:
    return _combine(_dense_rows(set1), _dense_rows(set2), set1, set_operation)


@fresh("DenseToSparseSetOperation")
def dense_to_sparse(
    set1: AnyTensor,
    set2_indices: torch.Tensor,
    set2_values: AnyTensor,
    set2_shape: torch.Tensor,
    *,
    set_operation: str,
) -> SparseParts:
    second = _sparse_rows(set2_indices, set2_values, set2_shape)
    return _combine(_dense_rows(set1), second, set1, set_operation)


@fresh("SparseToSparseSetOperation")
def sparse_to_sparse(
    set1_indices: torch.Tensor,
    set1_values: AnyTensor,
    set1_shape: torch.Tensor,
    set2_indices: torch.Tensor,
    set2_values: AnyTensor,
    set2_shape: torch.Tensor,
    *,
    set_operation: str,
) -> SparseParts:
    first = _sparse_rows(set1_indices, set1_values, set1_shape)
    second = _sparse_rows(set2_indices, set2_values, set2_shape)
    return _combine(first, second, set1_values, set_operation)


@fresh("SetSize")
def set_size(set_indices: torch.Tensor, set_values: AnyTensor, set_shape: torch.Tensor) -> torch.Tensor:
    batch, rows = _sparse_rows(set_indices, set_values, set_shape)
    sizes = torch.zeros(batch, dtype=torch.int32)
    for place, members in rows.items():
        sizes[place] = len(members)
    return sizes
