"""The kernel that crosses features: every combination of a row's values, one from each input, joined or hashed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.kernels.array.basic import invalid
from everflow.kernels.registry import fresh
from everflow.kernels.strings.hashing import fingerprint64

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.tensors import AnyTensor, SparseParts

_MASK = (1 << 64) - 1
_MULTIPLIER = 0xC6A4A7935BD1E995
_FIRST_KEY = 0xDECAFCAFFE


def _mix(x: int) -> int:
    return x ^ (x >> 47)


def combine_fingerprints(first: int, second: int) -> int:
    """One 64-bit hash of two, which depends on their order."""
    result = first ^ _MULTIPLIER
    result ^= _mix(second * _MULTIPLIER & _MASK) * _MULTIPLIER & _MASK
    result = result * _MULTIPLIER & _MASK
    return _mix(_mix(result) * _MULTIPLIER & _MASK)


def _sparse_rows(indices: torch.Tensor, values: AnyTensor, rows: int) -> list[list]:
    out: list[list] = [[] for _ in range(rows)]
    for (row, *_), value in zip(indices.tolist(), values.tolist(), strict=True):
        out[row].append(value)
    return out


def _cross(
    indices: list[torch.Tensor],
    values: list[AnyTensor],
    shapes: list[torch.Tensor],
    dense: list[AnyTensor],
    hashed: bool,
    num_buckets: int,
    hash_key: int | None,
    internal_type: DType,
    out_type: DType,
) -> SparseParts:
    sizes = [int(s[0]) for s in shapes] + [int(d.shape[0]) for d in dense]
    rows = sizes[0] if sizes else 0
    for i, size in enumerate(sizes):
        if size != rows:
            raise invalid(f"Expected batch size {rows} got {size} at position {i}")
    columns = [_sparse_rows(i, v, rows) for i, v in zip(indices, values, strict=True)] + [d.tolist() for d in dense]
    as_text = not hashed or internal_type is dtypes.string
    for column in columns:
        for row in column:
            row[:] = [_text(v) if as_text else _number(v) for v in row]
    out_indices, out_values, widest = [], [], 0
    for row in range(rows):
        crossed = 0
        for combination in itertools.product(*(column[row] for column in columns)):
            out_indices.append((row, crossed))
            out_values.append(
                _hash(combination, num_buckets, hash_key, as_text) if hashed else b"_X_".join(combination)
            )
            crossed += 1
        widest = max(widest, crossed)
    found = (
        np.array([*out_values, None], object)[:-1]
        if out_type is dtypes.string
        else torch.tensor(out_values, dtype=torch.int64)
    )
    return (
        torch.tensor(out_indices, dtype=torch.int64).reshape(-1, 2),
        found,
        torch.tensor([rows, widest], dtype=torch.int64),
    )


def _text(value: bytes | int) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _number(value: bytes | int) -> int:
    return fingerprint64(value) if isinstance(value, bytes) else value & _MASK


def _combine_as_before(first: int, second: int) -> int:
    """The mixing of the op's first form, which took no key and shifted signed numbers."""
    signed = first - (1 << 64) if first >> 63 else first
    return first ^ (second + 0x9E3779B97F4A7800 + (first << 10) + (signed >> 4) & _MASK)


def _hash(combination: tuple[Any, ...], num_buckets: int, hash_key: int | None, as_text: bool) -> int:
    """The bucket of a combination."""
    combine = combine_fingerprints if hash_key is not None else _combine_as_before
    state = (_FIRST_KEY if hash_key is None else hash_key) & _MASK
    for value in combination:
        state = combine(state, fingerprint64(value) if as_text else value)
    return state % num_buckets if num_buckets > 0 else state % (2**63 - 1)


@fresh("SparseCross")
def sparse_cross(
    indices: list[torch.Tensor],
    values: list[AnyTensor],
    shapes: list[torch.Tensor],
    dense_inputs: list[AnyTensor],
    *,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    internal_type: DType,
    out_type: DType,
) -> SparseParts:
    return _cross(indices, values, shapes, dense_inputs, hashed_output, num_buckets, hash_key, internal_type, out_type)


@fresh("SparseFeatureCrossV2")
def sparse_feature_cross_v2(
    indices: list[torch.Tensor],
    values: list[AnyTensor],
    shapes: list[torch.Tensor],
    dense: list[AnyTensor],
    *,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    internal_type: DType,
    out_type: DType,
) -> SparseParts:
    return _cross(indices, values, shapes, dense, hashed_output, num_buckets, hash_key, internal_type, out_type)


@fresh("SparseFeatureCross")
def sparse_feature_cross(
    indices: list[torch.Tensor],
    values: list[AnyTensor],
    shapes: list[torch.Tensor],
    dense: list[AnyTensor],
    *,
    hashed_output: bool,
    num_buckets: int,
    internal_type: DType,
    out_type: DType,
) -> SparseParts:
    return _cross(indices, values, shapes, dense, hashed_output, num_buckets, None, internal_type, out_type)
