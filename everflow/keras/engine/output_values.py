"""What a model gives for batches as values: arrays, and sparse and ragged ones, alone and joined over a data set."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.framework.composites import SparseTensor, SparseTensorValue
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.ragged.value import RaggedTensorValue


def value_of(tensor: Any) -> Any:
    """The value of a tensor that has been computed."""
    if isinstance(tensor, SparseTensor):
        return SparseTensorValue(*(part.numpy() for part in (tensor.indices, tensor.values, tensor.dense_shape)))
    if isinstance(tensor, RaggedTensor):
        return RaggedTensorValue(value_of(tensor.values), tensor.row_splits.numpy())
    return tensor.numpy()


def joined(parts: list) -> Any:
    """Values of batches, one behind the other."""
    if len(parts) == 1 and isinstance(parts[0], (SparseTensorValue, RaggedTensorValue)):
        return parts[0]
    if isinstance(parts[0], SparseTensorValue):
        starts = np.cumsum([0, *(part.dense_shape[0] for part in parts)])
        indices = [part.indices + [start, *[0] * (part.indices.shape[1] - 1)] for part, start in zip(parts, starts)]
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
