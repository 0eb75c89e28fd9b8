"""What models gave for batches, as arrays, and put together; sparse and ragged outputs, too."""

from __future__ import annotations

import numpy as np

from everflow.framework.composites import SparseTensor, SparseTensorValue
from everflow.ops.ragged.tensor import RaggedTensor, RaggedTensorValue


def value_of(output):
    """An output of eager execution as an array, or as what a session gives for a sparse or ragged one."""
    if isinstance(output, SparseTensor):
        return SparseTensorValue(output.indices.numpy(), output.values.numpy(), output.dense_shape.numpy())
    if isinstance(output, RaggedTensor):
        return RaggedTensorValue(value_of(output.values), output.row_splits.numpy())
    return output.numpy()


def joined(parts):
    """One output of all batches."""
    first = parts[0]
    if isinstance(first, SparseTensorValue):
        return _joined_sparse(parts)
    if isinstance(first, RaggedTensorValue):
        return _joined_ragged(parts)
    return np.concatenate(parts) if np.ndim(first) else np.asarray(parts)


def _joined_sparse(parts):
    """Rows below each other; as wide as the widest part."""
    starts = np.cumsum([0, *(part.dense_shape[0] for part in parts)])
    indices = [
        np.concatenate([part.indices[:, :1] + start, part.indices[:, 1:]], axis=1)
        for part, start in zip(parts, starts, strict=False)
    ]
    shape = (starts[-1], *np.max([part.dense_shape[1:] for part in parts], axis=0))
    return SparseTensorValue(np.concatenate(indices), np.concatenate([part.values for part in parts]), shape)


def _joined_ragged(parts):
    ends = np.cumsum([0, *(part.row_splits[-1] for part in parts)])
    splits = [part.row_splits[1:] + start for part, start in zip(parts, ends, strict=False)]
    first = parts[0].row_splits
    row_splits = np.concatenate([np.zeros([1], first.dtype), *splits]).astype(first.dtype)
    return RaggedTensorValue(joined([part.values for part in parts]), row_splits)
