"""Functions on ragged tensors: mapping over values, masks, ranges, joins, gathers."""

from __future__ import annotations

import builtins

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import gradient
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.array.sequences import positive_axis
from everflow.ops.checks.values import assert_equal, assert_less
from everflow.ops.ragged.segments import joined_splits, lengths_to_splits, row_splits_to_segment_ids
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
        if isinstance(value, dict):
            return {key: flat(each) for key, each in value.items()}
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
    """Assertions that ragged tensors have the same row splits."""
    first, checks = ragged[0], []
    for other in ragged[1:]:
        if other.ragged_rank != first.ragged_rank:
            raise ValueError(_IDENTICAL)
        if other.row_splits.dtype != first.row_splits.dtype:
            raise ValueError(f"{_IDENTICAL}, of one dtype: with_row_splits_dtype() brings them to it")
        for a, b in zip(first.nested_row_splits, other.nested_row_splits, strict=True):
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
        if isinstance(mask, RaggedTensor):
            return _masked_by_rows(data, mask)
        if not isinstance(data, RaggedTensor):
            return _masked_dense(data, mask)
        if mask.shape.rank > 1:
            rows = data.row_splits.dtype
            mask = RaggedTensor.from_tensor(mask, ragged_rank=mask.shape.rank - 1, row_splits_dtype=rows)
            return boolean_mask(data, mask)
        lengths = array.boolean_mask(data.row_lengths(), mask)
        splits = lengths_to_splits(lengths)
        of_values = array.gather(mask, row_splits_to_segment_ids(data.row_splits))
        return RaggedTensor(boolean_mask(data.values, of_values), splits, internal=True)


def _masked_by_rows(data, mask):
    """What a ragged mask keeps of each of its innermost rows; all rows around them stay."""
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, ragged_rank=mask.ragged_rank, row_splits_dtype=mask.row_splits.dtype)
    elif data.row_splits.dtype != mask.row_splits.dtype:
        raise ValueError("data and mask must have row_splits of one dtype: see RaggedTensor.with_row_splits_dtype")
    if mask.ragged_rank > data.ragged_rank:
        raise ValueError(f"{_IDENTICAL}: the mask has {mask.ragged_rank} ragged dimensions, data {data.ragged_rank}")
    pairs = zip(mask.nested_row_splits, data.nested_row_splits)
    with control_dependencies([assert_equal(of_mask, of_data, message=_IDENTICAL) for of_mask, of_data in pairs]):
        outer = list(mask.nested_row_splits[:-1])
        for _ in outer:
            data, mask = data.values, mask.values
        if mask.values.shape.rank == 1:
            kept = math.reduce_sum(mask.with_values(math.cast(mask.values, mask.row_splits.dtype)), axis=1)
            outer.append(lengths_to_splits(kept))
        else:
            outer.append(mask.row_splits)
        result = boolean_mask(data.values, mask.values)
        for splits in reversed(outer):
            result = RaggedTensor(result, splits, internal=True)
        return result


def _masked_dense(data, mask):
    """What a mask keeps of a tensor: a vector, or rows of the lengths that are left of the mask's innermost ones."""
    kept = array.boolean_mask(data, mask)
    rank = mask.shape.rank
    if rank == 1:
        return kept
    lengths = array.reshape(math.count_nonzero(mask, axis=-1), [-1])
    result = RaggedTensor.from_row_lengths(kept, lengths, validate=False)
    if rank == 2:
        return result
    shape = array.shape(mask, out_type=dtypes.int64)
    ends = math.cumprod(shape) + 1
    for axis in builtins.range(rank - 2, 0, -1):
        width, end = shape[axis], ends[axis - 1]
        result = RaggedTensor(result, math.range(end) * width, internal=True)
    return result


def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """Rows of a ragged (or dense) tensor; ragged indices give ragged results."""
    if (batch_dims if axis is None else axis) != 0 or batch_dims != 0:
        raise ValueError("Ragged tensors are gathered from along their first dimension only")
    with name_scope(name, "RaggedGather", [params, indices]):
        params, indices = as_ragged_or_tensor(params, "params"), as_ragged_or_tensor(indices, "indices")
        if isinstance(indices, RaggedTensor):
            if isinstance(params, RaggedTensor) and params.row_splits.dtype != indices.row_splits.dtype:
                raise ValueError(
                    "params and indices must have row_splits of one dtype: see RaggedTensor.with_row_splits_dtype"
                )
            return indices.with_values(gather(params, indices.values))
        if not isinstance(params, RaggedTensor):
            return array.gather(params, indices)
        if indices.shape.rank is None:
            raise ValueError("rank(indices) must be known statically")
        made = raw.RaggedGather(
            params_nested_splits=list(params.nested_row_splits),
            params_dense_values=params.flat_values,
            indices=indices,
            OUTPUT_RAGGED_RANK=indices.shape.rank + params.ragged_rank - 1,
        )
        return RaggedTensor.from_nested_row_splits(made.output_dense_values, made.output_nested_splits, validate=False)


@gradient("RaggedGather")
def _gather_grad(op, *grads):
    """The gathered rows' gradients, as slices of where they came from."""
    splits, values, indices = op.inputs[0], op.inputs[-2], op.inputs[-1]
    if op.attrs["PARAMS_RAGGED_RANK"] != 1 or op.attrs["OUTPUT_RAGGED_RANK"] != 1:
        raise ValueError("The gradient of RaggedGather is there for one ragged dimension and a vector of indices")
    indices = array.reshape(indices, [-1])
    starts, limits = array.gather(splits, indices), array.gather(splits[1:], indices)
    places = range(starts, limits, row_splits_dtype=splits.dtype).values
    return [None, IndexedSlices(grads[-1], places, array.shape(values)), None]


