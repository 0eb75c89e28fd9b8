"""Kernels for ragged tensors: flat values with row splits, and their sparse, dense and variant forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.kernels.array.basic import dims_of, invalid, is_text
from everflow.kernels.array.indexing import check_indices
from everflow.kernels.facts import same
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.sparse.functions import pick
from everflow.kernels.tensors import AnyTensor, SparseParts, Strings, Value, torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType


@fresh("RaggedRange")
def ragged_range(
    starts: torch.Tensor, limits: torch.Tensor, deltas: torch.Tensor, *, Tsplits: DType
) -> tuple[torch.Tensor, torch.Tensor]:
    sizes = {t.shape[0] for t in (starts, limits, deltas) if t.ndim}
    if len(sizes) > 1:
        raise invalid("starts, limits, and deltas must have the same shape")
    rows = sizes.pop() if sizes else 1
    splits, parts = [0], []
    for start, limit, delta in zip(*(t.expand(rows).tolist() for t in (starts, limits, deltas)), strict=True):
        if delta == 0:
            raise invalid("Requires delta != 0")
        size = (
            max(-int((start - limit) // delta), 0)
            if isinstance(start, int)
            else max(int(np.ceil((limit - start) / delta)), 0)
        )
        parts.append(torch.arange(size, dtype=starts.dtype) * delta + start)
        splits.append(splits[-1] + size)
    values = torch.cat(parts).to(starts.dtype) if parts else starts.new_empty(0)
    return torch.tensor(splits, dtype=torch_dtype(Tsplits)), values


def _ranges(starts: torch.Tensor, limits: torch.Tensor) -> torch.Tensor:
    """All positions from each start up to its limit, in one tensor."""
    lengths = limits - starts
    before = torch.cumsum(lengths, 0) - lengths
    return torch.arange(int(lengths.sum()), device=starts.device) + torch.repeat_interleave(starts - before, lengths)


def _splits(lengths: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return torch.cat([torch.zeros(1, dtype=torch.int64), torch.cumsum(lengths, 0)]).to(dtype)


@fresh("RaggedGather")
def ragged_gather(
    params_nested_splits: list[torch.Tensor], params_dense_values: AnyTensor, indices: torch.Tensor
) -> tuple[list[torch.Tensor], AnyTensor]:
    """Rows of a ragged tensor; indices of rank above 1 add regular splits outside."""
    outer = params_nested_splits[0]
    if outer.numel() < 1:
        raise invalid("Split tensors must not be scalars")
    check_indices(indices, outer.shape[0] - 1)
    out = []
    lead = tuple(indices.shape)
    for axis in range(len(lead) - 1):
        count = int(np.prod(lead[: axis + 1]))
        out.append((torch.arange(count + 1) * lead[axis + 1]).to(outer.dtype))
    rows = indices.reshape(-1).long()
    for splits in params_nested_splits:
        splits = splits.long()
        starts, limits = splits[rows], splits[rows + 1]
        if (
            (limits < starts).any()
            or (limits > params_dense_values.shape[0]).any()
            and splits is params_nested_splits[-1]
        ):
            raise invalid("Ragged splits must be sorted and must not point past values")
        out.append(_splits(limits - starts, outer.dtype))
        rows = _ranges(starts, limits)
    # A scalar index takes what is in one row: the splits around it are none of the result's.
    return out if lead else out[1:], pick(params_dense_values, rows)


def _row_ids(splits: torch.Tensor) -> torch.Tensor:
    return torch.repeat_interleave(torch.arange(splits.shape[0] - 1), splits[1:] - splits[:-1])


def _check_splits(nested: list[torch.Tensor], values: AnyTensor) -> None:
    for i, splits in enumerate(nested):
        if splits.numel() == 0 or splits[0] != 0:
            raise invalid("First value of ragged splits must be 0.")
        if (splits[1:] < splits[:-1]).any():
            raise invalid("Ragged splits should be non decreasing")
        follower = nested[i + 1].shape[0] - 1 if i + 1 < len(nested) else values.shape[0]
        if splits[-1] != follower:
            raise invalid("Final value of ragged splits must match the length the corresponding ragged values.")


@kernel("RaggedTensorToSparse", result=same(1))
def ragged_tensor_to_sparse(rt_nested_splits: list[torch.Tensor], rt_dense_values: AnyTensor) -> SparseParts:
    nested = [s.long() for s in rt_nested_splits]
    _check_splits(nested, rt_dense_values)
    count = nested[0].shape[0] - 1
    dims, columns = [count], [torch.arange(count)]
    for splits in nested:
        owners = _row_ids(splits)
        columns = [c[owners] for c in columns] + [torch.arange(owners.numel()) - splits[owners]]
        lengths = splits[1:] - splits[:-1]
        dims.append(int(lengths.max()) if lengths.numel() else 0)
    inner = tuple(rt_dense_values.shape[1:])
    dims += inner
    per_row = int(np.prod(inner))
    columns = [c.repeat_interleave(per_row) for c in columns]
    if inner:
        grid = np.indices(inner).reshape(len(inner), -1)
        columns += [torch.from_numpy(np.tile(g, rt_dense_values.shape[0])) for g in grid]
    return torch.stack(columns, 1), rt_dense_values.reshape(-1), torch.tensor(dims, dtype=torch.int64)


def _as_splits(kind: str, tensor: torch.Tensor, rows: int) -> torch.Tensor:
    if kind == "ROW_SPLITS":
        return tensor.long()
    if kind == "VALUE_ROWIDS":
        return _splits(torch.bincount(tensor.long(), minlength=rows), torch.int64)
    raise invalid(f"Unsupported row partition type {kind}")


@fresh("RaggedTensorToTensor")
def ragged_tensor_to_tensor(
    shape: torch.Tensor,
    values: AnyTensor,
    default_value: Value,
    row_partition_tensors: list[torch.Tensor],
    *,
    row_partition_types: list[str],
) -> AnyTensor:
    kinds = [k.decode() if isinstance(k, bytes) else k for k in row_partition_types]
    partitions = list(zip(kinds, row_partition_tensors, strict=True))
    rows = partitions[0][1].shape[0] - 1 if kinds[0] == "ROW_SPLITS" else int(partitions[0][1])
    if kinds[0] == "FIRST_DIM_SIZE":
        partitions = partitions[1:]
    wanted = dims_of(shape) if shape.ndim else []
    depth = len(partitions) + 1
    inner = tuple(values.shape[1:])
    if wanted and len(wanted) != depth + len(inner):
        raise invalid(f"Shape {wanted} must have {depth + len(inner)} dimensions")
    size, places, dims = rows, torch.arange(rows), []
    keep = torch.ones(rows, dtype=torch.bool)
    dims.append(wanted[0] if wanted and wanted[0] >= 0 else rows)
    keep &= places < dims[0]
    for level, (kind, tensor) in enumerate(partitions, 1):
        splits = _as_splits(kind, tensor, size)
        owners = _row_ids(splits)
        local = torch.arange(owners.numel()) - splits[owners]
        lengths = splits[1:] - splits[:-1]
        width = wanted[level] if wanted and wanted[level] >= 0 else int(lengths.max()) if lengths.numel() else 0
        keep = keep[owners] & (local < width)
        places = places[owners] * width + local
        dims.append(width)
        size = owners.numel()
    full = (*dims, *inner)
    if is_text(values):
        text = np.full(full, b"", object)
        text[...] = default_value
        text.reshape(-1, *inner)[places[keep].numpy()] = values[keep.numpy()]
        return text
    out = default_value.expand(full).clone(memory_format=torch.contiguous_format)
    out.view(-1, *inner)[places[keep]] = values[keep]
    return out


# Variants: a ragged tensor as one Python object, or its rows as an array of them.


class RaggedVariant:
    """The splits and values of a ragged tensor held by a variant."""

    __slots__ = ("splits", "values")

    def __init__(self, splits: list[torch.Tensor], values: AnyTensor) -> None:
        self.splits, self.values = splits, values


@kernel("RaggedTensorToVariant", result=same(0, 1))
def ragged_tensor_to_variant(
    rt_nested_splits: list[torch.Tensor], rt_dense_values: AnyTensor, *, batched_input: bool
) -> Strings:
    if not batched_input:
        return np.array(RaggedVariant(rt_nested_splits, rt_dense_values), object)
    outer = rt_nested_splits[0].tolist()
    rows = np.empty(len(outer) - 1, object)
    for i, (start, limit) in enumerate(zip(outer, outer[1:], strict=False)):
        inner = []
        for splits in rt_nested_splits[1:]:
            part = splits[start : limit + 1]
            start, limit = int(part[0]), int(part[-1])
            inner.append(part - part[0])
        rows[i] = RaggedVariant(inner, rt_dense_values[start:limit])
    return rows


@kernel("RaggedTensorFromVariant", result=same(0))
def ragged_tensor_from_variant(
    encoded_ragged: Strings | RaggedVariant, *, output_ragged_rank: int, Tvalues: DType, Tsplits: DType
) -> tuple[list[torch.Tensor], AnyTensor]:
    if isinstance(encoded_ragged, RaggedVariant):  # an element that was sliced out
        encoded_ragged = np.array(encoded_ragged, object)
    for item in encoded_ragged.reshape(-1):
        if not is_text(item.values) and item.values.dtype != torch_dtype(Tvalues):
            raise invalid(f"The variant holds values of {item.values.dtype}, not of {Tvalues.name}")
        if len(item.splits) + encoded_ragged.ndim != output_ragged_rank:
            raise invalid(
                f"Each element of a variant of {encoded_ragged.ndim} dimensions holds {len(item.splits)} ragged ones; "
                f"output_ragged_rank is {output_ragged_rank}"
            )
    if encoded_ragged.ndim == 0:
        held = encoded_ragged.item()
        return held.splits, held.values
    splits, lead = [], tuple(encoded_ragged.shape)
    items = list(encoded_ragged.reshape(-1))
    for axis in range(len(lead) - 1):
        splits.append((torch.arange(int(np.prod(lead[: axis + 1])) + 1) * lead[axis + 1]).to(torch_dtype(Tsplits)))
    lengths = [(item.splits[0].shape[0] - 1) if item.splits else item.values.shape[0] for item in items]
    splits.append(_splits(torch.tensor(lengths, dtype=torch.int64), torch_dtype(Tsplits)))
    depth = output_ragged_rank - len(splits)
    for level in range(depth):
        parts = (
            torch.cat([item.splits[level][1:] - item.splits[level][:-1] for item in items])
            if items
            else torch.zeros(0, dtype=torch.int64)
        )
        splits.append(_splits(parts.long(), torch_dtype(Tsplits)))
    values = [item.values for item in items]
    return splits, np.concatenate(values) if is_text(values[0]) else torch.cat(values)
