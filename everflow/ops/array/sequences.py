"""Functions built from several array ops: masks, grids, repeats, sorting, searching, edit distance."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor, SparseTensorValue
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value, known_value
from everflow.ops.array.basic import (
    broadcast_to,
    expand_dims,
    ones,
    rank,
    reshape,
    shape,
    shape_internal,
    size,
    squeeze,
)
from everflow.ops.array.constants import constant
from everflow.ops.array.indexing import gather, where
from everflow.ops.array.joining import concat, stack
from everflow.ops.array.layout import tile, transpose


def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    """The slices of `tensor` where a boolean `mask` over some of its dimensions, from `axis` on, holds.

    Args:
        tensor: The tensor to take from.
        mask: The bools; their rank must be known.
        name: The name of the operation in the graph.
        axis: The first axis of `tensor` that the mask is over; 0 if None.

    Returns:
        A tensor with one axis in place of those of the mask.

    Raises:
        ValueError: If the mask is a scalar, its rank isn't known, or it doesn't fit.

    Example:
        >>> sess.run(tf.boolean_mask([1, 2, 3], [True, False, True]))
        array([1, 3], dtype=int32)
    """
    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        count = mask.shape.rank
        if count == 0:
            raise ValueError("mask cannot be scalar.")
        if count is None:
            raise ValueError(
                "The rank of a mask must be known, though its sizes need not: a shape of [None] will do, None won't"
            )
        axis = 0 if axis is None else axis
        if isinstance(axis, Tensor):
            axis = int(constant_value(axis))
        source = tensor.shape
        source[axis : axis + count].assert_is_compatible_with(mask.shape)
        leading = raw.Prod(input=shape(tensor)[axis : axis + count], reduction_indices=[0])
        tensor = reshape(tensor, concat([shape(tensor)[:axis], [leading], shape(tensor)[axis + count :]], 0))
        first = source[axis : axis + count].num_elements()
        tensor.set_shape(source[:axis].concatenate([first]).concatenate(source[axis + count :]))
        mask = reshape(mask, [-1])
        return gather(tensor, squeeze(where(mask), axis=[1]), axis=axis)


def all_dimensions(x):
    """Every axis of a tensor, as a vector for reductions."""
    if x.shape.rank is not None:
        return constant(np.arange(x.shape.rank), dtype=dtypes.int32)
    return raw.Range(start=0, limit=rank(x), delta=1)


def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool, name=None):
    """True in the first `lengths[i]` places of each row, False after; rows are `maxlen` long (by default the longest
    length).

    Args:
        lengths: Whole numbers.
        maxlen: The length of a row; the largest of `lengths` if None.
        dtype: The type of the result.
        name: The name of the operation in the graph.

    Returns:
        A tensor with one axis more.

    Raises:
        ValueError: If `maxlen` is not a scalar.

    Example:
        >>> sess.run(tf.sequence_mask([1, 3], 4))
        array([[ True, False, False, False],
               [ True,  True,  True, False]])
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            maxlen = raw.Max(input=lengths, reduction_indices=all_dimensions(lengths))
            maxlen = raw.Maximum(x=constant(0, maxlen.dtype), y=maxlen)
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.shape.rank not in (None, 0):
            raise ValueError("maxlen must be scalar for sequence_mask")
        steps = raw.Range(start=constant(0, maxlen.dtype), limit=maxlen, delta=constant(1, maxlen.dtype))
        # The cast is made even between equal types, as TensorFlow's graphs have it.
        result = raw.Less(x=steps, y=raw.Cast(x=expand_dims(lengths, -1), DstT=maxlen.dtype.base_dtype))
        if dtype is None or dtypes.as_dtype(dtype).base_dtype == dtypes.bool:
            return result
        return raw.Cast(x=result, DstT=dtype)


