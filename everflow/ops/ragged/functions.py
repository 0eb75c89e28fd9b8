"""Functions on ragged tensors: mapping over values, masks, ranges, joins, gathers."""

from __future__ import annotations

import builtins

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.array.sequences import positive_axis
from everflow.ops.checks.values import assert_equal, assert_less
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from everflow.ops.ragged.value import RaggedTensorValue

_IDENTICAL = "Inputs must have identical ragged splits"


def map_flat_values(op, *args, **kwargs):
    """A function applied to the flat values of its ragged arguments, whose rows must be the same.

    Args:
        op: The function.
        *args: Its arguments.
        **kwargs: Its arguments by name.

    Returns:
        A RaggedTensor with the same rows; what the function returns where no argument is ragged.

    Raises:
        ValueError: If rows differ.

    Example:
        >>> sess.run(tf.ragged.map_flat_values(tf.square, tf.ragged.constant([[1, 2], [3]]))).to_list()
        [[1, 4], [9]]
    """
    ragged = []

    def flat(value):
        if isinstance(value, (RaggedTensor, RaggedTensorValue)):
            ragged.append(as_ragged_or_tensor(value))
            return ragged[-1].flat_values
        if isinstance(value, (list, tuple)):
            return type(value)(map(flat, value))
        return value

    args = [flat(a) for a in args]
    kwargs = {k: flat(v) for k, v in kwargs.items()}
    if not ragged:
        return op(*args, **kwargs)
    with control_dependencies(_same_rows(ragged)):
        result = op(*args, **kwargs)
    splits = ragged[0].nested_row_splits
    return RaggedTensor.from_nested_row_splits(result, splits, validate=False)


def _same_rows(ragged):
    """Assertions that ragged tensors have the same row splits, left out where they are the same tensors."""
    first, checks = ragged[0], []
    for other in ragged[1:]:
        if other.ragged_rank != first.ragged_rank:
            raise ValueError(_IDENTICAL)
        if other.row_splits.dtype != first.row_splits.dtype:
            raise ValueError(f"{_IDENTICAL}, of one dtype: with_row_splits_dtype() brings them to it")
        for a, b in zip(first.nested_row_splits, other.nested_row_splits, strict=True):
            if a is not b:
                checks.append(assert_equal(a, b, message=_IDENTICAL))
    return checks


def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=dtypes.int64):
    """Rows of numbers: from each start up to its limit.

    Args:
        starts: The first numbers; the limits, where those are not given.
        limits: Where each row ends.
        deltas: From a number to the next.
        dtype: The type of the elements.
        name: The name of the operation in the graph.
        row_splits_dtype: The type of the row splits.

    Returns:
        A RaggedTensor.

    Example:
        >>> sess.run(tf.ragged.range([2, 0, 3])).to_list()
        [[0, 1], [], [0, 1, 2]]
    """
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
    """The values (or rows) of `data` where `mask` holds; a mask over ragged dimensions keeps their rows.

    Args:
        data: The tensor, ragged or not.
        mask: The bools, ragged or not.
        name: The name of the operation in the graph.

    Returns:
        A tensor, ragged or not.

    Raises:
        ValueError: If shapes don't fit.

    Example:
        >>> data, mask = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[True, False], [True]])
        >>> sess.run(tf.ragged.boolean_mask(data, mask)).to_list()
        [[1], [3]]
    """
    with name_scope(name, "RaggedMask", [data, mask]):
        data = as_ragged_or_tensor(data, "data")
        mask = as_ragged_or_tensor(mask, "mask", dtype=dtypes.bool)
        if mask.shape.rank is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if mask.shape.rank == 0:
            raise ValueError("mask cannot be scalar.")
        return _masked(data, mask)


def _masked(data, mask):
    """A mask of more than one dimension goes row by row: what it keeps of all rows, and how much of each."""
    if isinstance(data, RaggedTensor) and isinstance(mask, RaggedTensor):
        if data.row_splits.dtype != mask.row_splits.dtype:
            raise ValueError("data and mask must have row_splits of one dtype: see RaggedTensor.with_row_splits_dtype")
    if not isinstance(mask, RaggedTensor) and mask.shape.rank == 1:
        if isinstance(data, RaggedTensor):
            return gather(data, array.squeeze(array.where(mask), axis=[1]))
        return array.boolean_mask(data, mask)
    kind = next((x.row_splits.dtype for x in (data, mask) if isinstance(x, RaggedTensor)), dtypes.int64)
    if not isinstance(mask, RaggedTensor):
        mask = RaggedTensor.from_tensor(mask, ragged_rank=mask.shape.rank - 1, row_splits_dtype=kind)
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, ragged_rank=mask.ragged_rank, row_splits_dtype=kind)
    rows = mask.row_splits
    checks = [] if data.row_splits is rows else [assert_equal(data.row_splits, rows, message=_IDENTICAL)]
    with control_dependencies(checks):
        kept = _masked(data.values, mask.values)
        # All rows of an outer dimension are kept.
        alone = not isinstance(mask.values, RaggedTensor) and mask.values.shape.rank == 1
        lengths = row_sums(mask.with_values(math.cast(mask.values, rows.dtype))) if alone else mask.row_lengths()
        return RaggedTensor.from_row_lengths(kept, lengths, validate=False)


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
        return RaggedTensor.from_nested_row_splits(made.output_dense_values, made.output_nested_splits, validate=False)


