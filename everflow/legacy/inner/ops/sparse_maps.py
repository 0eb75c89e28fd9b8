"""Names inside tensorflow.python.ops.sparse_ops: sparse tensors kept by number in a session, for queues to carry, a sum
with a dense tensor at the places there are, crosses, and arguments as sparse tensors.
"""

from __future__ import annotations

from typing import Any

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Operation, Tensor
from everflow.ops import math
from everflow.ops.sparse.functions import DEFAULT_HASH_KEY as _DEFAULT_HASH_KEY
from everflow.ops.sparse.functions import _cross
from everflow.ops.sparse.functions import as_sparse as _convert_to_sparse_tensor
from everflow.ops.sparse.functions import sparse_cross as _sparse_cross
from everflow.ops.sparse.functions import sparse_cross_hashed as _sparse_cross_hashed
from everflow.ops.sparse.functions import sparse_merge as sparse_merge_impl

__all__ = [
    "_DEFAULT_HASH_KEY",
    "_add_many_sparse_to_tensors_map",
    "_add_sparse_to_tensors_map",
    "_convert_to_sparse_tensor",
    "_convert_to_sparse_tensors",
    "_make_int64_tensor",
    "_sparse_cross",
    "_sparse_cross_hashed",
    "_sparse_cross_internal",
    "_take_many_sparse_from_tensors_map",
    "sparse_dense_cwise_add",
    "sparse_merge_impl",
]
_KEEPING = ("AddSparseToTensorsMap", "AddManySparseToTensorsMap")


def _parts(sp_input: Any) -> tuple[Any, Any, Any]:
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"A SparseTensor is kept here, not {sp_input!r}")
    return sp_input.indices, sp_input.values, sp_input.dense_shape


def _convert_to_sparse_tensors(sp_inputs: Any) -> list[SparseTensor]:
    """Sparse tensors from a list or tuple of such, or of their values."""
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError(f"Sparse tensors come in a list here, not as {type(sp_inputs)}")
    return [_convert_to_sparse_tensor(each) for each in sp_inputs]


def _make_int64_tensor(value: Any, name: str) -> Tensor:
    """A whole number, or a tensor, as int64."""
    if isinstance(value, int):  # Truth values are, too, as in TensorFlow.
        return convert_to_tensor(value, name=name, dtype=dtypes.int64)
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a whole number or a tensor, not {value!r}")
    return value if value.dtype == dtypes.int64 else math.cast(value, dtypes.int64)


def _sparse_cross_internal(
    inputs: Any, hashed_output: bool = False, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """Crosses of features, joined or hashed."""
    return _cross(inputs, hashed_output, num_buckets, hash_key, name)


def sparse_dense_cwise_add(sp_t: SparseTensor, dense_t: Any) -> SparseTensor:
    """A sparse tensor with the numbers of a dense one added to those it has; others are left out."""
    sums = raw.SparseDenseCwiseAdd(sp_t.indices, sp_t.values, sp_t.dense_shape, dense_t)
    return SparseTensor(sp_t.indices, sums, sp_t.dense_shape)


def _add_sparse_to_tensors_map(
    sp_input: SparseTensor, container: str | None = None, shared_name: str | None = None, name: str | None = None
) -> Tensor:
    """Keep a sparse tensor; its number."""
    return raw.AddSparseToTensorsMap(*_parts(sp_input), container=container, shared_name=shared_name, name=name)


def _add_many_sparse_to_tensors_map(
    sp_input: SparseTensor, container: str | None = None, shared_name: str | None = None, name: str | None = None
) -> Tensor:
    """Keep the rows of a sparse tensor; a number for each."""
    return raw.AddManySparseToTensorsMap(*_parts(sp_input), container=container, shared_name=shared_name, name=name)


def _take_many_sparse_from_tensors_map(
    sparse_map_op: Operation, sparse_handles: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """What was kept by some op, as the rows of one sparse tensor; `rank` is that of the rows."""
    if not isinstance(sparse_map_op, Operation) or sparse_map_op.type not in _KEEPING:
        raise TypeError(f"Sparse tensors are kept by {' or '.join(_KEEPING)}, not by {sparse_map_op!r}")
    shared = sparse_map_op.get_attr("shared_name").decode() or sparse_map_op.name
    with sparse_map_op.graph.colocate_with(sparse_map_op):
        taken = raw.TakeManySparseFromTensorsMap(
            sparse_handles,
            dtype=sparse_map_op.get_attr("T"),
            container=sparse_map_op.get_attr("container"),
            shared_name=shared,
            name=name,
        )
    taken[0].set_shape([None, rank])
    taken[2].set_shape([rank])
    return SparseTensor(*taken)
