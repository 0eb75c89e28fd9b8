"""Functions of places in ragged tensors: where something holds, elements by index, repeated and dropped dimensions."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.indexing import both_given
from everflow.ops.array.sequences import int_tensor, positive_axis
from everflow.ops.control_flow.conditionals import Assert
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.ragged.functions import concat, expand_dims, gather, map_flat_values
from everflow.ops.ragged.segments import lengths_to_splits, repeat_ranges
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor, nvals

_NOT_ONE = "A dimension that is dropped must be of size 1"


def rank(input, name=None):
    """The number of dimensions, ragged ones counted in."""
    with name_scope(name, "RaggedRank", [input]):
        return input.ragged_rank + array.rank(input.flat_values)


def size(input, name=None, out_type=dtypes.int32):
    """The number of values."""
    return array.size(as_ragged_or_tensor(input).flat_values, name, out_type)


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
        both = concat([x, y], axis=0)
        of_x, of_y = nvals(x, dtypes.int64), nvals(y, dtypes.int64)
        in_x = math.range(of_x)
        return gather(both, array.where(condition, in_x, of_x + math.range(of_y)))


def _indices(condition):
    if not isinstance(condition, RaggedTensor):
        return array.where(condition)
    inner = _indices(condition.values)
    condition = condition.with_row_splits_dtype(dtypes.int64)
    place = inner[:, 0]
    rows = array.gather(condition.value_rowids(), place)
    columns = place - array.gather(condition.row_splits, rows)
    outer = [array.expand_dims(rows, 1), array.expand_dims(columns, 1)]
    return array.concat([*outer, inner[:, 1:]], axis=1)


def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """A dimension of size `depth` for the values of a ragged tensor."""
    with name_scope(name, "RaggedOneHot", [indices]):
        if axis is not None and axis >= 0:
            axis -= indices.ragged_rank
        return indices.with_flat_values(array.one_hot(indices.flat_values, depth, on_value, off_value, axis, dtype))


def gather_nd(params, indices, name=None, batch_dims=0):
    """Elements or rows of a ragged tensor at the index vectors in the last dimension of `indices`."""
    if batch_dims:
        raise ValueError(f"gather_nd of a ragged tensor can't have batch_dims; got {batch_dims}")
    with name_scope(name, "RaggedGatherNd", [params, indices]):
        params, indices = as_ragged_or_tensor(params, "params"), as_ragged_or_tensor(indices, "indices")
        rank, depth = indices.shape.rank, indices.shape.size(-1) if indices.shape.rank else None
        if depth is None:
            raise ValueError("indices.shape[-1] must be statically known.")
        if not isinstance(indices, RaggedTensor) and isinstance(params, RaggedTensor) and rank > 2:
            kind = params.row_splits.dtype
            indices = RaggedTensor.from_tensor(indices, ragged_rank=rank - 2, row_splits_dtype=kind)
        if isinstance(indices, RaggedTensor):
            return indices.with_values(gather_nd(params, indices.values))
        if not isinstance(params, RaggedTensor):
            return array.gather_nd(params, indices)
        if depth == 0:
            dimensions = params.ragged_rank + array.rank(params.flat_values)
            outer = expand_dims(params, 0)
            lead = array.shape(indices)[:-1]
            once = array.ones([dimensions], dtypes.int32)
            return tile(outer, array.concat([lead, once], axis=0))
        if depth == 1:
            return gather(params, array.reshape(indices, [-1]))
        return _elements(params, math.cast(indices, params.row_splits.dtype), depth)


def _elements(params, indices, depth):
    """What stands at index vectors: the first numbers lead through the ragged dimensions, the others on from there."""
    place = array.gather(params.row_splits, indices[..., 0]) + indices[..., 1]
    inner, used = params.values, 2
    while isinstance(inner, RaggedTensor) and used < depth:
        place = array.gather(inner.row_starts(), place) + indices[..., used]
        inner, used = inner.values, used + 1
    if used == depth:
        return gather(inner, place)
    axis = indices.shape.rank - 1
    return array.gather_nd(inner, array.concat([array.expand_dims(place, axis), indices[..., used:]], axis=axis))


def tile(input, multiples, name=None):
    """A ragged tensor repeated `multiples[i]` times along each dimension."""
    with name_scope(name, "RaggedTile", [input, multiples]):
        rt = as_ragged_or_tensor(input, "rt_input")
        if not isinstance(rt, RaggedTensor):
            return array.tile(rt, multiples)
        multiples = int_tensor(multiples, "multiples", rt.row_splits.dtype)
        multiples.shape.assert_has_rank(1)
        known = constant_value(multiples)
        if known is not None and len(known) <= rt.ragged_rank:
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
        axes = sorted({positive_axis(a, input.shape.rank) for a in ([axis] if isinstance(axis, int) else axis)})
        one = array.constant(1, input.row_splits.dtype)
        lengths, splits = input.nested_row_lengths(), list(input.nested_row_splits)
        ragged = [a for a in axes if 0 < a <= input.ragged_rank]
        checks = [Assert(math.reduce_all(math.equal(lengths[a - 1], one)), [_NOT_ONE]) for a in ragged]
        for a in reversed(ragged):
            del splits[a - 1]
        if 0 in axes:
            two = array.constant(2, dtypes.int32)
            checks.append(Assert(math.equal(array.size(input.row_splits), two), [_NOT_ONE]))
            del splits[0]
        values = with_dependencies(checks, input.flat_values)
        if inner := [a - input.ragged_rank for a in axes if a > input.ragged_rank]:
            values = array.squeeze(values, inner)
        return RaggedTensor.from_nested_row_splits(values, splits)
