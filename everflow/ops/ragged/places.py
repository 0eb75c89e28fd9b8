"""Functions of places in ragged tensors: where something holds, elements by index, repeated and dropped dimensions."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.indexing import both_given
from everflow.ops.array.sequences import int_tensor, positive_axis
from everflow.ops.checks.values import assert_equal
from everflow.ops.ragged.functions import gather, map_flat_values
from everflow.ops.ragged.segments import lengths_to_splits, repeat_ranges
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
        rt = as_ragged_or_tensor(input, "rt_input")
        if not isinstance(rt, RaggedTensor):
            return array.tile(rt, multiples)
        multiples = int_tensor(multiples, "multiples", rt.row_splits.dtype)
        multiples.shape.assert_has_rank(1)
        known = constant_value(multiples)
        if known is not None and len(known) != rt.shape.rank:
            raise IndexError(f"{len(known)} multiples for the {rt.shape.rank} dimensions of {rt}")
        splits = rt.nested_row_splits
        values = _tiled_values(rt, splits, multiples, known)
        return RaggedTensor.from_nested_row_splits(values, _tiled_splits(splits, multiples, known), validate=False)


def _stays(known, axis):
    return known is not None and known[axis] == 1


def _tiled_values(rt, nested_splits, multiples, known):
    """The values of a tiled ragged tensor: those of its rows repeated from the innermost dimension outwards."""
    ids, inner = math.range(nested_splits[-1][-1]), None
    for axis in range(len(nested_splits), 0, -1):
        splits = nested_splits[axis - 1]
        if inner is not None:
            splits = array.gather(inner * multiples[axis + 1], splits)
        if not _stays(known, axis):
            ids = repeat_ranges(ids, splits, multiples[axis])
        inner = splits
    values = array.gather(rt.flat_values, ids)
    return array.tile(values, array.concat([multiples[:1], multiples[len(nested_splits) + 1 :]], axis=0))


def _tiled_splits(nested_splits, multiples, known):
    count = len(nested_splits)
    seen = [{i: splits} for i, splits in enumerate(nested_splits)]  # where rows of each dimension begin in deeper ones
    for outer in range(count):
        for inner in range(outer + 1, count - 1):
            seen[outer][inner] = array.gather(nested_splits[inner], seen[outer][inner - 1])
    tiled = []
    for axis, splits in enumerate(nested_splits):
        lengths = (splits[1:] - splits[:-1]) * multiples[axis + 1]
        repeats = 1
        for outer in range(axis - 1, -1, -1):
            if not _stays(known, outer + 1):
                lengths = repeat_ranges(lengths, seen[outer][axis - 1] * repeats, multiples[outer + 1])
            repeats = repeats * multiples[outer + 1]
        tiled.append(lengths_to_splits(array.tile(lengths, multiples[:1])))
    return tiled


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
