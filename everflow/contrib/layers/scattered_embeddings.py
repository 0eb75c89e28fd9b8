"""Embeddings without a table: each number of a value's vector is one of a few learned ones, picked by hashing."""

from __future__ import annotations

from everflow.contrib.layers.sparse_columns import sparse_feature_cross
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.nn.embedding import embedding_lookup
from everflow.ops.sparse import functions as sparse

# Stands for a row without values; any string does that no feature has.
_NO_VALUE = "6ZxWzWOHxZ"


def scattered_embedding_lookup(params, values, dimension, name=None, hash_key=None):
    """Vectors of `dimension` numbers for values of any shape, picked from the flat `params`."""
    params = list(params) if isinstance(params, (list, tuple)) else [params]
    with name_scope(name, "scattered_embedding_lookup", [*params, dimension, values]):
        if dimension <= 0:
            raise ValueError(f"Dimension should be >0 not {dimension}")
        values = convert_to_tensor(values)
        size = sum(part.shape.num_elements() for part in params)
        values_shape = array.shape(values)
        flat = array.reshape(values, [-1, 1])
        # Each value crossed with the number of a place in the vector.
        places = array.tile(array.expand_dims(math.range(0, dimension), 0), array.shape(flat))
        ids = sparse_feature_cross([places, flat], True, size, hash_key=hash_key)
        ids = sparse.sparse_tensor_to_dense(ids)
        found = embedding_lookup(params, ids, partition_strategy="div", validate_indices=False)
        return array.reshape(found, array.concat([values_shape, [dimension]], 0))


def scattered_embedding_lookup_sparse(
    params, sparse_values, dimension, combiner=None, default_value=None, name=None, hash_key=None
):
    """The vectors of each row's values, combined."""
    combiner = combiner or "mean"
    with name_scope(name, "scattered_embedding_lookup_sparse", [params, sparse_values]) as scope:
        default = _NO_VALUE if default_value is None else default_value
        filled, _ = sparse.sparse_fill_empty_rows(sparse_values, default)
        rows = math.cast(filled.indices[:, 0], dtypes.int32)
        values, positions = array.unique(filled.values)
        vectors = scattered_embedding_lookup(params, values, dimension, hash_key=hash_key)
        combine = {"sum": math.sparse_segment_sum, "mean": math.sparse_segment_mean}
        combine["sqrtn"] = math.sparse_segment_sqrt_n
        return combine[combiner](vectors, positions, rows, name=scope)
