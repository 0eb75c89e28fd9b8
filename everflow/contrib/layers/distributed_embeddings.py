"""Combined embeddings of sparse ids, summed where the parts of the table are: only a sum per row travels."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from everflow.framework.scopes import colocate_with, name_scope
from everflow.ops import array, math
from everflow.ops.nn.embedding import as_columns, checked_sparse_lookup, clip_rows, contiguous_part_of, place_of
from everflow.ops.variables.resource import BaseResourceVariable


def embedding_lookup_sparse_with_distributed_aggregation(
    params, sp_ids, sp_weights, partition_strategy="mod", name=None, combiner=None, max_norm=None
):
    """What `tf.nn.embedding_lookup_sparse` gives, with sums made beside each part of `params` and then added up.

    >>> ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 3, 0], [2, 2])
    >>> table = [tf.constant([[1.0], [2.0]]), tf.constant([[10.0], [20.0]])]
    >>> sums = tf.contrib.slim.embedding_lookup_sparse_with_distributed_aggregation(table, ids, None, combiner="sum")
    >>> tf.Session().run(sums)
    array([[30.],
           [ 1.]], dtype=float32)
    """
    # A tuple is one table here, as in TensorFlow.
    params = [params] if isinstance(params, tuple) else params
    params, combiner = checked_sparse_lookup(params, sp_ids, sp_weights, combiner)
    with name_scope(name, "embedding_lookup_sparse", [*params, sp_ids]):
        rows = math.cast(sp_ids.indices[:, 0], dtypes.int32)
        if sp_weights is None:
            ids, positions = array.unique(sp_ids.values)
            sums = _summed(params, ids, rows, partition_strategy, max_norm, positions=positions)
            weights = array.fill([array.shape(rows)[0]], 1)
        else:
            weights = sp_weights.values
            sums = _summed(params, sp_ids.values, rows, partition_strategy, max_norm, weights=weights)
        weights = as_columns(math.cast(weights, sums.dtype), sums)
        if combiner == "sum":
            return sums
        if combiner == "mean":
            return math.div(sums, math.segment_sum(weights, rows))
        return math.div(sums, math.sqrt(math.segment_sum(math.pow(weights, 2), rows)))


def _summed(params, ids, rows, strategy, max_norm, positions=None, weights=None):
    """The weighted sum of each row's embeddings; without weights, `positions` are those in the unique ids."""
    with name_scope(None, "embedding_lookup_with_distributed_aggregation", [*params, ids]) as name:
        if not params or any(param is None for param in params):
            raise ValueError("params must be specified: at least one table")
        if not any(isinstance(param, BaseResourceVariable) for param in params):
            params = convert_n_to_tensor_or_indexed_slices(params, name="params")
        ids = convert_to_tensor(ids, name="ids")
        if len(params) > 1:
            return _sum_of_parts(params, ids, rows, strategy, max_norm, positions, weights, name)
        with colocate_with(place_of(params[0])):
            found = clip_rows(array.gather(params[0], ids), ids, max_norm)
            if weights is None:
                return math.sparse_segment_sum(found, positions, rows, name=name)
            return math.segment_sum(_weighted(found, weights), rows, name=name)


def _sum_of_parts(params, ids, rows, strategy, max_norm, positions, weights, name):
    count = len(params)
    flat = array.reshape(ids, [-1])
    numbers = math.range(array.size(flat))
    part, row = _places(params, flat, strategy)
    part = math.cast(part, dtypes.int32)
    wanted = array.dynamic_partition(row, part, count)
    entries = array.dynamic_partition(numbers, part, count)
    found = []
    for param, rows_of_part in zip(params, wanted, strict=True):
        with colocate_with(place_of(param)):
            found.append(array.gather(param, rows_of_part))
    if weights is not None:
        weights = [array.gather(weights, of_part) for of_part in entries]
    found = _in_shape(params, found, entries)
    if max_norm is not None:
        parts = zip(found, entries, strict=True)
        found = [_beside(vectors, clip_rows, vectors, of_part, max_norm) for vectors, of_part in parts]
    if weights is None:
        parts = zip(found, entries, strict=True)
        sums = [_unweighted_sums(vectors, of_part, rows, positions) for vectors, of_part in parts]
    else:
        found = [_beside(vectors, _weighted, vectors, w) for vectors, w in zip(found, weights, strict=True)]
        sums = [_sums(vectors, of_part, rows) for vectors, of_part in zip(found, entries, strict=True)]
    summed_rows = array.concat([rows_of_part for rows_of_part, _ in sums], 0)
    values = array.concat([values_of_part for _, values_of_part in sums], 0)
    return math.unsorted_segment_sum(values, summed_rows, math.reduce_max(summed_rows) + 1, name=name)


def _places(params, flat, strategy):
    """Which part holds each id, and at which row."""
    if strategy == "mod":
        return flat % len(params), flat // len(params)
    if strategy != "div":
        raise ValueError(f"Unrecognized partition strategy: {strategy}")
    part, per_part, extra = contiguous_part_of(params, flat)
    in_longer = math.cast(part < extra, flat.dtype)
    return part, in_longer * (flat % (per_part + 1)) + (1 - in_longer) * ((flat - extra) % per_part)


def _in_shape(params, found, entries):
    """What was found in each part, as [entries of the part, ...row of a table]."""
    row = params[0].shape[1:]
    for param in params[1:]:
        row = row.merge_with(param.shape[1:])
    if row.is_fully_defined():
        shape_of = None
    else:
        with colocate_with(place_of(params[0])):
            shape_of = array.shape(params[0])
    result = []
    for vectors, of_part in zip(found, entries, strict=True):
        with colocate_with(vectors):
            front = array.shape(of_part)
            behind = row if shape_of is None else array.slice_(shape_of, [1], [-1])
            result.append(array.reshape(vectors, array.concat([front, behind], 0)))
    return result


def _beside(tensor, make, *args):
    with colocate_with(tensor):
        return make(*args)


def _weighted(vectors, weights):
    return vectors * as_columns(math.cast(weights, vectors.dtype), vectors)


def _sums(vectors, entries, rows):
    """(rows that have entries in this part, the sums of their vectors)."""
    row_numbers, segments = array.unique(array.gather(rows, entries))
    return row_numbers, _beside(vectors, math.segment_sum, vectors, segments)


def _unweighted_sums(vectors, entries, rows, positions):
    """As `_sums`, where an entry's vector is that of a unique id: `entries` are those of the part's unique ids."""
    _, elsewhere = array.setdiff1d(positions, entries)
    everything = math.range(array.shape(positions)[0])
    _, here = array.setdiff1d(everything, elsewhere)
    rows_here, positions_here = array.gather(rows, here), array.gather(positions, here)
    row_numbers, segments = array.unique(rows_here)
    _, vector_of = array.unique(positions_here)
    return row_numbers, _beside(vectors, math.sparse_segment_sum, vectors, vector_of, segments)