def concat(values, axis=0, name=None):
    """Ragged tensors joined along a dimension; along an inner one each row is joined with its companions."""
    with name_scope(name, "RaggedConcat", values):
        return _joined(values, axis, False)


def stack(values, axis=0, name=None):
    """Tensors of one rank, ragged or not, joined along a new dimension.

    Args:
        values: The tensors.
        axis: Where the new axis is put.
        name: The name of the operation in the graph.

    Returns:
        A RaggedTensor.

    Example:
        >>> sess.run(tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])])).to_list()
        [[1, 2], [3]]
    """
    with name_scope(name, "RaggedConcat", values):
        return _joined(values, axis, True)


def _joined(values, axis, stacked):
    parts = [as_ragged_or_tensor(v) for v in values]
    rank = next((p.shape.rank for p in parts if p.shape.rank is not None), None)
    if rank is None:
        raise ValueError("The rank of at least one value must be known")
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if len(parts) == 1 and not stacked:
        return parts[0]
    axis = positive_axis(axis, rank + 1 if stacked else rank)
    if len(parts) == 1:
        return expand_dims(parts[0], axis)
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
    alike = [assert_equal(splits, first, message=_IDENTICAL) for splits in others]
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
    """The slices of `data` by the number `partitions` has for each, as rows of a ragged tensor.

    Args:
        data: The tensor to take apart.
        partitions: For each slice of `data` the number of its row.
        num_partitions: How many rows there are.
        name: The name of the operation in the graph.

    Returns:
        A RaggedTensor.

    Raises:
        ValueError: If shapes don't fit.

    Example:
        >>> sess.run(tf.ragged.stack_dynamic_partitions([10, 20, 30], [1, 0, 1], 2)).to_list()
        [[20], [10, 30]]
    """
    with name_scope(name, "SegmentStack", [data, partitions, num_partitions]):
        data = as_ragged_or_tensor(data, "data")
        partitions = as_ragged_or_tensor(partitions, "partitions")
        num_partitions = convert_to_tensor(num_partitions, name="num_partitions", preferred_dtype=partitions.dtype)
        if isinstance(data, RaggedTensor):
            partitions = map_flat_values(math.cast, partitions, dtype=data.row_splits.dtype)
        num_partitions = math.cast(num_partitions, partitions.dtype)
        if partitions.shape.rank is None:
            raise ValueError("partitions must have known rank")
        num_partitions.shape.assert_has_rank(0)
        partitions.shape.assert_is_compatible_with(data.shape[: partitions.shape.rank])
        return _stacked_partitions(data, partitions, num_partitions)


def _stacked_partitions(data, partitions, num_partitions):
    rank = partitions.shape.rank
    if rank == 0:
        alone = stack([data]) if isinstance(data, RaggedTensor) else array.stack([data])
        rows = array.stack([partitions])
        return RaggedTensor.from_value_rowids(alone, rows, nrows=num_partitions, validate=False)
    if rank == 1:
        order = array.argsort(partitions, stable=True)
        ids, values = array.gather(partitions, order), array.gather(data, order)
        words = "partitions must be less than num_partitions"
        with control_dependencies([assert_less(ids[-1:], num_partitions, message=words)]):
            return RaggedTensor.from_value_rowids(values, ids, nrows=num_partitions, validate=False)
    kind = next((x.row_splits.dtype for x in (data, partitions) if isinstance(x, RaggedTensor)), dtypes.int64)
    depth = max(partitions.ragged_rank if isinstance(partitions, RaggedTensor) else rank - 1, 1)
    data, partitions = (
        x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x, ragged_rank=depth, row_splits_dtype=kind)
        for x in (data, partitions)
    )
    alike = assert_equal(data.row_splits, partitions.row_splits, message="data and partitions have other rows")
    with control_dependencies([alike]):
        return stack_dynamic_partitions(data.values, partitions.values, num_partitions)


def dynamic_partition(data, partitions, num_partitions, name=None):
    """The rows (or values) of each partition, as a list."""
    stacked = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [stacked[i] for i in builtins.range(num_partitions)]
