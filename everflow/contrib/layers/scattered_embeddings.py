"""Embeddings without a table: each number of a value's vector is one of a few learned ones, picked by hashing."""

from __future__ import annotations

from everflow.contrib.layers.sparse_columns import sparse_feature_cross
from everflow.framework import dtypes
from everflow.framework.composites import is_sparse
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.checks import values as checks
from everflow.ops.nn.embedding import embedding_lookup
from everflow.ops.sparse import functions as sparse

# Stands for a row without values; any string does that no feature has.
_NO_VALUE = "6ZxWzWOHxZ"


def scattered_embedding_lookup(params, values, dimension, name=None, hash_key=None):
    """Vectors of `dimension` numbers for values of any shape, picked from the flat `params`."""
    if dimension is None:
        raise ValueError("A dimension has to be given")
    return sampled_lookup(params, values, dimension, None, hash_key, name)


def sampled_lookup(params, values, dimension=None, sampled_candidates=None, hash_key=None, name=None):
    """Vectors for values of any shape; of some places in them only, where each value has `sampled_candidates`."""
    params = list(params) if isinstance(params, (list, tuple)) else [params]
    with name_scope(name, "scattered_embedding_lookup", [*params, dimension, values]):
        if dimension is None and sampled_candidates is None:
            raise ValueError("Give a dimension, or sampled_candidates")
        if dimension is not None and dimension <= 0:
            raise ValueError(f"Dimension should be >0 not {dimension}")
        values = convert_to_tensor(values)
        size = sum(part.shape.num_elements() for part in params)
        values_shape = array.shape(values)
        flat = array.reshape(values, [-1, 1])
        # Each value crossed with the number of a place in the vector.
        if sampled_candidates is None:
            places = array.tile(array.expand_dims(math.range(0, dimension), 0), array.shape(flat))
            count = [dimension]
        else:
            places, count = _checked_candidates(sampled_candidates, values_shape)
        ids = sparse_feature_cross([places, flat], True, size, hash_key=hash_key)
        ids = sparse.sparse_tensor_to_dense(ids)
        found = embedding_lookup(params, ids, partition_strategy="div", validate_indices=False)
        return array.reshape(found, array.concat([values_shape, count], 0))


def _checked_candidates(candidates, values_shape):
    """(a row of candidates for each value, how many there are for each)."""
    candidates = convert_to_tensor(candidates)
    shape = array.shape(candidates)
    same = checks.assert_equal(shape[:-1], values_shape, message="There must be candidates for each value")
    with control_dependencies([same]):
        return array.reshape(candidates, [-1, shape[-1]]), shape[-1:]


def sampled_lookup_sparse(
    params, sp_values, dimension=None, sampled_candidates=None, hash_key=None, with_sign_hash=False, name=None
):
    """The sums of the vectors of each row's values, each number of them with a sign by its hash if wanted."""
    if not is_sparse(sp_values):
        raise TypeError(f"sp_values must be a SparseTensor, not {sp_values!r}")
    with name_scope(name, "sampled_scattered_embedding_lookup_sparse", [sp_values]):
        rows = sp_values.indices[:, 0]
        if sampled_candidates is not None:
            # Each row has candidates for all its values.
            sampled_candidates = array.gather(sampled_candidates, rows)
        vectors = sampled_lookup(params, sp_values.values, dimension, sampled_candidates, hash_key)
        if with_sign_hash:
            signs = convert_to_tensor([-1.0, 1.0])
            vectors *= sampled_lookup(signs, sp_values.values, dimension, sampled_candidates, hash_key)
        return math.unsorted_segment_sum(vectors, math.cast(rows, dtypes.int32), sp_values.dense_shape[0])


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
