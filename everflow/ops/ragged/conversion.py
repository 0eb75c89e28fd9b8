"""Between ragged and dense or sparse tensors, and the ops that do it: shape rules and gradients."""

from __future__ import annotations

from everflow.framework import dtypes, static_values
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor, SparseTensorValue
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import gradient, not_differentiable, shape_rule
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import known_shape
from everflow.ops import array, math
from everflow.ops.array.sequences import int_tensor
from everflow.ops.control_flow.conditionals import Assert, cond
from everflow.ops.ragged import known_rows
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.ragged.value import ragged_value


def ragged_from_tensor(tensor, lengths, padding, ragged_rank, name, row_splits_dtype):
    """See `RaggedTensor.from_tensor`."""
    row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify lengths or padding, but not both")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
    if ragged_rank <= 0:
        raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
    with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
        tensor = convert_to_tensor(tensor, name="tensor")
        tensor.shape.with_rank_at_least(ragged_rank + 1)
        shape = array.shape(tensor, out_type=row_splits_dtype)
        columns = shape[1]
        if isinstance(lengths, (list, tuple)) and lengths and not isinstance(lengths[0], (int, float)):
            if ragged_rank not in (1, len(lengths)):
                raise ValueError(f"ragged_rank={ragged_rank} doesn't go with lengths for {len(lengths)} dimensions")
            tensor.shape.with_rank_at_least(len(lengths) + 1)
            return _from_nested_lengths(tensor, lengths, columns)
        if ragged_rank > 1:
            return _several_dimensions(tensor, lengths, padding, ragged_rank, shape)
        if lengths is None and padding is not None:
            lengths = _lengths_without(tensor, padding, columns)
        if lengths is not None:
            return _of_lengths(tensor, lengths, columns)
        rows = shape[0]
        count = rows * columns
        splits = math.range(rows + 1) * columns
        values = array.reshape(tensor, array.concat([[count], shape[2:]], axis=0))
        values.set_shape(_flattened_static(tensor.shape))
        _known_rows(splits, tensor.shape)
        return RaggedTensor(values, splits, internal=True)


def _known_rows(splits, shape):
    rows = shape.size(0) if shape.rank is not None else None
    splits.set_shape([None if rows is None else rows + 1])


def _several_dimensions(tensor, lengths, padding, ragged_rank, shape):
    """The outer dimensions become one, whose rows are then uniform."""
    flat = array.reshape(tensor, array.concat([array.constant([-1], shape.dtype), shape[ragged_rank:]], 0))
    flat.set_shape(_flattened_static(tensor.shape, ragged_rank))
    result = ragged_from_tensor(flat, lengths, padding, 1, None, shape.dtype)
    slices = math.cumprod(shape)
    for axis in range(ragged_rank - 1, 0, -1):
        splits = math.range(slices[axis - 1] + 1) * shape[axis]
        if axis == 1:
            _known_rows(splits, tensor.shape)
        result = RaggedTensor(result, splits, internal=True)
    return result


def _of_lengths(tensor, lengths, columns):
    """Rows of a matrix up to a length for each, which is not more than it has columns."""
    lengths = int_tensor(lengths, "lengths", columns.dtype.base_dtype)
    lengths.shape.assert_has_rank(1)
    lengths = math.maximum(math.minimum(lengths, columns), 0)
    ends = math.cumsum(lengths)
    splits = array.concat([array.zeros([1], lengths.dtype), ends], axis=0)
    return RaggedTensor(array.boolean_mask(tensor, array.sequence_mask(lengths, columns)), splits, internal=True)


def _flattened_static(shape, dimensions=2):
    return TensorShape([shape[:dimensions].num_elements()]).concatenate(shape[dimensions:])


def _from_nested_lengths(tensor, lengths, columns):
    """Lengths for several dimensions, outermost first: what a ragged tensor of them would cover is kept."""

    def rows_of(values):
        return RaggedTensor.from_nested_row_lengths(values, lengths, validate=False)

    covered = rows_of(array.ones([math.reduce_sum(lengths[-1])], dtypes.bool)).to_tensor(default_value=False)
    return rows_of(array.boolean_mask(tensor, covered))


