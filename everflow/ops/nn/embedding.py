"""Embedding lookups: rows of (perhaps partitioned) variables by id, and their combinations for sparse ids."""

from __future__ import annotations

import builtins
import functools

from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from everflow.framework.scopes import colocate_with, name_scope
from everflow.framework.shapes import unknown_shape
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.math.clip import clip_by_norm
from everflow.ops.sparse.functions import sparse_fill_empty_rows, sparse_reshape, sparse_retain
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.resource import BaseResourceVariable
from everflow.platform import logging

_COMBINERS = ("mean", "sqrtn", "sum")


def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None):
    """The rows of `params` at `ids`.

    With a list of n parts and `mod`, id i is row i // n of part i % n; with `div`, parts hold contiguous ids.

    Args:
        params: The table: [rows, …], or a list of parts.
        ids: Whole numbers of any shape.
        partition_strategy: How ids are spread over parts: `mod` or `div`.
        name: The name of the operation in the graph.
        validate_indices: No effect.
        max_norm: The greatest length of a row; longer ones are scaled down.

    Returns:
        A tensor of the shape of `ids` followed by that of a row.

    Raises:
        ValueError: If the strategy isn't known.

    Example:
        >>> table = tf.constant([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])
        >>> sess.run(tf.nn.embedding_lookup(table, [2, 0]))
        array([[2. , 2.5],
               [0. , 0.5]], dtype=float32)
    """
    return lookup_rows(params, ids, partition_strategy, name, max_norm)


def lookup_rows(params, ids, partition_strategy, name, max_norm, transform=None):
    """The rows of `params` at `ids`, or what a function makes of them, which runs where each part is."""
    params = [] if params is None else as_list(params)
    if not params:
        raise ValueError("Need at least one param: params is empty")
    with name_scope(name, "embedding_lookup", [*params, ids]) as name:
        if not any(isinstance(p, BaseResourceVariable) for p in params):  # those are read row by row
            params = convert_n_to_tensor_or_indexed_slices(params, name="params")
        ids = convert_to_tensor(ids, name="ids")
        if len(params) == 1 and (transform is None or ids.shape.rank == 1):
            with colocate_with(place_of(params[0])):
                result = clip_rows(array.gather(params[0], ids, name=name), ids, max_norm)
                result = result if transform is None else transform(result)
            return array.identity(result)
        if transform is None:
            return clip_rows(_lookup_in_parts(params, ids, partition_strategy, name), ids, max_norm)
        return _lookup_in_parts(
            params, ids, partition_strategy, name, lambda rows, wanted: transform(clip_rows(rows, wanted, max_norm))
        )


def as_list(params):
    """The parts of a table."""
    if isinstance(params, PartitionedVariable):
        return builtins.list(params)
    return builtins.list(params) if isinstance(params, (builtins.list, tuple)) else [params]


def place_of(param):
    """What the ops that read a part are placed with."""
    return param.handle if isinstance(param, BaseResourceVariable) else param


def clip_rows(values, ids, max_norm):
    """Embeddings of ids, those longer than `max_norm` scaled down to it."""
    if max_norm is None:
        return values
    if ids.shape.rank is not None and values.shape.rank is not None:
        axes = builtins.list(builtins.range(ids.shape.rank, values.shape.rank))
    else:
        axes = math.range(array.rank(ids), array.rank(values))
    return clip_by_norm(values, max_norm, axes=axes)


def _lookup_in_parts(params, ids, strategy, name, transform=None):
    count = len(params)
    flat = array.reshape(ids, [-1])
    positions = math.range(array.size(flat))
    if strategy == "mod":
        part, row = flat % count, flat // count
    elif strategy == "div":
        part, row = _contiguous_parts(params, flat)
    else:
        raise ValueError("Unrecognized partition strategy: " + strategy)
    part = math.cast(part, dtypes.int32)
    rows = array.dynamic_partition(row, part, count)
    places = array.dynamic_partition(positions, part, count)
    found = []
    for param, wanted in zip(params, rows, strict=True):
        with colocate_with(place_of(param)):
            rows_there = array.gather(param, wanted)
            found.append(rows_there if transform is None else transform(rows_there, wanted))
    result = array.parallel_dynamic_stitch(places, found, name=name)
    # A row has the shape of the parts' rows, or that of what was made of them.
    shapes = [part.shape[1:] for part in (params if transform is None else found)]
    static = functools.reduce(lambda a, b: a.merge_with(b), shapes)
    if static.is_fully_defined():
        row_shape = static
    elif transform is not None:
        row_shape = array.shape(result)[1:]
    else:
        with colocate_with(place_of(params[0])):
            row_shape = array.shape(params[0])[1:]
    result = array.reshape(result, array.concat([array.shape(ids), row_shape], 0))
    result.set_shape(ids.shape.concatenate(static))
    return result


