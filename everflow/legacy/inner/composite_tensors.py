"""tensorflow.python.framework.composite_tensor and composite_tensor_utils: sparse and ragged tensors, or their values, put one behind the
other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.framework import nest
from everflow.framework.composites import CompositeTensor, IndexedSlices, SparseTensor, SparseTensorValue
from everflow.framework.shapes import TensorShape
from everflow.ops.array.joining import concat
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.ragged.value import RaggedTensorValue
from everflow.ops.sparse.functions import sparse_concat


def is_composite_or_composite_value(tensor: Any) -> bool:
    """Whether something is made of several tensors or arrays."""
    return isinstance(tensor, (CompositeTensor, SparseTensor, IndexedSlices, SparseTensorValue, RaggedTensorValue))


def get_shape(tensor: Any) -> Any:
    """The shape of a tensor, or of a sparse or ragged value."""
    return tensor.dense_shape if isinstance(tensor, SparseTensorValue) else tensor.shape


def append_composite_tensor(target: Any, to_append: Any) -> Any:
    """Both, one behind the other along the first axis."""
    if type(target) is not type(to_append):
        raise RuntimeError(f"A {type(target).__name__} and a {type(to_append).__name__} can't be put together")
    if isinstance(target, SparseTensor):
        return sparse_concat(sp_inputs=[target, to_append], axis=0)
    if isinstance(target, RaggedTensor):
        return concat([target, to_append], axis=0)
    if isinstance(target, SparseTensorValue):
        return _sparse_values(target, to_append)
    if isinstance(target, RaggedTensorValue):
        return _ragged_values(target, to_append)
    raise RuntimeError(f"Sparse and ragged tensors or their values can be put together, not a {type(target).__name__}")


def _sparse_values(target: SparseTensorValue, more: SparseTensorValue) -> SparseTensorValue:
    if list(target.dense_shape[1:]) != list(more.dense_shape[1:]):
        raise RuntimeError(
            f"Sparse values of shapes {tuple(target.dense_shape)} and {tuple(more.dense_shape)} differ not only in rows"
        )
    moved = np.array(more.indices)
    moved[:, 0] += target.dense_shape[0]
    shape = (target.dense_shape[0] + more.dense_shape[0], *target.dense_shape[1:])
    return SparseTensorValue(
        np.concatenate([target.indices, moved]), np.concatenate([target.values, more.values]), shape
    )


def _ragged_values(target: RaggedTensorValue, more: RaggedTensorValue) -> RaggedTensorValue:
    if TensorShape(target.shape[1:]).rank != TensorShape(more.shape[1:]).rank:
        raise RuntimeError(f"Ragged values of shapes {target.shape} and {more.shape} differ in rank")
    if isinstance(target.values, RaggedTensorValue):
        values = _ragged_values(target.values, more.values)
    else:
        values = np.concatenate([target.values, more.values])
    splits = np.concatenate([target.row_splits, more.row_splits[1:] + target.row_splits[-1]])
    return RaggedTensorValue(values, splits)


def replace_composites_with_components(structure: Any) -> Any:
    """A structure in which a list of its tensors stands for each composite tensor, one inside another's too."""
    if isinstance(structure, (CompositeTensor, SparseTensor, IndexedSlices, RaggedTensor)):
        return replace_composites_with_components(nest.flatten(structure, expand_composites=True))
    if not nest.is_nested(structure):
        return structure
    return nest.pack_sequence_as(
        structure, [replace_composites_with_components(part) for part in nest.flatten(structure)]
    )
