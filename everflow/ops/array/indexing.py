"""Picking and placing by index: gathers, scatters, choices, one-hot, partitions, unique values."""

from __future__ import annotations

from everflow.framework import dtypes, shapes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, unknown_shape
from everflow.framework.static_values import constant_value, known_shape, known_value
from everflow.ops.array.basic import known_int
from everflow.ops.array.ragged_rows import has_ragged_form

# Gathering


@has_ragged_form
def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """Slices of `params` along an axis, in the order of `indices`.

    `validate_indices` has no effect, as in TensorFlow. An index out of range raises when it runs.

    Args:
        params: The tensor to take from.
        indices: Whole numbers of any shape.
        validate_indices: No effect, as in TensorFlow.
        name: The name of the operation in the graph.
        axis: The axis to take along; that of `batch_dims` if None.
        batch_dims: How many axes at the start `params` and `indices` share.

    Returns:
        A tensor with the shape of `indices` in place of the axis.

    Raises:
        ValueError: If `batch_dims` doesn't fit.

    Example:
        >>> sess.run(tf.gather([10, 20, 30], [2, 0]))
        array([30, 10], dtype=int32)
        >>> sess.run(tf.gather([[1, 2], [3, 4]], [1], axis=1))
        array([[2],
               [4]], dtype=int32)
    """
    if axis is None:
        axis = batch_dims
    static_axis = constant_value(axis) if isinstance(axis, Tensor) else axis
    if static_axis == 0 and hasattr(params, "handle"):  # a resource variable reads only what is asked for
        return params.sparse_read(indices, name=name)
    return raw.GatherV2(params=params, indices=indices, axis=axis, batch_dims=batch_dims, name=name)


@shape_rule("Gather")
def _gather_shape(op):
    return op.inputs[1].shape.concatenate(op.inputs[0].shape.with_rank_at_least(1)[1:])


@shape_rule("GatherV2")
def _gather_v2_shape(op):
    params, indices, axis = op.inputs[0].shape, op.inputs[1].shape, op.inputs[2]
    if params.rank is not None and params.rank < 1:
        raise ValueError(f"Shape must be at least rank 1 but is rank {params.rank}")
    if axis.shape.rank not in (None, 0):
        raise ValueError(f"Shape must be rank 0 but is rank {axis.shape.rank}")
    place, batch = known_int(axis), op.attrs["batch_dims"]
    if place is None:
        if params.rank is None or indices.rank is None:
            return None
        return unknown_shape(params.rank + indices.rank - 1 - (batch + indices.rank if batch < 0 else batch))
    if params.rank is None:
        return None
    if not -params.rank <= place < params.rank:
        raise ValueError(f"Shape must be at least rank {place + 1 if place >= 0 else -place} but is rank {params.rank}")
    place %= params.rank
    if indices.rank is None:
        return None
    batch = batch + indices.rank if batch < 0 else batch
    if batch > place:
        raise ValueError(f"batch_dims is {batch}, but must not be above the axis, {place}")
    params[:batch].assert_is_compatible_with(indices[:batch])
    return params[:place].concatenate(indices[batch:]).concatenate(params[place + 1 :])


@shape_rule("ResourceGather")
def _resource_gather_shape(op):
    data = op.inputs[0]._handle_data
    if not data:
        return None
    return op.inputs[1].shape.concatenate(data[0][1].with_rank_at_least(1)[1 + op.attrs["batch_dims"] :])


def gathered_nd_shape(params, indices):
    """The static shape of gather_nd."""
    if indices.rank is not None and indices.rank < 1:
        raise ValueError(f"Shape must be at least rank 1 but is rank {indices.rank}")
    if indices.rank is None or params.rank is None or indices.size(-1) is None:
        return unknown_shape()
    depth = indices.size(-1)
    if depth > params.rank:
        raise ValueError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {indices} and params shape: {params}"
        )
    return indices[:-1].concatenate(params[depth:])


@shape_rule("GatherNd")
def _gather_nd_shape(op):
    return gathered_nd_shape(op.inputs[0].shape, op.inputs[1].shape)