def meshgrid(*args, **kwargs):
    """Coordinate grids of vectors: for each a tensor over all of them. `indexing="xy"` puts the second vector's axis
    first.

    Args:
        *args: The vectors.
        **kwargs: `indexing`, `xy` or `ij`, and `name`.

    Returns:
        A list of tensors.

    Raises:
        TypeError: If a keyword isn't known.
        ValueError: If `indexing` is something else.

    Example:
        >>> sess.run(tf.meshgrid([1, 2, 3], [4, 5]))[1]
        array([[4, 4, 4],
               [5, 5, 5]], dtype=int32)
    """
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(
            f"meshgrid() got an unexpected keyword argument '{next(iter(kwargs))}'; it takes indexing and name"
        )
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', not {indexing!r}")
    with name_scope(name, "meshgrid", args):
        count = len(args)
        grids = [reshape(stack(x), [1] * i + [-1] + [1] * (count - i - 1)) for i, x in enumerate(args)]
        sizes = [size(x) for x in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            grids[0] = reshape(grids[0], [1, -1] + [1] * (count - 2))
            grids[1] = reshape(grids[1], [-1, 1] + [1] * (count - 2))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        whole = ones(sizes, dtype)
        return [raw.Mul(x=grid, y=whole, name="mul") for grid in grids]


# Repeats


def repeat(input, repeats, axis=None, name=None):
    """Each element (or slice along `axis`) repeated; without an axis the input is flattened first.

    Args:
        input: The tensor to work on.
        repeats: How often: a number, or one for each.
        axis: The axis along which slices are repeated; None for the elements of the flattened input.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.repeat([1, 2], [2, 3]))
        array([1, 1, 2, 2, 2], dtype=int32)
    """
    if axis is None:
        input, axis = reshape(input, [-1]), 0
    return repeat_with_axis(input, repeats, axis, name)


def repeat_with_axis(data, repeats, axis, name=None):
    """`repeat` along an axis given as a number."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    with name_scope(name, "Repeat", [data, repeats]):
        data = convert_to_tensor(data, name="data")
        repeats = int_tensor(repeats, "repeats")
        repeats.shape.with_rank_at_most(1)
        data = _with_nonzero_rank(data)
        data_shape = shape(data)
        axis = positive_axis(axis, data.shape.rank)
        if repeats.shape.rank == 0:
            tiled = tile_one_dimension(expand_dims(data, axis + 1), axis + 1, repeats)
            return reshape(tiled, concat([data_shape[:axis], [-1], data_shape[axis + 1 :]], axis=0))
        if repeats.shape.rank != axis + 1:
            repeats_shape = shape(repeats)
            lead = data_shape[: raw.Sub(x=axis + 1, y=rank(repeats), name="sub")]
            repeats = broadcast_to(repeats, concat([lead, repeats_shape], axis=0))
            repeats.set_shape([None] * (axis + 1))
        most = raw.Maximum(x=0, y=raw.Max(input=repeats, reduction_indices=all_dimensions(repeats)))
        mask = sequence_mask(repeats, most)
        tiled = tile_one_dimension(expand_dims(data, axis + 1), axis + 1, most)
        result = boolean_mask(tiled, mask)
        if axis > 0:
            result = reshape(result, concat([data_shape[:axis], [-1], data_shape[axis + 1 :]], axis=0))
        if data.shape.rank is not None:
            result.set_shape(data.shape[:axis].concatenate([None]).concatenate(data.shape[axis + 1 :]))
        return result


def int_tensor(value, name, dtype=dtypes.int32):
    """An integer tensor cast to `dtype`; the cast is made even where it has that type, as in TensorFlow's graphs."""
    tensor = convert_to_tensor(value, name=name, preferred_dtype=dtype)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={tensor.dtype}")
    return raw.Cast(x=tensor, DstT=dtype)


def _with_nonzero_rank(data):
    if data.shape.rank is not None:
        return stack([data]) if data.shape.rank == 0 else data
    data_shape, dimensions = shape(data), rank(data)
    return reshape(data, concat([[1], data_shape], axis=0)[raw.Neg(x=dimensions) :])


def positive_axis(axis, dimensions):
    """A nonnegative axis; a negative one needs a known rank."""
    if dimensions is None:
        if axis < 0:
            raise ValueError(f"axis={axis} counts from the end, but the rank is unknown")
        return axis
    if not -dimensions <= axis < dimensions:
        raise ValueError(f"axis={axis} out of bounds: expected {-dimensions}<=axis<{dimensions}")
    return axis % dimensions


def tile_one_dimension(data, axis, multiple):
    """A tensor repeated along one axis."""
    if data.shape.rank is not None:
        multiples = [1] * data.shape.rank
        multiples[axis] = multiple
        return tile(data, multiples)
    once = ones(rank(data), dtypes.int32)
    return tile(data, concat([once[:axis], [multiple], once[axis + 1 :]], axis=0))


# Sorting and searching


def sort(values, axis=-1, direction="ASCENDING", name=None):
    """The values in order along an axis.

    Args:
        values: The numbers.
        axis: The axis to work along; negative ones count from the last.
        direction: `ASCENDING` or `DESCENDING`.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape of `values`.

    Example:
        >>> sess.run(tf.sort([3, 1, 2], direction="DESCENDING"))
        array([3, 2, 1], dtype=int32)
    """
    with name_scope(name, "sort"):
        return _sort_or_argsort(values, axis, direction, False)


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """The indices that put values in order along an axis; equal values keep their order whatever `stable` says.

    Args:
        values: The numbers.
        axis: The axis to work along; negative ones count from the last.
        direction: `ASCENDING` or `DESCENDING`.
        stable: No effect: it always is.
        name: The name of the operation in the graph.

    Returns:
        Indices along the axis, int32.

    Example:
        >>> sess.run(tf.argsort([3, 1, 2]))
        array([1, 2, 0], dtype=int32)
    """
    with name_scope(name, "argsort"):
        return _sort_or_argsort(values, axis, direction, True)


def _sort_or_argsort(values, axis, direction, return_argsort):
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    axis = convert_to_tensor(axis, name="axis")
    static = constant_value(axis)
    if axis.shape.rank != 0 or static is None:
        raise ValueError("axis must be a constant scalar")
    values = convert_to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _descending(values, int(static), return_argsort)
    result = _descending(raw.Neg(x=values), int(static), return_argsort)
    return result if return_argsort else raw.Neg(x=result)


def _descending(values, axis, want_indices):
    count = shape_internal(values)[axis]
    dimensions = rank(values)
    known = values.shape.rank
    if axis == -1 or axis + 1 == known:
        order = None
    elif known is not None:
        axis += known if axis < 0 else 0
        order = constant(
            np.r_[np.arange(axis), [known - 1], np.arange(axis + 1, known - 1), [axis]], name="transposition"
        )
    else:
        axis_before = raw.Range(start=0, limit=axis, delta=1, name="range")
        last = raw.Sub(x=dimensions, y=1, name="sub")
        between = raw.Range(start=axis + 1, limit=raw.Sub(x=dimensions, y=1, name="sub"), delta=1, name="range")
        order = concat([axis_before, [last], between, [axis]], axis=0)
    found = raw.TopKV2(input=values if order is None else transpose(values, order), k=count)
    result = found.indices if want_indices else found.values
    return result if order is None else transpose(result, order)


def searchsorted(sorted_sequence, values, side="left", out_type=dtypes.int32, name=None):
    """For each value the index at which it would keep its sorted row sorted, before or after equal ones.

    Args:
        sorted_sequence: Rows that ascend.
        values: Rows of values, as many.
        side: `left` or `right` of equal ones.
        out_type: The type of the result.
        name: The name of the operation in the graph.

    Returns:
        Whole numbers of the shape of `values`.

    Raises:
        ValueError: If the side is something else.

    Example:
        >>> sess.run(tf.searchsorted([1, 3, 5], [3, 4]))
        array([1, 2], dtype=int32)
    """
    sequence_size = shape_internal(sorted_sequence)[-1]
    values_size = shape_internal(values)[-1]
    rows = reshape(sorted_sequence, [-1, sequence_size])
    wanted = reshape(values, [-1, values_size])
    if side == "right":
        found = raw.UpperBound(sorted_inputs=rows, values=wanted, out_type=out_type, name=name)
    elif side == "left":
        found = raw.LowerBound(sorted_inputs=rows, values=wanted, out_type=out_type, name=name)
    else:
        raise ValueError(f"side must be 'left' or 'right', not {side!r}")
    return reshape(found, shape_internal(values))


@shape_rule("LowerBound", "UpperBound")
def _bound_shape(op):
    return op.inputs[1].shape.with_rank(2)


def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """The Levenshtein distance between the sequences along the last dimension of two SparseTensors.

    `normalize` divides by the length of the truth.

    Args:
        hypothesis: The sequences that were found.
        truth: The sequences that are right.
        normalize: Whether distances are divided by the lengths of the truth.
        name: The name of the operation in the graph.

    Returns:
        A float tensor without the last dimension.

    Raises:
        TypeError: If the sequences are no SparseTensors.

    Example:
        >>> found = tf.SparseTensor([[0, 0], [0, 1]], ["a", "b"], [1, 2])
        >>> right = tf.SparseTensor([[0, 0], [0, 1]], ["a", "c"], [1, 2])
        >>> sess.run(tf.edit_distance(found, right))
        array([0.5], dtype=float32)
    """
    for what, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"{what} must be a SparseTensor.")
    hypothesis, truth = (
        SparseTensor.from_value(s) if isinstance(s, SparseTensorValue) else s for s in (hypothesis, truth)
    )
    return raw.EditDistance(
        hypothesis_indices=hypothesis.indices,
        hypothesis_values=hypothesis.values,
        hypothesis_shape=hypothesis.dense_shape,
        truth_indices=truth.indices,
        truth_values=truth.values,
        truth_shape=truth.dense_shape,
        normalize=normalize,
        name=name,
    )


@shape_rule("EditDistance")
def _edit_distance_shape(op):
    for tensor, axes in zip(op.inputs, (2, 1, 1) * 2, strict=True):
        tensor.shape.with_rank(axes)
    first, second = known_value(op.inputs[2]), known_value(op.inputs[5])
    if first is None or second is None:
        return None
    if len(first) != len(second):
        raise ValueError(f"Sequences of {len(first)} axes can't be compared with ones of {len(second)}")
    return TensorShape([max(int(a), int(b)) for a, b in zip(first[:-1], second[:-1], strict=True)])
