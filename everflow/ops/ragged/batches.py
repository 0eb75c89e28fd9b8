"""Gathers within each row: `batch_gather`, and with a default where an index is outside."""

from __future__ import annotations

from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.checks.values import assert_equal
from everflow.ops.ragged.functions import concat, gather, map_flat_values
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor


def batch_gather(params, indices, name=None):
    """For each row, the elements of the row of `params` at the row of `indices`."""
    with name_scope(name, "RaggedBatchGather", [params, indices]):
        params, indices = as_ragged_or_tensor(params, "params"), as_ragged_or_tensor(indices, "indices")
        if indices.shape.rank is None:
            raise ValueError("batch_gather wants indices of known rank")
        return _gathered(params, indices)


def _gathered(params, indices):
    if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
        return array.batch_gather(params, indices)
    if isinstance(params, RaggedTensor) and isinstance(indices, RaggedTensor):
        if params.row_splits.dtype != indices.row_splits.dtype:
            raise ValueError(
                "params and indices must have row_splits of one dtype: see RaggedTensor.with_row_splits_dtype"
            )
    if not isinstance(indices, RaggedTensor):
        if indices.shape.rank == 0:
            raise ValueError("indices.rank must be at least 1")
        if indices.shape.rank == 1:
            return gather(params, indices)
        dense = _gathered(params, RaggedTensor.from_tensor(indices, row_splits_dtype=params.row_splits.dtype))
        return dense.to_tensor() if indices.shape.rank == 2 and not isinstance(dense.values, RaggedTensor) else dense
    if not isinstance(params, RaggedTensor):
        if params.shape.rank is None:
            raise ValueError("batch_gather wants params of known rank")
        params = RaggedTensor.from_tensor(params, row_splits_dtype=indices.row_splits.dtype)
    if not params.shape.dims[0].is_compatible_with(indices.shape[0]):
        raise ValueError(f"params has {params.shape[0]} rows, indices {indices.shape[0]}: they must be as many")
    if isinstance(indices.values, RaggedTensor):
        if not isinstance(params.values, RaggedTensor) and params.values.shape.rank == 1:
            splits = indices.values.row_splits
            with control_dependencies([assert_equal(params.row_splits, splits)]):
                return indices.with_values(gather(params.values, indices.values))
        with control_dependencies([assert_equal(params.row_splits, indices.row_splits)]):
            return indices.with_values(_gathered(params.values, indices.values))
    start = array.gather(params.row_starts(), indices.value_rowids())
    return indices.with_values(gather(params.values, math.cast(indices.values, start.dtype) + start))


def batch_gather_with_default(params, indices, default_value="", name=None):
    """`batch_gather` that gives `default_value` where an index is outside of all rows.

    The default stands before each row, and what is outside points to it.
    """
    with name_scope(name, "RaggedBatchGatherWithDefault"):
        params, indices = as_ragged_or_tensor(params, "params"), as_ragged_or_tensor(indices, "indices")
        default_value = as_ragged_or_tensor(default_value, "default_value")
        if isinstance(default_value, RaggedTensor):
            default_value = default_value.to_tensor()
        axis = indices.shape.rank - 1
        kind = indices.dtype
        if isinstance(params, RaggedTensor):
            width = params.bounding_shape(axis=axis, out_type=kind)
        else:
            width = array.shape(params, out_type=kind)[axis]

        def moved(index):
            inside = math.logical_and(index >= 0, index < width)
            return array.where(inside, index + 1, array.zeros_like(index))

        return batch_gather(_padded(params, default_value, axis), map_flat_values(moved, indices))


def _padded(params, default_value, axis):
    """`params` with the default as the first slice along `axis`."""
    if axis > 1 and isinstance(params, RaggedTensor):
        return params.with_values(_padded(params.values, default_value, axis - 1))
    missing = params.shape.rank - axis - 1 - default_value.shape.rank
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
