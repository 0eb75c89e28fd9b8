"""Gathers that leave leading batch dimensions alone, spelled out in simpler ops as TensorFlow's graphs have them."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.framework.static_values import constant_value
from everflow.ops.array.basic import ones, rank, reshape, shape, zeros
from everflow.ops.array.indexing import gather
from everflow.ops.array.joining import concat, stack, unstack
from everflow.ops.array.layout import tile, transpose
from everflow.ops.array.ragged_rows import has_ragged_form
from everflow.ops.array.sequences import meshgrid


@has_ragged_form
def batch_gather(params, indices, name=None):
    """For each batch entry, the slices of `params` at `indices`; all dimensions of `indices` but the last are batch
    dimensions.

    Args:
        params: The tensor to take from.
        indices: For each batch entry the positions.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape of `indices` followed by what is left of that of `params`.

    Raises:
        ValueError: If the rank of `indices` isn't known.

    Example:
        >>> sess.run(tf.batch_gather([[1, 2, 3], [4, 5, 6]], [[0], [2]]))
        array([[1],
               [6]], dtype=int32)
    """
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if indices.shape.rank is None:
            raise ValueError("The indices of batch_gather have an unknown rank; give them a shape (set_shape)")
        return _batch_gather(params, indices, indices.shape.rank - 1)


def _batch_gather(params, indices, batch_dims):
    indices_shape, params_shape = shape(indices), shape(params)
    dtype = indices.dtype.base_dtype
    stride = ones((), dtype)
    sizes = raw.Cast(x=params_shape, DstT=dtype)
    flat = indices
    for dim in range(batch_dims, 0, -1):
        length = sizes[dim - 1]
        stride = raw.Mul(x=stride, y=sizes[dim], name="mul")
        steps = raw.Range(start=zeros((), dtype), limit=length, delta=ones((), dtype))
        offsets = raw.Mul(x=steps, y=stride, name="mul")
        layout = stack([1] * (dim - 1) + [length] + [1] * (indices.shape.rank - dim), axis=0)
        flat = raw.AddV2(x=flat, y=reshape(offsets, layout), name="add")
    flat = reshape(flat, [-1])
    inner = params_shape[batch_dims + 1 :]
    rows = raw.Prod(input=params_shape[: batch_dims + 1], reduction_indices=[0])
    picked = gather(reshape(params, concat([[rows], inner], axis=0)), flat)
    result = reshape(picked, concat([indices_shape, inner], axis=0))
    static = indices.shape[:batch_dims].merge_with(params.shape[:batch_dims])
    result.set_shape(static.concatenate(indices.shape[batch_dims:]).concatenate(params.shape[batch_dims + 1 :]))
    return result


def batch_gather_nd(params, indices, batch_dims, name=None):
    """`gather_nd` inside each entry of the leading `batch_dims` dimensions."""
    with name_scope(name, "BatchGatherND", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if not isinstance(batch_dims, int):
            raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
        if batch_dims < 0:
            raise ValueError(f"batch_dims of gather_nd must not be negative, but is {batch_dims}")
        for what, t in (("params", params), ("indices", indices)):
            if t.shape.rank is not None and batch_dims >= t.shape.rank:
                raise ValueError(f"batch_dims = {batch_dims} must be less than rank({what}) = {t.shape.rank}")
        params_shape, indices_shape = shape(params), shape(indices)
        batch_shape = params_shape[:batch_dims]
        batch_size = raw.Prod(input=batch_shape, reduction_indices=[0])
        inner = raw.Sub(x=raw.Sub(x=rank(indices), y=batch_dims, name="sub"), y=1, name="sub")
        inner_shape = indices_shape[batch_dims:-1]
        ranges = [
            raw.Cast(x=raw.Range(start=0, limit=length, delta=1), DstT=indices.dtype.base_dtype)
            for length in unstack(batch_shape, axis=0)
        ]
        columns = [reshape(x, (-1,)) for x in meshgrid(*ranges, indexing="ij")]
        grid = transpose(stack(columns, axis=0))
        grid_shape = shape(grid)
        grid = reshape(grid, concat([grid_shape[:1], ones(inner, dtypes.int32), grid_shape[1:]], axis=0))
        grid = tile(grid, concat(((1,), inner_shape, (1,)), axis=0))
        flat = reshape(indices, concat(([batch_size], indices_shape[batch_dims:]), axis=0))
        out = raw.GatherNd(params=params, indices=concat((grid, flat), axis=-1))
        out_shape = shape(out)
        return reshape(out, concat((batch_shape, out_shape[1:]), axis=0))


@has_ragged_form
def gather_nd(params, indices, name=None, batch_dims=0):
    """Elements or slices of `params` at the index vectors in the last dimension of `indices`.

    Args:
        params: The tensor to take from.
        indices: Index vectors along the last axis.
        name: The name of the operation in the graph.
        batch_dims: How many axes at the start `params` and `indices` share.

    Returns:
        A tensor of the shape of `indices` without its last axis, followed by what the vectors leave of `params`.

    Example:
        >>> sess.run(tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]))
        array([2, 3], dtype=int32)
    """
    static = constant_value(batch_dims) if isinstance(batch_dims, Tensor) else batch_dims
    if static == 0:
        if hasattr(params, "handle"):
            return params.gather_nd(indices, name=name)
        return raw.GatherNd(params=params, indices=indices, name=name)
    # A number of numpy's, a Dimension or a constant tensor counts as well.
    return batch_gather_nd(params, indices, batch_dims=batch_dims if static is None else int(static), name=name)
