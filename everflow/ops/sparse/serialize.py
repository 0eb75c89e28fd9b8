"""SparseTensors as strings or variants, and back."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.ops.sparse.functions import as_sparse


def serialize_sparse(sp_input, name=None, out_type=dtypes.string):
    """A vector of three: the indices, values and dense shape of a SparseTensor, each serialized."""
    sp_input = as_sparse(sp_input)
    return raw.SerializeSparse(
        sparse_indices=sp_input.indices,
        sparse_values=sp_input.values,
        sparse_shape=sp_input.dense_shape,
        out_type=out_type,
        name=name,
    )


def serialize_many_sparse(sp_input, name=None, out_type=dtypes.string):
    """A [rows, 3] tensor: each row of a SparseTensor serialized as a SparseTensor of rank one less."""
    sp_input = as_sparse(sp_input)
    return raw.SerializeManySparse(
        sparse_indices=sp_input.indices,
        sparse_values=sp_input.values,
        sparse_shape=sp_input.dense_shape,
        out_type=out_type,
        name=name,
    )


def deserialize_sparse(serialized_sparse, dtype, rank=None, name=None):
    """SparseTensors of any batch shape from what `serialize_sparse` made."""
    return _with_rank(raw.DeserializeSparse(serialized_sparse=serialized_sparse, dtype=dtype, name=name), rank)


def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    """One SparseTensor, with the batch as its first dimension, from what `serialize_many_sparse` made."""
    return _with_rank(raw.DeserializeManySparse(serialized_sparse=serialized_sparse, dtype=dtype, name=name), rank)


def _with_rank(parts, rank):
    parts.sparse_indices.set_shape([None, rank])
    parts.sparse_shape.set_shape([rank])
    return SparseTensor(*parts)