@shape_rule("ResourceGatherNd")
def _resource_gather_nd_shape(op):
    data = op.inputs[0]._handle_data
    return gathered_nd_shape(data[0][1], op.inputs[1].shape) if data else None


# Scattering


def scatter_nd(indices, updates, shape, name=None):
    """A tensor of zeros of this shape with `updates` added at the index vectors in `indices`.

    Args:
        indices: Index vectors along the last axis.
        updates: The values; those with the same index are added.
        shape: The lengths of the axes.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.scatter_nd([[1], [3], [1]], [10, 20, 5], [5]))
        array([ 0, 15,  0, 20,  0], dtype=int32)
    """
    return raw.ScatterNd(indices=indices, updates=updates, shape=shape, name=name)


def tensor_scatter_update(tensor, indices, updates, name=None):
    """A copy of `tensor` with `updates` in place at the index vectors in `indices`.

    Args:
        tensor: The tensor.
        indices: Index vectors along the last axis.
        updates: The values.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.tensor_scatter_nd_update([1, 2, 3], [[0], [2]], [10, 20]))
        array([10,  2, 20], dtype=int32)
    """
    return raw.TensorScatterUpdate(tensor=tensor, indices=indices, updates=updates, name=name)


def tensor_scatter_add(tensor, indices, updates, name=None):
    """A copy of `tensor` with `updates` added at the index vectors in `indices`.

    Args:
        tensor: The tensor.
        indices: Index vectors along the last axis.
        updates: The values.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.tensor_scatter_add([1, 2, 3], [[0], [2]], [10, 20]))
        array([11,  2, 23], dtype=int32)
    """
    return raw.TensorScatterAdd(tensor=tensor, indices=indices, updates=updates, name=name)


def tensor_scatter_sub(tensor, indices, updates, name=None):
    """A copy of `tensor` with `updates` taken away at the index vectors in `indices`.

    Args:
        tensor: The tensor.
        indices: Index vectors along the last axis.
        updates: The values.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.tensor_scatter_nd_sub([1, 2, 3], [[0], [2]], [10, 20]))
        array([ -9,   2, -17], dtype=int32)
    """
    return raw.TensorScatterSub(tensor=tensor, indices=indices, updates=updates, name=name)


def _check_scatter(indices, updates, out):
    for s in (indices, updates):
        if s.rank is not None and s.rank < 1:
            raise ValueError(f"Shape must be at least rank 1 but is rank {s.rank}")
    if out.num_elements() == 0 and (indices.num_elements() or 0) > 0:
        raise ValueError("Indices and updates specified for empty output shape")
    if indices.rank is None or updates.rank is None:
        return
    outer = indices.rank - 1
    if not updates[:outer].is_compatible_with(indices[:-1]):
        raise ValueError(
            f"The outer {outer} dimensions of indices.shape={indices} must match the outer {outer} dimensions of updates.shape={updates}"
        )
    depth = indices.size(-1)
    if depth is not None and out.rank is not None and not updates[outer:].is_compatible_with(out[depth:]):
        raise ValueError(
            f"The inner {out.rank - depth} dimensions of output.shape={out} must match the inner {updates.rank - outer} dimensions of "
            f"updates.shape={updates}"
        )


@shape_rule("ScatterNd")
def _scatter_nd_shape(op):
    out = known_shape(op.inputs[2])
    _check_scatter(op.inputs[0].shape, op.inputs[1].shape, out)
    return out


