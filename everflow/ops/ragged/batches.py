"""Gathers within each row: `batch_gather`, and with a default where an index is outside."""

from __future__ import annotations

from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.array.sequences import repeat_with_axis
from everflow.ops.checks.values import assert_equal
from everflow.ops.ragged.functions import concat, gather, map_flat_values
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from everflow.ops.ragged.value import RaggedTensorValue


def batch_gather(params, indices, name=None):
    """For each row, the elements of the row of `params` at the row of `indices`."""
    if not any(isinstance(x, (RaggedTensor, RaggedTensorValue)) for x in (params, indices)):
        return array.batch_gather(params, indices, name)
    with name_scope(name, "RaggedBatchGather", [params, indices]):
        params, indices = as_ragged_or_tensor(params, "params"), as_ragged_or_tensor(indices, "indices")
        kinds = {x.row_splits.dtype for x in (params, indices) if isinstance(x, RaggedTensor)}
        if len(kinds) > 1:
            raise ValueError(
                "params and indices must have row_splits of one dtype: see RaggedTensor.with_row_splits_dtype"
            )
        if indices.shape.rank is None:
            raise ValueError("batch_gather wants indices of known rank")
        if indices.shape.rank == 0:
            raise ValueError("indices.rank must be at least 1")
        if indices.shape.rank == 1:
            return gather(params, indices)
        (kind,) = kinds
        return _gathered(params, indices, kind)


def _gathered(params, indices, kind):
    """What indices of two dimensions or more pick, of which the first goes through the rows of `params`."""
    if not isinstance(params, RaggedTensor):
        if params.shape.rank is None:
            raise ValueError("batch_gather wants params of known rank")
        if params.shape.rank < indices.shape.rank:
            raise ValueError(
                f"indices of rank {indices.shape.rank} have a batch shape that params don't have: {params.shape}"
            )
        params = RaggedTensor.from_tensor(params, row_splits_dtype=kind)
    if not isinstance(indices, RaggedTensor):
        if indices.shape.rank > 2:
            raise ValueError(
                f"indices of rank {indices.shape.rank} have a batch shape that params don't have: {params.shape}"
            )
        starts = array.expand_dims(params.row_starts(), 1)
        return gather(params.values, math.cast(indices, kind) + starts)
    params.shape.dims[0].assert_is_compatible_with(indices.shape.dims[0])
    if indices.shape.rank > 2:
        if params.shape.rank is not None and params.shape.rank < indices.shape.rank:
            raise ValueError(
                f"indices of rank {indices.shape.rank} have a batch shape that params don't have: {params.shape}"
            )
        check = assert_equal(params.row_splits, indices.row_splits)
        with control_dependencies([check]):
            return indices.with_values(batch_gather(params.values, indices.values))
    lengths = indices.row_lengths()
    starts = repeat_with_axis(params.row_starts(), lengths, axis=0)
    return indices.with_values(gather(params.values, math.cast(indices.values, kind) + starts))


def batch_gather_with_default(params, indices, default_value="", name=None):
    """`batch_gather` that gives `default_value` where an index is outside of its row.

    The default stands before each row, and what is outside points to it.
    """
    with name_scope(name, "RaggedBatchGatherWithDefault"):
        params, indices = as_ragged_or_tensor(params, "params"), as_ragged_or_tensor(indices, "indices")
        default_value = as_ragged_or_tensor(default_value, "default_value")
        if isinstance(default_value, RaggedTensor):
            default_value = default_value.to_tensor()
        if (default_value.shape.rank or 0) > 1:
            raise ValueError(f"default_value must be a scalar or a vector, not of shape {default_value.shape}")
        if default_value.dtype != params.dtype:
            default_value = math.cast(default_value, params.dtype)
        axis = indices.shape.rank - 1
        if not isinstance(params, RaggedTensor):
            widths = array.shape(params)[axis]
        else:
            widths = array.expand_dims(params.row_lengths(axis), -1) if axis else params.nrows()
        inside = math.logical_and(math.greater(math.cast(widths, indices.dtype), indices), math.greater(indices, -1))
        flat = inside.flat_values if isinstance(inside, RaggedTensor) else inside
        moved = map_flat_values(lambda index: array.where(flat, index + 1, array.zeros_like(index)), indices)
        return batch_gather(_padded(params, default_value, axis), moved)


def _padded(params, default_value, axis):
    """`params` with the default as the first slice along `axis`."""
    if axis > 1 and isinstance(params, RaggedTensor):
        return params.with_values(_padded(params.values, default_value, axis - 1))
    missing = params.shape.rank - axis - 1 - default_value.shape.rank
    if missing == -1 and default_value.shape.size(0) == 1:
        default_value, missing = array.squeeze(default_value, [0]), 0
    if missing < 0:
        raise ValueError(f"default_value has more dimensions than what is gathered from {params}")
    for _ in range(missing):
        default_value = array.expand_dims(default_value, 0)
    if isinstance(params, RaggedTensor):
        inner = array.shape(params.flat_values)[1:]
        outer = array.ones([params.ragged_rank - axis], inner.dtype)
        rows = [math.cast(params.nrows(), inner.dtype)] if axis else []
        own = array.shape(default_value)[: params.ragged_rank - axis]
        shape = array.concat([array.stack([*rows, 1]), math.maximum(outer, own), inner], 0)
        pad = array.broadcast_to(default_value, shape)
        pad = RaggedTensor.from_tensor(pad, ragged_rank=params.ragged_rank, row_splits_dtype=params.row_splits.dtype)
        return concat([pad, params], axis)
    shape = array.shape(params)
    shape = array.concat([shape[:axis], [1], shape[axis + 1 :]], 0)
    return array.concat([array.broadcast_to(default_value, shape), params], axis)
