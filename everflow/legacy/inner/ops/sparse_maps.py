"""Names inside tensorflow.python.ops.sparse_ops: sparse tensors kept by number in a session, for queues to carry, and a
sum with a dense tensor at the places there are.
"""

from __future__ import annotations

from typing import Any

from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Operation, Tensor

__all__ = [
    "_add_many_sparse_to_tensors_map",
    "_add_sparse_to_tensors_map",
    "_take_many_sparse_from_tensors_map",
    "sparse_dense_cwise_add",
]
_KEEPING = ("AddSparseToTensorsMap", "AddManySparseToTensorsMap")


def _parts(sp_input: Any) -> tuple[Any, Any, Any]:
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"A SparseTensor is kept here, not {sp_input!r}")
    return sp_input.indices, sp_input.values, sp_input.dense_shape


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