def _contiguous_parts(params, flat):
    """Which part holds each id, and where in it; the first parts hold one id more where they don't divide evenly."""
    part, per_part, extra = contiguous_part_of(params, flat)
    return part, array.where(part < extra, flat % (per_part + 1), (flat - extra) % per_part)


def contiguous_part_of(params, flat):
    """(which part holds each id, how many ids each part holds, how many of the first parts hold one more)."""
    count = len(params)
    lengths = [p.shape.size(0) if p.shape.rank is not None else None for p in params]
    if None not in lengths:
        total = constant(sum(lengths), flat.dtype)
    else:
        sizes = []
        for param, length in zip(params, lengths, strict=True):
            if length is not None:
                sizes.append(length)
            else:
                with colocate_with(place_of(param)):
                    sizes.append(array.shape(param)[0])
        total = math.reduce_sum(math.cast(array.stack(sizes), flat.dtype))
    per_part, extra = total // count, total % count
    return math.maximum(flat // (per_part + 1), (flat - extra) // per_part), per_part, extra


def embedding_lookup_sparse(
    params, sp_ids, sp_weights, partition_strategy="mod", name=None, combiner=None, max_norm=None
):
    """For each row of sparse ids, the (weighted) sum, mean or sum over root of squares of their embeddings.

    Args:
        params: The table: [rows, …], or a list of parts.
        sp_ids: The ids of each row, a SparseTensor.
        sp_weights: The weights of the ids, or None.
        partition_strategy: How ids are spread over parts: `mod` or `div`.
        name: The name of the operation in the graph.
        combiner: `mean` (if None), `sum` or `sqrtn`.
        max_norm: The greatest length of a row; longer ones are scaled down.

    Returns:
        A tensor with a vector for each row of ids.

    Raises:
        TypeError: If the ids are not sparse.
        ValueError: If the combiner isn't known.

    Example:
        >>> ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 2, 1], [2, 2])
        >>> sess.run(tf.nn.embedding_lookup_sparse(tf.constant([[1.0], [2.0], [3.0]]), ids, None, combiner="sum"))
        array([[4.],
               [2.]], dtype=float32)
    """
    params, combiner = checked_sparse_lookup(params, sp_ids, sp_weights, combiner)
    with name_scope(name, "embedding_lookup_sparse", [*params, sp_ids]) as name:
        rows = math.cast(sp_ids.indices[:, 0], dtypes.int32)
        ids, positions = array.unique(sp_ids.values)
        found = embedding_lookup(params, ids, partition_strategy=partition_strategy, max_norm=max_norm)
        if sp_weights is None:
            combine = {
                "sum": math.sparse_segment_sum,
                "mean": math.sparse_segment_mean,
                "sqrtn": math.sparse_segment_sqrt_n,
            }[combiner]
            return combine(found, positions, rows, name=name)
        weights = math.cast(sp_weights.values, found.dtype.base_dtype)
        found = array.gather(found, positions)
        weights = as_columns(weights, found)
        found = found * weights
        if combiner == "sum":
            return math.segment_sum(found, rows, name=name)
        total = math.segment_sum(found, rows)
        if combiner == "mean":
            return math.div(total, math.segment_sum(weights, rows), name=name)
        squares = math.segment_sum(math.pow(weights, 2), rows)
        return math.div(total, math.sqrt(squares), name=name)


def checked_sparse_lookup(params, sp_ids, sp_weights, combiner):
    """The parts of the table and the combiner of a lookup of sparse ids; ValueError or TypeError where arguments don't
    fit.
    """
    if combiner is None:
        logging.warn("No combiner was given to a lookup of sparse ids: rows are averaged ('mean').")
        combiner = "mean"
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of {_COMBINERS}, not {combiner!r}")
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None:
        if not isinstance(sp_weights, SparseTensor):
            raise TypeError(f"sp_weights must be a SparseTensor or None, not {type(sp_weights)}")
        sp_ids.values.shape.assert_is_compatible_with(sp_weights.values.shape)
        sp_ids.indices.shape.assert_is_compatible_with(sp_weights.indices.shape)
        sp_ids.dense_shape.shape.assert_is_compatible_with(sp_weights.dense_shape.shape)
    return as_list(params), combiner


def as_columns(weights, found):
    """Weights with dimensions of size 1 behind, so that they multiply whole embeddings."""
    ones = array.fill(array.expand_dims(array.rank(found) - 1, 0), 1)
    static = weights.shape
    weights = array.reshape(weights, array.concat([array.shape(weights), ones], 0))
    if found.shape.rank is not None:
        weights.set_shape(static.concatenate([1] * (found.shape.rank - 1)))
    return weights


def safe_embedding_lookup_sparse(
    embedding_weights,
    sparse_ids,
    sparse_weights=None,
    combiner="mean",
    default_id=None,
    name=None,
    partition_strategy="div",
    max_norm=None,
):
    """As `embedding_lookup_sparse`, for ids of any rank: negative ids and weights not above 0 are dropped, and a row
    without
    ids gives zeros, or the embedding of `default_id`.

    Args:
        embedding_weights: The table: [rows, …], or a list of parts.
        sparse_ids: The ids of each row, a SparseTensor.
        sparse_weights: The weights of the ids, or None.
        combiner: `mean`, `sum` or `sqrtn`.
        default_id: The id that stands for a row without ids; None for zeros.
        name: The name of the operation in the graph.
        partition_strategy: How ids are spread over parts: `mod` or `div`.
        max_norm: The greatest length of a row; longer ones are scaled down.

    Returns:
        A tensor with a vector for each row of ids.

    Raises:
        ValueError: If there is no table.

    Example:
        >>> ids = tf.SparseTensor([[0, 0]], tf.constant([1], tf.int64), [2, 1])
        >>> sess.run(tf.nn.safe_embedding_lookup_sparse(tf.constant([[1.0], [2.0]]), ids))
        array([[2.],
               [0.]], dtype=float32)
    """
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    weights = as_list(embedding_weights)
    if not weights:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = sparse_weights.dtype if sparse_weights is not None else None
    weights = [
        w if isinstance(w, BaseResourceVariable) and dtype in (None, w.dtype) else convert_to_tensor(w, dtype=dtype)
        for w in weights
    ]
    with name_scope(name, "embedding_lookup", [*weights, sparse_ids, sparse_weights]) as scope:
        return combined_rows(
            weights, sparse_ids, sparse_weights, combiner, default_id, scope, partition_strategy, max_norm
        )


def combined_rows(weights, sparse_ids, sparse_weights, combiner, default_id, scope, partition_strategy, max_norm):
    """What `safe_embedding_lookup_sparse` draws inside its scope."""
    original_shape = sparse_ids.dense_shape
    static_rank = original_shape.shape.size(0) if original_shape.shape.rank is not None else None
    rank = array.size(original_shape) if static_rank is None else static_rank
    # Ids of higher rank become rows of a matrix.
    lead = math.reduce_prod(array.slice_(original_shape, [0], [rank - 1]))
    sparse_ids = sparse_reshape(sparse_ids, [lead, array.gather(original_shape, rank - 1)])
    if sparse_weights is not None:
        sparse_weights = SparseTensor(sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape)
    sparse_ids, sparse_weights = _without_bad_ids(sparse_ids, sparse_weights)
    if combiner != "sum":
        sparse_ids, sparse_weights = _without_bad_weights(sparse_ids, sparse_weights)
    sparse_ids, empty = sparse_fill_empty_rows(sparse_ids, default_id or 0)
    if sparse_weights is not None:
        sparse_weights, _ = sparse_fill_empty_rows(sparse_weights, 1.0)
    result = embedding_lookup_sparse(
        weights,
        sparse_ids,
        sparse_weights,
        combiner=combiner,
        partition_strategy=partition_strategy,
        name=None if default_id is None else scope,
        max_norm=max_norm,
    )
    if default_id is None:
        empty = array.tile(array.reshape(empty, [-1, 1]), array.stack([1, array.shape(result)[1]]))
        result = array.where(empty, array.zeros_like(result), result, name=scope)
    outer = array.slice_(math.cast(original_shape, dtypes.int32), [0], [rank - 1])
    final = array.reshape(result, array.concat([outer, array.slice_(array.shape(result), [1], [-1])], 0))
    final.set_shape(unknown_shape(None if static_rank is None else static_rank - 1).concatenate(result.shape[1:]))
    return final


def _without_bad_ids(ids, weights):
    good = math.greater_equal(ids.values, 0)
    if weights is not None:
        good = math.logical_and(good, array.ones_like(weights.values, dtype=dtypes.bool))
    ids = sparse_retain(ids, good)
    return ids, None if weights is None else sparse_retain(weights, good)


def _without_bad_weights(ids, weights):
    if weights is None:
        return ids, weights
    good = math.greater(weights.values, 0)
    return sparse_retain(ids, good), sparse_retain(weights, good)
