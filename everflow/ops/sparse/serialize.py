"""SparseTensors as strings or variants, and back."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.ops.sparse.functions import as_sparse


def serialize_sparse(sp_input, name=None, out_type=dtypes.string):
    """A vector of three: the indices, values and dense shape of a SparseTensor, each serialized.

    Args:
        sp_input: The SparseTensor.
        name: The name of the operation in the graph.
        out_type: `tf.string` or `tf.variant`.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.serialize_sparse(tf.SparseTensor([[0, 1]], [5], [2, 2]))).shape
        (3,)
    """
    sp_input = as_sparse(sp_input)
    return raw.SerializeSparse(
        sparse_indices=sp_input.indices,
        sparse_values=sp_input.values,
        sparse_shape=sp_input.dense_shape,
        out_type=out_type,
        name=name,
    )


def serialize_many_sparse(sp_input, name=None, out_type=dtypes.string):
    """A [rows, 3] tensor: each row of a SparseTensor serialized as a SparseTensor of rank one less.

    Args:
        sp_input: The SparseTensor.
        name: The name of the operation in the graph.
        out_type: `tf.string` or `tf.variant`.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.serialize_many_sparse(tf.SparseTensor([[0, 1]], [5], [2, 2]))).shape
        (2, 3)
    """
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
    """One SparseTensor, with the batch as its first dimension, from what `serialize_many_sparse` made.

    Args:
        serialized_sparse: A [rows, 3] tensor of strings.
        dtype: The type of the elements.
        rank: The rank of each row's SparseTensor.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor.

    Example:
        >>> sparse = tf.SparseTensor([[0, 1], [1, 0]], [5, 7], [2, 2])
        >>> again = tf.deserialize_many_sparse(tf.serialize_many_sparse(sparse), tf.int32)
        >>> sess.run(again).values
        array([5, 7], dtype=int32)
    """
    return _with_rank(raw.DeserializeManySparse(serialized_sparse=serialized_sparse, dtype=dtype, name=name), rank)


def _with_rank(parts, rank):
    parts.sparse_indices.set_shape([None, rank])
    parts.sparse_shape.set_shape([rank])
    return SparseTensor(*parts)
