"""Between ragged and dense or sparse tensors, and the ops that do it: shape rules and gradients."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor, SparseTensorValue
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import gradient, not_differentiable, shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import known_shape, known_value
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import with_dependencies
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
        if isinstance(lengths, (list, tuple)) and lengths and not isinstance(lengths[0], (int, float)):
            return _from_nested_lengths(tensor, lengths, row_splits_dtype)
        columns = shape[1]
        if ragged_rank > 1:
            # The outer dimensions become one, whose rows are then uniform.
            flat = array.reshape(tensor, array.concat([array.constant([-1], row_splits_dtype), shape[ragged_rank:]], 0))
            flat.set_shape(_flattened_static(tensor.shape, ragged_rank))
            result = ragged_from_tensor(flat, lengths, padding, 1, None, row_splits_dtype)
            slices = math.cumprod(shape)
            for axis in range(ragged_rank - 1, 0, -1):
                splits = math.range(slices[axis - 1] + 1) * shape[axis]
                result = RaggedTensor(result, splits, internal=True)
            return result
        if lengths is None and padding is not None:
            lengths = _lengths_without(
                tensor, convert_to_tensor(padding, name="padding", dtype=tensor.dtype), row_splits_dtype
            )
        if lengths is not None:
            lengths = math.cast(
                convert_to_tensor(lengths, name="lengths", preferred_dtype=row_splits_dtype), row_splits_dtype
            )
            lengths.shape.assert_has_rank(1)
            lengths = math.minimum(math.maximum(lengths, 0), columns)
            splits = array.concat([array.zeros([1], row_splits_dtype), math.cumsum(lengths)], axis=0)
            return RaggedTensor(
                array.boolean_mask(tensor, array.sequence_mask(lengths, columns)), splits, internal=True
            )
        rows = shape[0]
        count = rows * columns
        splits = math.range(rows + 1) * columns
        values = array.reshape(tensor, array.concat([[count], shape[2:]], axis=0))
        values.set_shape(_flattened_static(tensor.shape))
        rows = tensor.shape.size(0)
        splits.set_shape([None if rows is None else rows + 1])
        return RaggedTensor(values, splits, internal=True)


def _flattened_static(shape, dimensions=2):
    return TensorShape([shape[:dimensions].num_elements()]).concatenate(shape[dimensions:])


def _from_nested_lengths(tensor, lengths, row_splits_dtype):
    """Lengths for several dimensions, outermost first."""
    if len(lengths) == 1:
        return ragged_from_tensor(tensor, lengths[0], None, 1, None, row_splits_dtype)
    outer = ragged_from_tensor(tensor, lengths[0], None, 1, None, row_splits_dtype)
    return outer.with_values(_from_nested_lengths(outer.values, lengths[1:], row_splits_dtype))


def _lengths_without(tensor, padding, dtype):
    """How long each row is up to its last element that is not padding."""
    kept = math.not_equal(tensor, padding)
    kept_rank = kept.shape.rank
    if kept_rank is not None and kept_rank > 2:
        kept = math.reduce_any(kept, axis=list(range(2, kept_rank)))
    positions = math.range(1, array.shape(tensor, out_type=dtype)[1] + 1)
    return math.reduce_max(math.cast(kept, dtype) * positions, axis=1)


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
        rows = math.cast(st_input.indices[:, 0], row_splits_dtype)
        columns = math.cast(st_input.indices[:, 1], row_splits_dtype)
        nrows = math.cast(st_input.dense_shape[0], row_splits_dtype)
        result = RaggedTensor.from_value_rowids(st_input.values, rows, nrows, validate=False)
        expected = math.range(array.size(columns, out_type=row_splits_dtype)) - array.gather(result.row_starts(), rows)
        check = raw.Assert(
            condition=math.reduce_all(math.equal(columns, expected)), data=["SparseTensor is not right-ragged"]
        )
        return RaggedTensor(with_dependencies([check], st_input.values), result.row_splits, internal=True)


def ragged_to_tensor(rt, default_value, name):
    """See `RaggedTensor.to_tensor`."""
    with name_scope(name, "RaggedToTensor", [rt, default_value]):
        if default_value is None:
            default_value = array.zeros((), rt.dtype)
        default_value = convert_to_tensor(default_value, name="default_value", dtype=rt.dtype)
        inner = rt.flat_values.shape.rank
        if inner is not None and default_value.shape.rank is not None and default_value.shape.rank >= inner:
            raise ValueError(f"default_value must have the shape of a value or less, not {default_value.shape}")
        splits = list(rt.nested_row_splits)
        result = raw.RaggedTensorToTensor(
            shape=math.cast(-1, splits[0].dtype),
            values=rt.flat_values,
            default_value=default_value,
            row_partition_tensors=splits,
            row_partition_types=["ROW_SPLITS"] * len(splits),
        )
        result.set_shape(TensorShape([rt.shape[0], *map(_widest_row, splits)]).concatenate(rt.flat_values.shape[1:]))
        return result


def _widest_row(splits):
    """The length of the longest row, where splits are known while the graph is drawn."""
    known = known_value(splits)
    return None if known is None else int(np.diff(known).max(initial=0))


@shape_rule("RaggedTensorToTensor")
def _to_tensor_shape(op):
    """What the shape asks for, and what values and partitions leave."""
    rank = op.inputs[1].shape.rank
    if rank is None:
        return None
    partitions = [kind for kind in op.attrs["row_partition_types"] if kind != b"FIRST_DIM_SIZE"]
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
    values = op.inputs[-1].shape
    rank = None if values.rank is None else op.attrs["RAGGED_RANK"] + values.rank
    count = values.num_elements()
    return [TensorShape([count, rank]), TensorShape([count]), TensorShape([rank])]


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
    splits = op.attrs["OUTPUT_RAGGED_RANK"]
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


@gradient("RaggedGather")
def _gather_grad(op, *grads):
    """The gathered rows' gradients, added where they came from."""
    count = op.attrs["PARAMS_RAGGED_RANK"]
    splits, values, indices = op.inputs[:count], op.inputs[count], op.inputs[count + 1]
    if op.attrs["PARAMS_RAGGED_RANK"] != 1 or op.attrs["OUTPUT_RAGGED_RANK"] != 1:
        raise ValueError("The gradient of RaggedGather is there for one ragged dimension and a vector of indices")
    starts, limits = array.gather(splits[0][:-1], indices), array.gather(splits[0][1:], indices)
    positions = raw.RaggedRange(starts=starts, limits=limits, deltas=array.ones([], starts.dtype)).rt_dense_values
    total = math.unsorted_segment_sum(grads[-1], positions, array.shape(values)[0])
    return [None] * count + [total, None]


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
