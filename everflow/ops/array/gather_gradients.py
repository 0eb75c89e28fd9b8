"""Gradients of gathers, which are scatters or IndexedSlices."""

from __future__ import annotations

import builtins

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.registry import gradient
from everflow.framework.scopes import colocate_with
from everflow.framework.static_values import constant_value
from everflow.ops import array, math


def _params_shape(params):
    """The shape of what was gathered from, on its device: it may be a large variable elsewhere."""
    with colocate_with(params):
        return math.cast(array.shape(params, out_type=dtypes.int64), dtypes.int32)


@gradient("Gather")
def _gather_grad(op, grad):
    params, indices = op.inputs
    return _rows_grad(grad, indices, _params_shape(params)), None


def _rows_grad(grad, indices, params_shape):
    """The gradient of a gather along the first axis: rows that are not spread out until somebody needs that."""
    size = array.expand_dims(array.size(indices), 0)
    values = array.reshape(grad, array.concat([size, params_shape[1:]], 0))
    return IndexedSlices(values, array.reshape(indices, size), params_shape)


@gradient("GatherV2")
def _gather_v2_grad(op, grad):
    params, indices, axis = op.inputs
    params_shape = _params_shape(params)
    if constant_value(axis) == 0:
        return _rows_grad(grad, indices, params_shape), None, None
    batch_dims = op.attrs["batch_dims"]
    if batch_dims < 0:
        batch_dims += indices.shape.rank
    # This size is not used on this way, but TensorFlow's graphs have it.
    array.expand_dims(array.size(indices), 0)
    outer = params_shape[:axis]
    inner = params_shape[axis:][1:]
    values_shape = array.concat([outer, [-1], inner], 0)
    values_rank, place = array.size(values_shape), array.size(outer)
    batch_axes = math.range(batch_dims)
    axes_before = math.range(batch_dims, place)
    axes_after = math.range(place + 1, values_rank)
    values = array.reshape(grad, values_shape)
    # Bring the gathered axis to the front of what is not batch, sum there, and bring it back.
    values = array.transpose(values, array.concat([batch_axes, [place], axes_before, axes_after], 0))
    summed = _batch_gather_grad(params_shape, values, indices, batch_dims, params_shape[axis])
    back = array.concat([batch_axes, axes_before + 1, [batch_dims], axes_after], 0)
    return array.transpose(summed, back), None, None


def _batch_gather_grad(params_shape, values, indices, batch_dims, rows):
    size = array.expand_dims(array.size(indices), 0)
    if batch_dims:
        values_shape = array.shape(values)
        outer = values_shape[:batch_dims]
        inner = values_shape[batch_dims:][1:]
        batch_size = raw.Prod(input=outer, reduction_indices=[0])
        flat_shape = array.concat([[-1], inner], 0)
        rows = rows * batch_size
        indices = _flat_batch_indices(params_shape, indices, batch_dims)
        values = array.reshape(values, flat_shape)
    indices = array.reshape(indices, size)
    summed = math.unsorted_segment_sum(values, indices, rows)
    if batch_dims:
        summed = array.reshape(summed, array.concat([outer, flat_shape], 0))
    return summed


def _flat_batch_indices(params_shape, indices, batch_dims):
    """Indices into the flattened batch and gathered axes."""
    dtype = indices.dtype.base_dtype
    sizes = math.cast(params_shape, dtype)
    stride = array.ones((), dtype)
    flat = indices
    for dim in builtins.range(batch_dims, 0, -1):
        length = sizes[dim - 1]
        stride = stride * sizes[dim]
        offsets = math.range(array.zeros((), dtype), length, array.ones((), dtype)) * stride
        layout = array.stack([1] * (dim - 1) + [length] + [1] * (indices.shape.rank - dim), axis=0)
        flat = flat + array.reshape(offsets, layout)
    return flat


@gradient("GatherNd")
def _gather_nd_grad(op, grad):
    params, indices = op.inputs
    return gather_nd_rows_grad(array.shape(params, out_type=indices.dtype), indices, grad), None


def gather_nd_rows_grad(params_shape, indices, grad):
    """The gradient of gather_nd: IndexedSlices where each index is a single row number, else dense."""
    if indices.shape.rank == 2 and indices.shape.size(-1) == 1:
        return IndexedSlices(grad, array.squeeze(indices, axis=-1), params_shape)
    return array.scatter_nd(indices, grad, params_shape)
