"""What a model takes and gives as values: arrays, and sparse and ragged ones, their rows, and batches of them joined."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.framework.composites import SparseTensor, SparseTensorValue
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.ragged.value import RaggedTensorValue

_PARTS = (SparseTensorValue, RaggedTensorValue)


def is_composite(value: Any) -> bool:
    """Whether a value is sparse or ragged, and so made of several arrays."""
    return isinstance(value, _PARTS)


def row_count(value: Any) -> int:
    """How many samples there are."""
    if isinstance(value, SparseTensorValue):
        return int(value.dense_shape[0])
    return len(value.row_splits) - 1 if isinstance(value, RaggedTensorValue) else int(value.shape[0])


def rows(value: Any, indices: Any) -> Any:
    """Some rows of a sparse or ragged value, by their numbers."""
    indices = np.asarray(indices)
    if isinstance(value, RaggedTensorValue):
        splits = np.asarray(value.row_splits)
        inner = np.concatenate([np.arange(splits[i], splits[i + 1]) for i in indices] or [[]]).astype(np.int64)
        values = rows(value.values, inner) if is_composite(value.values) else value.values[inner]
        sizes = splits[indices + 1] - splits[indices]
        return RaggedTensorValue(values, np.concatenate([[0], np.cumsum(sizes)]).astype(splits.dtype))
    places = np.asarray(value.indices)
    order = np.argsort(places[:, 0], kind="stable")
    begins, ends = (np.searchsorted(places[order, 0], indices, side) for side in ("left", "right"))
    found = np.concatenate([order[b:e] for b, e in zip(begins, ends)] or [[]]).astype(np.int64)
    numbers = places[found].copy()
    numbers[:, 0] = np.repeat(np.arange(len(indices)), ends - begins)
    return SparseTensorValue(
        numbers, np.asarray(value.values)[found], np.asarray([len(indices), *value.dense_shape[1:]])
    )


def tensor_of(value: Any) -> Any:
    """A sparse or ragged value as a tensor."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return RaggedTensor.from_row_splits(
        tensor_of(value.values) if is_composite(value.values) else value.values, value.row_splits, validate=False
    )


def value_of(tensor: Any) -> Any:
    """The value of a tensor that has been computed."""
    if isinstance(tensor, SparseTensor):
        return SparseTensorValue(*(part.numpy() for part in (tensor.indices, tensor.values, tensor.dense_shape)))
    if isinstance(tensor, RaggedTensor):
        return RaggedTensorValue(value_of(tensor.values), tensor.row_splits.numpy())
    return tensor.numpy()


def joined(parts: list) -> Any:
    """Values of batches, one behind the other."""
    if len(parts) == 1 and is_composite(parts[0]):
        return parts[0]
    if isinstance(parts[0], SparseTensorValue):
        starts = np.cumsum([0, *(part.dense_shape[0] for part in parts)])
        places = [np.asarray(part.indices) for part in parts]
        indices = [place + [start, *[0] * (place.shape[1] - 1)] for place, start in zip(places, starts)]
        rest = np.max([part.dense_shape[1:] for part in parts], axis=0)
        return SparseTensorValue(
            np.concatenate(indices), np.concatenate([part.values for part in parts]), (int(starts[-1]), *map(int, rest))
        )
    if isinstance(parts[0], RaggedTensorValue):
        starts = np.cumsum([0, *(part.row_splits[-1] for part in parts)])
        splits = [part.row_splits[1:] + start for part, start in zip(parts, starts)]
        splits = np.concatenate([[0], *splits]).astype(parts[0].row_splits.dtype)
        return RaggedTensorValue(joined([part.values for part in parts]), splits)
    return np.concatenate(parts) if np.ndim(parts[0]) else np.asarray(parts)