def concat(values, axis=0, name=None):
    """Ragged tensors joined along a dimension; along an inner one each row is joined with its companions."""
    values = values if isinstance(values, (list, tuple)) else [values]
    with name_scope(name, "RaggedConcat", values):
        return _joined(values, axis, False)


def stack(values, axis=0, name=None):
    """Tensors of one rank, ragged or not, joined along a new dimension.

    Args:
        values: The tensors.
        axis: Where the new axis is put.
        name: The name of the operation in the graph.

    Returns:
        A RaggedTensor; a Tensor where vectors or scalars are stacked.

    Example:
        >>> sess.run(tf.ragged.stack([tf.constant([[1, 2]]), tf.constant([[3]])])).to_list()
        [[[1, 2]], [[3]]]
    """
    values = values if isinstance(values, (list, tuple)) else [values]
    with name_scope(name, "RaggedConcat", values):
        return _joined(values, axis, True)


def _joined(values, axis, stacked):
    parts = [as_ragged_or_tensor(v, "rt_input") for v in values]
    if not parts:
        raise ValueError("There is nothing to join: the list of tensors is empty")
    rank = next((p.shape.rank for p in parts if p.shape.rank is not None), None)
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if len(parts) == 1 and not stacked:
        return parts[0]
    axis = positive_axis(axis, rank + 1 if stacked and rank is not None else rank)
    if len(parts) == 1:
        return expand_dims(parts[0], axis)
    # A dense result is there for vectors and scalars alone, and for what has nothing ragged to be joined.
    if not any(isinstance(p, RaggedTensor) for p in parts) and (axis > 0 or rank in ((0, 1) if stacked else (1,))):
        return array.stack(parts, axis) if stacked else array.concat(parts, axis)
    found = {p.row_splits.dtype for p in parts if isinstance(p, RaggedTensor)}
    if len(found) > 1:
        raise ValueError("What is joined must have row_splits of one dtype: see RaggedTensor.with_row_splits_dtype")
    splits_dtype = found.pop() if found else dtypes.int64
    parts = [_ragged_to(p, max(_depth(parts), 1), splits_dtype) for p in parts]
    if axis == 0:
        return _below_each_other(parts, stacked)
    if axis == 1:
        return _side_by_side(parts, stacked)
    # Rows are joined one by one, so all parts have to have rows alike.
    first = parts[0].row_splits
    alike = [assert_equal(first, p.row_splits, message=_IDENTICAL) for p in parts[1:]]
    with control_dependencies(alike):
        inner = [p.values for p in parts]
        if stacked and not any(isinstance(p, RaggedTensor) for p in inner):
            return parts[0].with_values(array.stack(inner, axis - 1))
        return parts[0].with_values(_joined(inner, axis - 1, stacked))


def _below_each_other(parts, stacked):
    """Ragged tensors joined along their first dimension, or each as one row."""
    result = array.concat([p.flat_values for p in parts], axis=0)
    joined = [joined_splits(level) for level in zip(*(p.nested_row_splits for p in parts))]
    for splits in reversed(joined):
        result = RaggedTensor(result, splits, internal=True)
    if not stacked:
        return result
    return RaggedTensor(result, lengths_to_splits(array.stack([p.nrows() for p in parts])), internal=True)


def _side_by_side(parts, stacked):
    """Row i of part k stands at k * rows + i of all parts below each other; they are brought together by i."""
    count = len(parts)
    rows = parts[0].nrows()
    words = "Ragged tensors that are joined side by side must have as many rows"
    with control_dependencies([assert_equal(p.nrows(), rows, message=words) for p in parts[1:]]):
        tall = _below_each_other(parts, False)
        order = array.reshape(array.transpose(array.reshape(math.range(rows * count), [count, -1])), [-1])
        turned = gather(tall, order)
        if stacked:
            return RaggedTensor(turned, math.range(0, rows * count + 1, count), internal=True)
        splits = turned.row_splits[::count]
        for p in parts:
            splits.set_shape(p.row_splits.shape)
        return RaggedTensor(turned.values, splits, internal=True)


def _depth(parts):
    return max((p.ragged_rank for p in parts if isinstance(p, RaggedTensor)), default=0)


def _ragged_to(value, ragged_rank, splits_dtype):
    """A tensor with this many ragged dimensions, uniform ones counted in."""
    if not isinstance(value, RaggedTensor):
        return RaggedTensor.from_tensor(value, ragged_rank=ragged_rank, row_splits_dtype=splits_dtype)
    if value.ragged_rank < ragged_rank:
        return value.with_flat_values(_ragged_to(value.flat_values, ragged_rank - value.ragged_rank, splits_dtype))
    return value.with_row_splits_dtype(splits_dtype)


def expand_dims(input, axis=None, name=None, dim=None):
    """A dimension of size 1 added."""
    axis = dim if axis is None else axis
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
        kind = data.row_splits.dtype if isinstance(data, RaggedTensor) else None
        partitions = as_ragged_or_tensor(partitions, "partitions", preferred_dtype=kind)
        num_partitions = convert_to_tensor(num_partitions, name="num_partitions", preferred_dtype=partitions.dtype)
        if kind is not None:
            partitions = math.cast(partitions, kind)
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
    kind = next((x.row_splits.dtype for x in (data, partitions) if isinstance(x, RaggedTensor)), partitions.dtype)
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