@shape_rule("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "ScatterNdNonAliasingAdd")
def _tensor_scatter_shape(op):
    _check_scatter(op.inputs[1].shape, op.inputs[2].shape, op.inputs[0].shape)
    return op.inputs[0].shape


# Choosing


@has_ragged_form
def where(condition, x=None, y=None, name=None):
    """With x and y, elements of x where `condition` holds and of y elsewhere (a vector picks rows); alone, the indices
    of True.

    Args:
        condition: Bools.
        x: A tensor of the shape of `condition`, or with as many rows; None to ask for indices.
        y: A tensor of the shape of `x`.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape of `x`; alone, index vectors [n, rank] of int64.

    Raises:
        ValueError: If only one of x and y is given.

    Example:
        >>> sess.run(tf.where([True, False, True], [1, 2, 3], [10, 20, 30]))
        array([ 1, 20,  3], dtype=int32)
        >>> sess.run(tf.where([True, False, True]))
        array([[0],
               [2]])
    """
    if both_given(x, y):
        return raw.Select(condition=condition, t=x, e=y, name=name)
    with name_scope(name, "Where", [condition]) as name:
        return raw.Where(input=convert_to_tensor(condition, preferred_dtype=dtypes.bool, name="condition"), name=name)


def where_v2(condition, x=None, y=None, name=None):
    """As `where`, but condition, x and y broadcast.

    Args:
        condition: Bools.
        x: A tensor; None to ask for indices.
        y: A tensor.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape that all broadcast to; alone, index vectors [n, rank] of int64.

    Raises:
        ValueError: If only one of x and y is given.

    Example:
        >>> sess.run(tf.where_v2([[True], [False]], [1, 2], 0))
        array([[1, 2],
               [0, 0]], dtype=int32)
    """
    if both_given(x, y):
        return raw.SelectV2(condition=condition, t=x, e=y, name=name)
    return where(condition, name=name)


def both_given(x, y):
    """Whether values are to be chosen, rather than the places listed where a condition holds."""
    if (x is None) != (y is None):
        raise ValueError(f"where() takes both x and y or neither of them; {'x' if x is None else 'y'} is None")
    return x is not None


@shape_rule("Where")
def _where_shape(op):
    return TensorShape([None, op.inputs[0].shape.rank])


@shape_rule("Select")
def _select_shape(op):
    condition, x, y = (t.shape for t in op.inputs)
    out = x.merge_with(y)
    if condition.rank is None or out.rank is None or condition.rank == 0:
        return out
    if condition.rank == 1 and out.rank != 1:
        if out.rank == 0:
            raise ValueError("Shape must be at least rank 1 but is rank 0")
        condition.dims[0].merge_with(out[0])
        return out
    return out.merge_with(condition)


@shape_rule("SelectV2")
def _select_v2_shape(op):
    condition, x, y = (t.shape for t in op.inputs)
    return shapes.broadcast(condition, shapes.broadcast(x, y))


@has_ragged_form
def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """A new dimension of size `depth` with `on_value` at each index and `off_value` elsewhere (1 and 0 of float32 by
    default).

    Args:
        indices: Whole numbers.
        depth: The length of the new axis.
        on_value: What stands at the index; 1 if None.
        off_value: What stands elsewhere; 0 if None.
        axis: Where the new axis is put; last if None.
        dtype: The type of the result; that of the values, else float32.
        name: The name of the operation in the graph.

    Returns:
        A tensor with one axis more. An index that is out of range gives only `off_value`.

    Raises:
        TypeError: If the values' types don't fit.

    Example:
        >>> sess.run(tf.one_hot([0, 2], 3))
        array([[1., 0., 0.],
               [0., 0., 1.]], dtype=float32)
    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value, axis, dtype]) as name:
        on_dtype = None if on_value is None else convert_to_tensor(on_value).dtype.base_dtype
        off_dtype = None if off_value is None else convert_to_tensor(off_value).dtype.base_dtype
        if on_dtype is not None or off_dtype is not None:
            if dtype is not None:
                for what, found in (("on_value", on_dtype), ("off_value", off_dtype)):
                    if found is not None and found != dtypes.as_dtype(dtype):
                        raise TypeError(f"dtype {found} of {what} does not match dtype parameter {dtype}")
            else:
                dtype = on_dtype if on_dtype is not None else off_dtype
        elif dtype is None:
            dtype = dtypes.float32
        if on_value is None:
            on_value, on_dtype = convert_to_tensor(1, dtype, name="on_value"), dtype
        if off_value is None:
            off_value, off_dtype = convert_to_tensor(0, dtype, name="off_value"), dtype
        if dtypes.as_dtype(on_dtype) != dtypes.as_dtype(off_dtype):
            raise TypeError(f"on_value and off_value must be of one dtype, but are {on_dtype} and {off_dtype}")
        return raw.OneHot(indices=indices, depth=depth, on_value=on_value, off_value=off_value, axis=axis, name=name)


@shape_rule("OneHot")
def _one_hot_shape(op):
    source, axis = op.inputs[0].shape, op.attrs["axis"]
    if known_value(op.inputs[1]) is not None:
        op.inputs[1].shape.with_rank(0)
    depth = known_int(op.inputs[1])
    if axis < -1:
        raise ValueError("axis must be >= -1")
    if depth is not None and depth < 0:
        raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {depth}")
    if source.rank is None:
        return None
    sizes = source.as_list()
    # An axis too large wraps around here, as in TensorFlow, and is refused when it runs.
    sizes.insert(axis % (source.rank + 1), depth)
    return TensorShape(sizes)


# Partitions


@has_ragged_form
def dynamic_partition(data, partitions, num_partitions, name=None):
    """A list of `num_partitions` tensors: the slices of `data` by the number that `partitions` has for each.

    Args:
        data: The tensor to take apart.
        partitions: For each slice of `data` the number of its part; the shape begins that of `data`.
        num_partitions: How many parts there are.
        name: The name of the operation in the graph.

    Returns:
        A list of tensors.

    Example:
        >>> sess.run(tf.dynamic_partition([10, 20, 30], [1, 0, 1], 2))
        [array([20], dtype=int32), array([10, 30], dtype=int32)]
    """
    return raw.DynamicPartition(data=data, partitions=partitions, num_partitions=num_partitions, name=name)


def dynamic_stitch(indices, data, name=None):
    """One tensor from several: slice j of `data[m]` goes to row `indices[m][j]`; later ones win.

    Args:
        indices: A list of tensors of rows.
        data: A list of tensors, each of the shape of its indices followed by that of a row.
        name: The name of the operation in the graph.

    Returns:
        A tensor with as many rows as the largest index says.

    Example:
        >>> sess.run(tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]))
        array([10, 20, 30], dtype=int32)
    """
    return raw.DynamicStitch(indices=indices, data=data, name=name)


def parallel_dynamic_stitch(indices, data, name=None):
    """As `dynamic_stitch`, without an order among slices for the same row."""
    return raw.ParallelDynamicStitch(indices=indices, data=data, name=name)


@shape_rule("DynamicPartition")
def _dynamic_partition_shape(op):
    data, partitions = op.inputs[0].shape, op.inputs[1].shape
    count = op.attrs["num_partitions"]
    if data.rank is None or partitions.rank is None:
        return [None] * count
    if not data[: partitions.rank].is_compatible_with(partitions):
        raise ValueError(f"data.shape {data} must start with partitions.shape {partitions}")
    return [TensorShape([None]).concatenate(data[partitions.rank :])] * count


@shape_rule("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch_shape(op):
    count = op.attrs["N"]
    indices, data = op.inputs[:count], op.inputs[count:]
    inner, rows, known = unknown_shape(), 0, True
    for index, value in zip(indices, data, strict=True):
        if index.shape.rank is None or value.shape.rank is None:
            known = False
            continue
        value.shape[: index.shape.rank].merge_with(index.shape)
        inner = inner.merge_with(value.shape[index.shape.rank :])
        numbers = known_value(index)
        if numbers is None:
            known = False
        elif numbers.size:
            rows = max(rows, int(numbers.max()) + 1)
    return TensorShape([rows if known else None]).concatenate(inner)


# Distinct values


def unique(x, out_idx=dtypes.int32, name=None):
    """(distinct values of a vector in the order they appear, for each element the index of its value).

    Args:
        x: A vector.
        out_idx: The type of the indices.
        name: The name of the operation in the graph.

    Returns:
        A named tuple of two vectors, `y` and `idx`.

    Example:
        >>> sess.run(tf.unique([7, 3, 7]))
        Unique(y=array([7, 3], dtype=int32), idx=array([0, 1, 0], dtype=int32))
    """
    return raw.Unique(x=x, out_idx=out_idx, name=name)


def unique_with_counts(x, out_idx=dtypes.int32, name=None):
    """As `unique`, and how often each value appears.

    Args:
        x: A vector.
        out_idx: The type of the indices.
        name: The name of the operation in the graph.

    Returns:
        A named tuple of three vectors, `y`, `idx` and `count`.

    Example:
        >>> sess.run(tf.unique_with_counts([7, 3, 7]))
        UniqueWithCounts(y=array([7, 3], dtype=int32), idx=array([0, 1, 0], dtype=int32), count=array([2, 1], dtype=int32))
    """
    return raw.UniqueWithCounts(x=x, out_idx=out_idx, name=name)


def setdiff1d(x, y, index_dtype=dtypes.int32, name=None):
    """(values of vector x that are not in y, their indices in x).

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        index_dtype: The type of the indices.
        name: The name of the operation in the graph.

    Returns:
        A named tuple of two vectors.

    Example:
        >>> sess.run(tf.setdiff1d([1, 2, 3, 4], [2, 4]))
        ListDiff(out=array([1, 3], dtype=int32), idx=array([0, 2], dtype=int32))
    """
    return raw.ListDiff(x=x, y=y, out_idx=index_dtype, name=name)


@shape_rule("Unique", "UniqueWithCounts")
def _unique_shape(op):
    source = op.inputs[0].shape
    if op.type == "Unique":
        source.with_rank(1)
        return [TensorShape([None]), source]
    # That it is a vector is for the run to say.
    return [TensorShape([None]), source, TensorShape([None])]


@shape_rule("UniqueV2", "UniqueWithCountsV2")
def _unique_v2_shape(op):
    source, axis = op.inputs[0].shape, known_value(op.inputs[1])
    length = None
    if source.rank is None or axis is None:
        out = unknown_shape(source.rank)
    elif axis.size == 0:
        source = source.with_rank(1)
        out, length = TensorShape([None]), source.size(0)
    elif not -source.rank <= int(axis.ravel()[0]) < source.rank:
        out = unknown_shape()
    else:
        sizes = source.as_list()
        length = sizes[int(axis.ravel()[0])]
        sizes[int(axis.ravel()[0])] = None
        out = TensorShape(sizes)
    found = [out, TensorShape([length])]
    return found if op.type == "UniqueV2" else [*found, TensorShape([None])]


@shape_rule("ListDiff")
def _list_diff_shape(op):
    for t in op.inputs:
        if t.shape.rank not in (None, 1):
            raise ValueError(f"Shape must be rank 1 but is rank {t.shape.rank}")
    return [TensorShape([None])] * 2


def unravel_index(indices, dims, name=None):
    """Index vectors (one row for each dimension) from flat indices into a tensor of shape `dims`.

    Args:
        indices: Flat indices.
        dims: The shape of the tensor they are of.
        name: The name of the operation in the graph.

    Returns:
        A tensor [rank, ...].

    Example:
        >>> sess.run(tf.unravel_index([5, 2], [2, 3]))
        array([[1, 0],
               [2, 2]], dtype=int32)
    """
    return raw.UnravelIndex(indices=indices, dims=dims, name=name)


@shape_rule("UnravelIndex")
def _unravel_index_shape(op):
    indices, dims = op.inputs[0].shape, op.inputs[1].shape.with_rank(1)
    if indices.rank is None:
        return None
    return TensorShape([dims[0]] if indices.rank == 0 else [dims[0], indices.num_elements()])


def invert_permutation(x, name=None):
    """The permutation that undoes `x`: y[x[i]] = i.

    Args:
        x: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape as `x`.

    Example:
        >>> sess.run(tf.invert_permutation([2, 0, 1]))
        array([1, 2, 0], dtype=int32)
    """
    return raw.InvertPermutation(x=x, name=name)


@shape_rule("InvertPermutation")
def _invert_permutation_shape(op):
    return op.inputs[0].shape.with_rank(1)
