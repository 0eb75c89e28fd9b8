"""Functions of places in ragged tensors: where something holds, elements by index, repeated and dropped dimensions."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.array.indexing import both_given
from everflow.ops.array.sequences import positive_axis
from everflow.ops.checks.values import assert_equal
from everflow.ops.ragged.functions import gather, map_flat_values
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor


def rank(input, name=None):
    """The number of dimensions, ragged ones counted in."""
    with name_scope(name, "RaggedRank", [input]) as name:
        if input.shape.rank is not None:
            return array.constant(input.shape.rank, dtypes.int32, name=name)
        return input.ragged_rank + array.rank(input.flat_values)


def where(condition, x=None, y=None, name=None):
    """With x and y, values of x where `condition` holds and of y elsewhere (a vector picks rows); alone, the indices of
    True.
    """
    choosing = both_given(x, y)
    with name_scope("RaggedWhere", name, [condition, x, y]):
        condition = as_ragged_or_tensor(condition, "condition")
        if not choosing:
            return _indices(condition)
        x, y = as_ragged_or_tensor(x, "x"), as_ragged_or_tensor(y, "y")
        if isinstance(condition, RaggedTensor):
            if not isinstance(x, RaggedTensor) or not isinstance(y, RaggedTensor):
                raise ValueError("x and y must have the rows of a ragged condition")
            return map_flat_values(array.where, condition, x, y)
        if not isinstance(x, RaggedTensor) and not isinstance(y, RaggedTensor):
            return array.where(condition, x, y)
        condition.shape.assert_has_rank(1)
        both = array.concat([x, y], axis=0)
        rows = math.range(x.nrows() if isinstance(x, RaggedTensor) else array.shape(x, out_type=dtypes.int64)[0])
        return gather(both, array.where(condition, rows, rows + array.shape(rows, out_type=rows.dtype)[0]))


def _indices(condition):
    if not isinstance(condition, RaggedTensor):
        return array.where(condition)
    inner = math.cast(_indices(condition.values), condition.row_splits.dtype)
    rows = array.gather(condition.value_rowids(), inner[:, 0])
    columns = inner[:, 0] - array.gather(condition.row_starts(), rows)
    return math.cast(array.concat([array.stack([rows, columns], axis=1), inner[:, 1:]], axis=1), dtypes.int64)


def gather_nd(params, indices, name=None, batch_dims=0):
    """Elements or rows of a ragged tensor at the index vectors in the last dimension of `indices`."""
    if batch_dims:
        raise ValueError(f"gather_nd of a ragged tensor can't have batch_dims; got {batch_dims}")
    with name_scope(name, "RaggedGatherNd", [params, indices]):
        params, indices = as_ragged_or_tensor(params, "params"), as_ragged_or_tensor(indices, "indices")
        if isinstance(indices, RaggedTensor):
            return indices.with_flat_values(gather_nd(params, indices.flat_values))
        depth = indices.shape.size(-1)
        if depth is None:
            raise ValueError("indices.shape[-1] must be statically known.")
        if not isinstance(params, RaggedTensor):
            return array.gather_nd(params, indices)
        if depth == 1:
            return gather(params, array.squeeze(indices, axis=[-1]))
        indices = math.cast(indices, params.row_splits.dtype)
        flat = array.gather(params.row_starts(), indices[..., 0]) + indices[..., 1]
        rest = array.concat([array.expand_dims(flat, -1), indices[..., 2:]], axis=-1)
        return gather_nd(params.values, rest)


def tile(input, multiples, name=None):
    """A ragged tensor repeated `multiples[i]` times along each dimension."""
    with name_scope(name, "RaggedTile", [input, multiples]):
        rt = as_ragged_or_tensor(input, "input")
        multiples = convert_to_tensor(multiples, name="multiples")
        return _tiled(rt, multiples)


def _tiled(rt, multiples):
    if not isinstance(rt, RaggedTensor):
        return array.tile(rt, multiples)
    inner = rt.shape.rank is None or rt.shape.rank > 2
    if inner:  # the dimensions below the rows, with the rows' own left alone
        below = array.concat([array.ones_like(multiples[:1]), multiples[2:]], axis=0)
        rt = rt.with_values(_tiled(rt.values, below))
    multiples = math.cast(multiples, rt.row_splits.dtype)
    lengths = rt.row_lengths()
    places = array.reshape(math.range(rt.nrows()), [-1])
    longer = RaggedTensor.from_row_lengths(
        math.range(math.reduce_sum(lengths * multiples[1])), lengths * multiples[1], validate=False
    )
    rows = longer.value_rowids()
    within = math.floormod(longer.values - array.gather(longer.row_starts(), rows), array.gather(lengths, rows))
    wide = longer.with_values(gather(rt.values, array.gather(rt.row_starts(), rows) + within))
    return gather(wide, array.tile(places, multiples[:1]))


def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """A ragged tensor without some of its dimensions, whose size must be 1."""
    axis = squeeze_dims if axis is None else axis
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    with name_scope(name, "RaggedSqueeze", [input]):
        axes = sorted(positive_axis(a, input.shape.rank) for a in ([axis] if isinstance(axis, int) else axis))
        for dropped, a in enumerate(axes):
            input = _squeezed(input, a - dropped)
        return input


def _squeezed(rt, axis):
    if not isinstance(rt, RaggedTensor):
        return array.squeeze(rt, [axis])
    if axis > 1:
        return rt.with_values(_squeezed(rt.values, axis - 1))
    sizes, message = (rt.nrows(), "rows") if axis == 0 else (rt.row_lengths(), "values in each row")
    with control_dependencies(
        [assert_equal(sizes, array.ones_like(sizes), message=f"A dimension that is dropped has one of its {message}")]
    ):
        return array.identity(rt.values)