def _lengths_without(tensor, padding, columns):
    """How long each row is up to its last element that is not padding."""
    padding = convert_to_tensor(padding, name="padding", dtype=tensor.dtype)
    padding.shape.assert_is_compatible_with(tensor.shape[2:])
    padded = math.equal(padding, tensor)
    rank = array.rank(tensor)
    inner = math.range(2, rank)
    padded = cond(math.greater(rank, 2), lambda: math.reduce_all(padded, axis=inner), lambda: padded)
    kept = math.cast(math.logical_not(padded), columns.dtype)
    positions = array.expand_dims(math.range(1, columns + 1), 0)
    lengths = math.reduce_max(kept * positions, axis=1)
    lengths.set_shape([None] if tensor.shape.rank is None else tensor.shape[:1])
    return lengths


def ragged_from_sparse(st_input, name, row_splits_dtype):
    """See `RaggedTensor.from_sparse`."""
    if isinstance(st_input, SparseTensorValue):
        st_input = SparseTensor(*st_input)
    if not isinstance(st_input, SparseTensor):
        raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
    with name_scope(name, "RaggedFromSparse", [st_input.indices, st_input.values, st_input.dense_shape]):
        rank = st_input.shape.rank
        if rank is None and st_input.indices.shape.rank is not None:
            rank = st_input.indices.shape.size(1)
        if rank != 2:
            raise ValueError(f"rank(st_input) must be 2, got {rank}")
        with control_dependencies([_without_gaps(st_input)]):
            rows = math.cast(st_input.indices[:, 0], row_splits_dtype)
            nrows = math.cast(st_input.dense_shape[0], row_splits_dtype)
            return RaggedTensor.from_value_rowids(st_input.values, rows, nrows, validate=False)


def _without_gaps(sparse):
    """A check that the columns of each row go from 0 upwards."""
    rows, columns = sparse.indices[:, :-1], sparse.indices[:, -1]
    new_row = math.reduce_any(math.not_equal(rows[1:], rows[:-1]), axis=1)
    begins = math.equal(columns[1:], 0)
    goes_on = math.equal(columns[1:], columns[:-1] + 1)
    right = array.where(new_row, begins, goes_on)
    first = math.reduce_all(math.equal(columns[:1], 0))
    return Assert(
        math.logical_and(first, math.reduce_all(right)),
        ["SparseTensor is not right-ragged", "indices =", sparse.indices],
    )


def ragged_to_tensor(rt, default_value, name):
    """See `RaggedTensor.to_tensor`. The place of each value in the rows is drawn as TensorFlow 1.15 draws it: what a row
    lacks is taken from behind the values, where the default stands.
    """
    with name_scope(name, "RaggedToTensor", [rt, default_value]):
        if default_value is not None:
            default_value = convert_to_tensor(default_value, name="default_value", dtype=rt.dtype)
        values, splits = rt.values, rt.row_splits
        if isinstance(values, RaggedTensor):
            values = ragged_to_tensor(values, default_value, None)
        if default_value is not None:
            default_value = _for_values(default_value, values)
        lengths = splits[1:] - splits[:-1]
        count = array.shape(splits, out_type=splits.dtype)[0] - 1
        width = math.maximum(math.reduce_max([lengths]), 0)
        shape = array.shape(values, out_type=splits.dtype)
        value_shape, behind = shape[1:], shape[0]
        if default_value is None:
            default_value = array.zeros(value_shape, rt.dtype)
        starts, limits = array.expand_dims(splits[:-1], 1), array.expand_dims(splits[1:], 1)
        columns = array.expand_dims(math.range(0, width), 0)
        values = array.concat([values, array.stack([default_value])], axis=0)
        places = starts + columns
        inside = math.less(places, limits)
        return array.gather(values, array.where(inside, places, array.fill(array.stack([count, width]), behind)))


def _for_values(default_value, values):
    """The default in the shape of a value."""
    shape = default_value.shape
    if shape.rank is not None and values.shape.rank is not None and shape.rank >= values.shape.rank:
        raise ValueError(f"default_value must have the shape of a value or less, not {shape}")
    if shape.rank is not None and values.shape.rank is not None and shape.rank == values.shape.rank - 1:
        shape.assert_is_compatible_with(values.shape[1:])
        return default_value
    return array.broadcast_to(default_value, array.shape(values)[1:])


_PARTITIONS = (b"VALUE_ROWIDS", b"ROW_SPLITS")


