"""Functions on ragged tensors: mapping over values, masks, ranges, joins, gathers, reductions over rows."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.array.sequences import positive_axis
from everflow.ops.checks.values import assert_equal
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor


def map_flat_values(op, *args, **kwargs):
    """A function applied to the flat values of its ragged arguments, whose rows must be the same."""
    ragged = []

    def flat(value):
        if isinstance(value, RaggedTensor):
            ragged.append(value)
            return value.flat_values
        if isinstance(value, (list, tuple)):
            return type(value)(map(flat, value))
        return value

    args = [flat(a) for a in args]
    kwargs = {k: flat(v) for k, v in kwargs.items()}
    if not ragged:
        return op(*args, **kwargs)
    with control_dependencies(_same_rows(ragged)):
        result = op(*args, **kwargs)
    return ragged[0].with_flat_values(result)


def _same_rows(ragged):
    """Assertions that ragged tensors have the same row splits, left out where they are the same tensors."""
    first, checks = ragged[0], []
    for other in ragged[1:]:
        if other.ragged_rank != first.ragged_rank:
            raise ValueError("Inputs must have identical ragged splits")
        for a, b in zip(first.nested_row_splits, other.nested_row_splits, strict=True):
            if a is not b:
                checks.append(
                    assert_equal(a, math.cast(b, a.dtype), message="Inputs must have identical ragged splits")
                )
    return checks


def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=dtypes.int64):
    """Rows of numbers: from each start up to its limit."""
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]) as name:
        starts = convert_to_tensor(starts, dtype=dtype, name="starts")
        limits = convert_to_tensor(limits, dtype=dtype, name="limits")
        deltas = convert_to_tensor(deltas, dtype=dtype, name="deltas")
        if dtype is None:
            order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
            kind = max((t.dtype for t in (starts, limits, deltas)), key=order.index)
            starts, limits, deltas = (math.cast(t, kind) for t in (starts, limits, deltas))
        made = raw.RaggedRange(starts=starts, limits=limits, deltas=deltas, Tsplits=row_splits_dtype, name=name)
        return RaggedTensor.from_row_splits(made.rt_dense_values, made.rt_nested_splits, validate=False)


def boolean_mask(data, mask, name=None):
    """The values (or rows) of `data` where `mask` holds; a mask over ragged dimensions keeps their rows."""
    with name_scope(name, "RaggedMask", [data, mask]):
        data = as_ragged_or_tensor(data, "data")
        mask = as_ragged_or_tensor(mask, "mask", dtype=dtypes.bool)
        if mask.shape.rank is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if mask.shape.rank == 0:
            raise ValueError("mask cannot be scalar.")
        return _masked(data, mask)


def _masked(data, mask):
    if isinstance(mask, RaggedTensor) or mask.shape.rank > 1:
        if not isinstance(mask, RaggedTensor):
            splits_dtype = data.row_splits.dtype if isinstance(data, RaggedTensor) else dtypes.int64
            mask = RaggedTensor.from_tensor(mask, ragged_rank=mask.shape.rank - 1, row_splits_dtype=splits_dtype)
        if not isinstance(data, RaggedTensor):
            data = RaggedTensor.from_tensor(data, ragged_rank=mask.ragged_rank, row_splits_dtype=mask.row_splits.dtype)
        checks = _same_rows(
            [
                RaggedTensor(data.values, data.row_splits, internal=True).with_values(_plain(data.values)),
                mask.with_values(_plain(mask.values)),
            ]
        )
        kept = _masked(data.values, mask.values)
        counts = (
            mask.with_values(math.cast(mask.values, mask.row_splits.dtype))
            if not isinstance(mask.values, RaggedTensor)
            else None
        )
        if counts is not None:
            lengths = row_sums(counts)
        else:  # an outer dimension keeps all of its rows
            lengths = mask.row_lengths()
        result = RaggedTensor.from_row_lengths(kept, lengths, validate=False)
        return (
            result.with_values(kept)
            if not checks
            else RaggedTensor(kept, with_dependencies(checks, result.row_splits), internal=True)
        )
    if isinstance(data, RaggedTensor):
        return gather(data, array.squeeze(array.where(mask), axis=[1]))
    return array.boolean_mask(data, mask)


def _plain(values):
    """Something with as many rows as `values` and no ragged dimension."""
    return values.row_lengths() if isinstance(values, RaggedTensor) else values


def row_sums(rt):
    """The sum of each row of a ragged tensor with one ragged dimension."""
    return math.unsorted_segment_sum(rt.values, rt.value_rowids(), rt.nrows())


def gather(params, indices, name=None):
    """Rows of a ragged (or dense) tensor; ragged indices give ragged results."""
    with name_scope(name, "RaggedGather", [params, indices]):
        params, indices = as_ragged_or_tensor(params, "params"), as_ragged_or_tensor(indices, "indices")
        if isinstance(indices, RaggedTensor):
            return indices.with_values(gather(params, indices.values))
        if not isinstance(params, RaggedTensor):
            return array.gather(params, indices)
        if indices.shape.rank is None:
            raise ValueError("rank(indices) must be known statically")
        if indices.shape.rank == 0:
            return params[indices]
        made = raw.RaggedGather(
            params_nested_splits=list(params.nested_row_splits),
            params_dense_values=params.flat_values,
            indices=indices,
            OUTPUT_RAGGED_RANK=indices.shape.rank + params.ragged_rank - 1,
        )
        if indices.shape[0].value is not None:
            made.output_nested_splits[0].set_shape([indices.shape[0].value + 1])
        return RaggedTensor.from_nested_row_splits(made.output_dense_values, made.output_nested_splits, validate=False)


def concat(values, axis=0, name=None):
    """Ragged tensors joined along a dimension; along an inner one each row is joined with its companions."""
    with name_scope(name, "RaggedConcat", values):
        return _joined(values, axis, False)


def stack(values, axis=0, name=None):
    """Tensors of one rank, ragged or not, joined along a new dimension."""
    with name_scope(name, "RaggedConcat", values):
        return _joined(values, axis, True)


def _joined(values, axis, stacked):
    parts = [as_ragged_or_tensor(v) for v in values]
    rank = next((p.shape.rank for p in parts if p.shape.rank is not None), None)
    if rank is None:
        raise ValueError("The rank of at least one value must be known")
    axis = positive_axis(axis, rank + 1 if stacked else rank)
    if len(parts) == 1:
        return expand_dims(parts[0], axis) if stacked else parts[0]
    if not stacked and not any(isinstance(p, RaggedTensor) for p in parts):
        return array.concat(parts, axis)
    splits_dtype = next((p.row_splits.dtype for p in parts if isinstance(p, RaggedTensor)), dtypes.int64)
    if axis == 0:
        if stacked and rank == 1:
            counts = array.stack([array.shape(p, out_type=splits_dtype)[0] for p in parts])
            return RaggedTensor.from_row_lengths(array.concat(parts, 0), counts, validate=False)
        joined = _joined_rows([_ragged_to(p, max(_depth(parts), 1), splits_dtype) for p in parts])
        if not stacked:
            return joined
        counts = array.stack(
            [p.nrows() if isinstance(p, RaggedTensor) else array.shape(p, out_type=splits_dtype)[0] for p in parts]
        )
        return RaggedTensor.from_row_lengths(joined, math.cast(counts, splits_dtype), validate=False)
    parts = [_ragged_to(p, max(_depth(parts), 1), splits_dtype) for p in parts]
    if axis == 1:
        # Row i of part k stands at k * rows + i of all parts below each other; bring them together by i.
        rows = parts[0].nrows()
        tall = _joined_rows(parts)
        order = array.reshape(array.transpose(array.reshape(math.range(rows * len(parts)), [len(parts), -1])), [-1])
        turned = gather(tall, order)
        if stacked:
            return RaggedTensor(turned, math.range(rows + 1) * len(parts), internal=True)
        return RaggedTensor(turned.values, turned.row_splits[:: len(parts)], internal=True)
    # Rows are joined one by one, so all parts have to have rows alike.
    first = parts[0].row_splits
    others = [p.row_splits for p in parts[1:] if p.row_splits is not first]
    alike = [assert_equal(splits, first, message="Inputs must have identical ragged splits") for splits in others]
    with control_dependencies(alike):
        inner = [p.values for p in parts]
        if stacked and not any(isinstance(p, RaggedTensor) for p in inner):
            return parts[0].with_values(array.stack(inner, axis - 1))
        return parts[0].with_values(_joined(inner, axis - 1, stacked))


def _depth(parts):
    return max((p.ragged_rank for p in parts if isinstance(p, RaggedTensor)), default=0)


def _ragged_to(value, ragged_rank, splits_dtype):
    """A tensor with this many ragged dimensions, uniform ones counted in."""
    if not isinstance(value, RaggedTensor):
        return RaggedTensor.from_tensor(value, ragged_rank=ragged_rank, row_splits_dtype=splits_dtype)
    if value.ragged_rank < ragged_rank:
        return value.with_flat_values(_ragged_to(value.flat_values, ragged_rank - value.ragged_rank, splits_dtype))
    return value.with_row_splits_dtype(splits_dtype)


def _joined_rows(parts):
    values = [p.values for p in parts]
    joined = _joined_rows(values) if isinstance(values[0], RaggedTensor) else array.concat(values, 0)
    splits = [parts[0].row_splits]
    for p in parts[1:]:
        before = splits[-1][-1]
        splits.append(p.row_splits[1:] + before)
    return RaggedTensor(joined, array.concat(splits, 0), internal=True)


def expand_dims(input, axis, name=None):
    """A dimension of size 1 added."""
    with name_scope(name, "RaggedExpandDims", [input]):
        rt = as_ragged_or_tensor(input, "input")
        if not isinstance(rt, RaggedTensor):
            return array.expand_dims(rt, axis)
        axis = positive_axis(axis, None if rt.shape.rank is None else rt.shape.rank + 1)
        if axis == 0:
            return RaggedTensor(rt, array.stack([0, rt.nrows()]), internal=True)
        if axis == 1:
            return RaggedTensor(rt, math.range(rt.nrows() + 1), internal=True)
        return rt.with_values(expand_dims(rt.values, axis - 1))


def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """The slices of `data` by the number `partitions` has for each, as rows of a ragged tensor."""
    with name_scope(name, "SegmentStack", [data, partitions, num_partitions]):
        data = as_ragged_or_tensor(data, "data")
        partitions = as_ragged_or_tensor(partitions, "partitions")
        num_partitions = convert_to_tensor(num_partitions, name="num_partitions", preferred_dtype=partitions.dtype)
        if isinstance(partitions, RaggedTensor):
            if not isinstance(data, RaggedTensor):
                data = RaggedTensor.from_tensor(data, row_splits_dtype=partitions.row_splits.dtype)
            return stack_dynamic_partitions(data.values, partitions.values, num_partitions)
        if partitions.shape.rank is None:
            raise ValueError("partitions must have known rank")
        if partitions.shape.rank == 0:
            raise ValueError("partitions must have rank at least 1")
        if partitions.shape.rank > 1:
            shape = array.shape(data)
            data = array.reshape(data, array.concat([[-1], shape[partitions.shape.rank :]], 0))
            partitions = array.reshape(partitions, [-1])
        order = array.argsort(partitions, stable=True)
        ids = math.cast(array.gather(partitions, order), dtypes.int64)
        return RaggedTensor.from_value_rowids(gather(data, order), ids, math.cast(num_partitions, dtypes.int64))


# Reductions: over all values, or over rows


def reduce(kind, rt, axis=None, keepdims=None, name=None):
    """`kind` ("sum", "mean", "max", "min", "prod", "any", "all") over dimensions of a ragged tensor."""
    if keepdims:
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    with name_scope(name, f"RaggedReduce{kind.capitalize()}", [rt]):
        return _reduced(kind, rt, axis)


def _reduced(kind, rt, axis):
    if axis is None:
        return getattr(math, f"reduce_{kind}")(rt.flat_values if isinstance(rt, RaggedTensor) else rt)
    if not isinstance(rt, RaggedTensor):
        return getattr(math, f"reduce_{kind}")(rt, axis=axis)
    if isinstance(axis, (list, tuple)):
        for a in sorted((positive_axis(a, rt.shape.rank) for a in axis), reverse=True):
            rt = _reduced(kind, rt, a)
        return rt
    if kind in ("any", "all"):
        whole = _reduced(
            "max" if kind == "any" else "min", rt.with_flat_values(math.cast(rt.flat_values, dtypes.int32)), axis
        )
        return map_flat_values(math.greater, whole, 0)
    if kind == "mean":
        total = _reduced("sum", rt, axis)
        count = _reduced("sum", rt.with_flat_values(array.ones_like(rt.flat_values)), axis)
        return map_flat_values(math.divide, total, count)
    axis = positive_axis(axis, rt.shape.rank)
    if axis == 0:
        width = math.maximum(math.reduce_max(rt.row_lengths()), 0)
        within = math.range(
            array.shape(
                rt.values if not isinstance(rt.values, RaggedTensor) else rt.values.row_splits,
                out_type=rt.row_splits.dtype,
            )[0]
        )
        if isinstance(rt.values, RaggedTensor):
            within = within[:-1]
        places = within - array.gather(rt.row_starts(), rt.value_rowids())
        return _by_segment(kind, rt.values, places, width)
    if axis == 1:
        return _by_segment(kind, rt.values, rt.value_rowids(), rt.nrows())
    return rt.with_values(_reduced(kind, rt.values, axis - 1))


def _by_segment(kind, values, ids, count):
    if isinstance(values, RaggedTensor):
        # Rows of one segment are laid over each other: a value goes to its place in its row, of that segment's widest
        # row.
        widths = math.maximum(math.unsorted_segment_max(values.row_lengths(), ids, count), 0)
        splits = array.concat([array.zeros([1], widths.dtype), math.cumsum(widths)], axis=0)
        inside = math.range(array.shape(values.value_rowids(), out_type=widths.dtype)[0]) - array.gather(
            values.row_starts(), values.value_rowids()
        )
        places = array.gather(array.gather(splits, ids), values.value_rowids()) + inside
        return RaggedTensor(_by_segment(kind, values.values, places, splits[-1]), splits, internal=True)
    return getattr(math, f"unsorted_segment_{kind}")(values, ids, count)