@shape_rule("RaggedTensorToTensor")
def _to_tensor_shape(op):
    """What the shape asks for, and what values and partitions leave."""
    rank = op.inputs[1].shape.rank
    if rank is None:
        return None
    partitions = [kind for kind in op.attrs["row_partition_types"] if kind != b"FIRST_DIM_SIZE"]
    if strange := [kind for kind in partitions if kind not in _PARTITIONS]:
        raise ValueError(f"row_partition_types has {strange}, and knows {_PARTITIONS} and FIRST_DIM_SIZE")
    found = TensorShape([None] * (len(partitions) + 1)).concatenate(op.inputs[1].shape[1:])
    wanted = known_shape(op.inputs[0]) if op.inputs[0].shape.rank == 1 else TensorShape(None)
    return found.merge_with(wanted)


def eager_value(rt):
    """The RaggedTensorValue of a ragged tensor of eager tensors."""
    parts = (*rt.nested_row_splits, rt.flat_values)
    if not all(hasattr(t, "numpy") for t in parts):
        raise ValueError(
            "In a graph a RaggedTensor has no values to list: evaluate it, and call to_list() on what that gives"
        )
    return ragged_value([t.numpy() for t in parts])


# The ops


@shape_rule("RaggedTensorToSparse")
def _to_sparse_shape(op):
    values = op.inputs[-1].shape.with_rank_at_least(1)
    for splits in op.inputs[:-1]:
        splits.shape.assert_has_rank(1)
    rank = None if values.rank is None else op.attrs["RAGGED_RANK"] + values.rank
    count = values.num_elements()
    return [TensorShape([count, rank]), TensorShape([count]), TensorShape([rank])]


static_values.SPLITTERS.update(known_rows.EVALUATORS)


@shape_rule("RaggedRange")
def _range_shape(op):
    rows = None
    for t in op.inputs:
        if t.shape.rank not in (None, 0, 1):
            raise ValueError(f"Shape must be at most rank 1 but is rank {t.shape.rank}")
        if t.shape.rank == 1 and t.shape.size(0) is not None:
            if rows not in (None, t.shape.size(0)):
                raise ValueError(f"Dimensions must be equal, but are {t.shape.size(0)} and {rows}")
            rows = t.shape.size(0)
    if rows is None and all(t.shape.rank == 0 for t in op.inputs):
        rows = 1
    return [TensorShape([None if rows is None else rows + 1]), TensorShape([None])]


@shape_rule("RaggedGather")
def _gather_shape(op):
    splits, indices = op.attrs["OUTPUT_RAGGED_RANK"], op.inputs[-1].shape
    indices.with_rank(splits - op.attrs["PARAMS_RAGGED_RANK"] + 1)
    values = op.inputs[op.attrs["PARAMS_RAGGED_RANK"]].shape
    inner = TensorShape([None]).concatenate(values[1:]) if values.rank is not None else TensorShape(None)
    return [TensorShape([None])] * splits + [inner]


@shape_rule("RaggedTensorToVariant")
def _to_variant_shape(op):
    if not op.attrs["batched_input"]:
        return TensorShape([])
    rows = op.inputs[0].shape.with_rank(1).size(0)
    return TensorShape([None if rows is None else rows - 1])


not_differentiable("RaggedRange", "RaggedTensorToVariant")


@gradient("RaggedTensorToSparse")
def _to_sparse_grad(op, _, values_grad, *rest):
    flat_shape = array.shape(op.inputs[-1])
    return [None] * (len(op.inputs) - 1) + [array.reshape(values_grad, flat_shape)]


@gradient("RaggedTensorToTensor")
def _to_tensor_grad(op, grad):
    """Each value's gradient from where it went; what was filled in belongs to the default value."""
    shape, values, default, *partitions = op.inputs
    count = array.shape(values)[0]
    outer = shape if shape.shape.rank == 0 else shape[: op.outputs[0].shape.rank - values.shape.rank + 1]
    went = raw.RaggedTensorToTensor(
        shape=outer,
        values=math.range(count),
        default_value=-1,
        row_partition_tensors=partitions,
        row_partition_types=op.attrs["row_partition_types"],
    )
    went = array.reshape(went, [-1])
    flat = array.reshape(grad, array.concat([[-1], array.shape(values)[1:]], 0))
    filled = array.boolean_mask(flat, math.less(went, 0))
    default_grad = math.reduce_sum(filled) if default.shape.rank == 0 else math.reduce_sum(filled, axis=0)
    return [None, math.unsorted_segment_sum(flat, went, count), default_grad] + [None] * len(partitions)
