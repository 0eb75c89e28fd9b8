"""Functions on SparseTensors: `tf.sparse` and the older `tf.sparse_*` names. Shape rules are in `sparse_shapes`."""

from __future__ import annotations

import collections.abc

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices, SparseTensor, SparseTensorValue
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value, constant_value_as_shape
from everflow.ops import array, math
from everflow.ops.array.basic import cannot_reshape, either
from everflow.ops.array.constants import constant, placeholder
from everflow.ops.checks.values import assert_equal, assert_less_equal
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.math.reductions import all_axes

# The key that crosses are hashed with unless another is given.
DEFAULT_HASH_KEY = 0xDECAFCAFFE


def as_sparse(value) -> SparseTensor:
    """A SparseTensor from one or from a SparseTensorValue; TypeError for anything else."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


def _all_sparse(values):
    if not isinstance(values, collections.abc.Iterable):
        raise TypeError("Inputs must be a list")
    return [as_sparse(v) for v in values]


def sparse_placeholder(dtype, shape=None, name=None):
    """A SparseTensor that must be fed, with a SparseTensorValue or a tuple (indices, values, dense_shape).

    Args:
        dtype: The type of the elements.
        shape: The dense shape; None for any.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor.

    Raises:
        RuntimeError: When executing eagerly.

    Example:
        >>> x = tf.sparse_placeholder(tf.float32)
        >>> sess.run(tf.sparse_reduce_sum(x), {x: ([[0, 0], [1, 1]], [1.0, 2.0], [2, 2])})
        np.float32(3.0)
    """
    shape_name = f"{name}/shape" if name is not None else None
    if shape is None:
        rank = None
        dense_shape = placeholder(dtypes.int64, shape=[rank], name=shape_name)
    elif isinstance(shape, Tensor):
        rank = shape.shape[0]
        dense_shape = shape
    else:
        rank = len(shape)
        sizes = tuple(-1 if s is None else int(s) for s in TensorShape(shape).as_list())
        if -1 in sizes:  # its open sizes are known only when it is fed
            dense_shape = placeholder(dtypes.int64, shape=[rank], name=shape_name)
        else:
            dense_shape = convert_to_tensor(np.array(sizes, np.int64), name=shape_name)
    return SparseTensor(
        values=placeholder(dtype, shape=[None], name=f"{name}/values" if name is not None else None),
        indices=placeholder(dtypes.int64, shape=[None, rank], name=f"{name}/indices" if name is not None else None),
        dense_shape=dense_shape,
    )


# To and from dense


def from_dense(tensor, name=None):
    """The SparseTensor of a tensor's non-zero elements.

    Args:
        tensor: The tensor.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor.

    Example:
        >>> sess.run(tf.sparse.from_dense([[0, 5], [7, 0]])).values
        array([5, 7], dtype=int32)
    """
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        indices = array.where_v2(math.not_equal(tensor, constant(0, tensor.dtype)))
        return SparseTensor(indices, array.gather_nd(tensor, indices), array.shape(tensor, out_type=dtypes.int64))


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    """A dense tensor with `sparse_values` at `sparse_indices` and `default_value` elsewhere.

    Args:
        sparse_indices: Where: a number, a vector, or [n, rank].
        output_shape: The shape of the result.
        sparse_values: The values, or one for all.
        default_value: What stands elsewhere.
        validate_indices: Whether indices must be in order and not repeated.
        name: The name of the operation in the graph.

    Returns:
        A Tensor.

    Example:
        >>> sess.run(tf.sparse_to_dense([0, 2], [4], [5, 6]))
        array([5, 0, 6, 0], dtype=int32)
    """
    return raw.SparseToDense(**locals())


def sparse_tensor_to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The dense tensor of a SparseTensor, with `default_value` (zero) where it has no value.

    Args:
        sp_input: The SparseTensor.
        default_value: What stands where there is no value; zero, or an empty string, if None.
        validate_indices: Whether indices must be in order and not repeated.
        name: The name of the operation in the graph.

    Returns:
        A Tensor.

    Example:
        >>> sess.run(tf.sparse_tensor_to_dense(tf.SparseTensor([[0], [2]], [5, 6], [4]), default_value=-1))
        array([ 5, -1,  6, -1], dtype=int32)
    """
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default_value = array.zeros([], dtype=sp_input.dtype)
    return sparse_to_dense(
        sp_input.indices, sp_input.dense_shape, sp_input.values, default_value, validate_indices, name
    )


def sparse_to_indicator(sp_input, vocab_size, name=None):
    """Ids in the last dimension as a bool tensor with True at each of them.

    Args:
        sp_input: Ids, the last axis being a list of them.
        vocab_size: How many ids there are.
        name: The name of the operation in the graph.

    Returns:
        A tensor of bools.

    Example:
        >>> sess.run(tf.sparse_to_indicator(tf.SparseTensor([[0, 0], [0, 1]], [0, 2], [1, 2]), 3))
        array([[ True, False,  True]])
    """
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input]) as name:
        count = array.shape(sp_input.indices)[0]
        marks = array.fill(array.expand_dims(count, 0), True)
        marked = SparseTensor(sp_input.indices, marks, sp_input.dense_shape)
        merged = _merge(sp_input, marked, vocab_size, False, name)
        return sparse_tensor_to_dense(merged, default_value=False, validate_indices=False, name=name)


def sparse_merge(sp_ids, sp_values, vocab_size, name=None, already_sorted=False):
    """Ids and their values as one SparseTensor, the id being the index in the last dimension (or dimensions, for a list
    of ids).

    Args:
        sp_ids: The ids: a SparseTensor, or a list of them.
        sp_values: The values, at the same places.
        vocab_size: How many ids there are; a list for a list of ids.
        name: The name of the operation in the graph.
        already_sorted: Whether the ids of each row ascend.

    Returns:
        A SparseTensor.

    Raises:
        TypeError: If the arguments are of the wrong kind.
        ValueError: If there are not as many sizes as ids.

    Example:
        >>> ids = tf.SparseTensor([[0, 0], [1, 0]], [3, 1], [2, 1])
        >>> values = tf.SparseTensor([[0, 0], [1, 0]], [0.5, 2.0], [2, 1])
        >>> sess.run(tf.sparse_tensor_to_dense(tf.sparse_merge(ids, values, vocab_size=4)))
        array([[0. , 0. , 0. , 0.5],
               [0. , 2. , 0. , 0. ]], dtype=float32)
    """
    return _merge(sp_ids, sp_values, vocab_size, already_sorted, name)


def _merge(sp_ids, sp_values, vocab_size, already_sorted, name):
    if isinstance(sp_ids, (SparseTensor, SparseTensorValue)):
        sp_ids, vocab_size = [sp_ids], [vocab_size]
    for what, given in (("sp_ids", sp_ids), ("vocab_size", vocab_size)):
        if not isinstance(given, collections.abc.Iterable):
            raise TypeError(
                f"{what} can't be {type(given)}: give one SparseTensor and its vocab_size, or a list of each"
            )
    for size in vocab_size:
        if not isinstance(size, (Tensor, int, np.integer)):
            raise TypeError(f"A vocab_size must be a number or a tensor, not {type(size)}")
    if len(sp_ids) != len(vocab_size):
        raise ValueError(f"Each of {len(sp_ids)} sp_ids wants its vocab_size; got {len(vocab_size)}")
    with name_scope(name, "SparseMerge", [*sp_ids, sp_values]):
        sp_ids, sp_values = [as_sparse(ids) for ids in sp_ids], as_sparse(sp_values)
        columns = [array.expand_dims(math.cast(ids.values, dtypes.int64), axis=1) for ids in sp_ids]
        sizes = [math.cast(size, dtypes.int64) for size in vocab_size]
        indices = array.concat([sp_ids[0].indices[:, :-1], *columns], 1)
        shape = array.concat([sp_ids[0].dense_shape[:-1], sizes], 0)
        result = SparseTensor(indices, sp_values.values, shape)
        if already_sorted:
            return result
        ordered = sparse_reorder(result)
        return SparseTensor(ordered.indices, ordered.values, shape)


def sparse_eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    """A SparseTensor with ones on the diagonal of a matrix.

    Args:
        num_rows: How many rows.
        num_columns: How many columns; as many as rows if None.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor.

    Example:
        >>> sess.run(tf.sparse_tensor_to_dense(tf.sparse.eye(2, 3)))
        array([[1., 0., 0.],
               [0., 1., 0.]], dtype=float32)
    """
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _int64(num_columns, "num_columns")
        count = math.minimum(rows, columns)
        steps = math.range(count, dtype=dtypes.int64)
        return SparseTensor(array.stack([steps, steps], axis=1), array.ones(count, dtype=dtype), [rows, columns])


def _int64(value, name):
    if isinstance(value, Tensor):
        if value.dtype != dtypes.int64:
            raise TypeError(f"{name} must be an int64 tensor")
        return value
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise TypeError(f"{name} must be an int")
    return convert_to_tensor(value, dtypes.int64, name=name)


def sparse_mask(a, mask_indices, name=None):
    """IndexedSlices without the rows whose indices are in `mask_indices`.

    Args:
        a: The IndexedSlices.
        mask_indices: The indices to leave out.
        name: The name of the operation in the graph.

    Returns:
        IndexedSlices.

    Example:
        >>> slices = tf.IndexedSlices(tf.constant([[1], [2]]), tf.constant([0, 3]))
        >>> sess.run(tf.sparse_mask(slices, [3]).indices)
        array([0], dtype=int32)
    """
    with name_scope(name, "sparse_mask", [a, mask_indices]) as name:
        kept, positions = array.setdiff1d(a.indices, mask_indices)
        return IndexedSlices(array.gather(a.values, positions, name=name), kept, a.dense_shape)


# Order and shape


def sparse_reorder(sp_input, name=None):
    """The same SparseTensor with its indices in row-major order.

    Args:
        sp_input: The SparseTensor.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor.

    Example:
        >>> x = tf.SparseTensor([[1, 0], [0, 1]], [2, 1], [2, 2])
        >>> sess.run(tf.sparse_reorder(x)).values
        array([1, 2], dtype=int32)
    """
    sp_input = as_sparse(sp_input)
    indices, values = raw.SparseReorder(
        input_indices=sp_input.indices, input_values=sp_input.values, input_shape=sp_input.dense_shape, name=name
    )
    if sp_input.shape.is_fully_defined():
        return SparseTensor(indices, values, sp_input.shape.as_list())
    return SparseTensor(indices, values, array.identity(sp_input.dense_shape))


def sparse_reshape(sp_input, shape, name=None):
    """The same values in another dense shape; one size may be -1.

    Args:
        sp_input: The SparseTensor.
        shape: The lengths of the axes.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor.

    Example:
        >>> sess.run(tf.sparse_reshape(tf.SparseTensor([[1, 0]], [5], [2, 2]), [-1])).indices
        array([[2]])
    """
    sp_input = as_sparse(sp_input)
    given, shape = shape, math.cast(shape, dtype=dtypes.int64)
    with name_scope(name, "SparseReshape", [sp_input]) as name:
        indices, new_shape = raw.SparseReshape(
            input_indices=sp_input.indices, input_shape=sp_input.dense_shape, new_shape=shape, name=name
        )
        known = constant_value(shape)
        if known is None and shape is given and not shape.is_eager:
            # One size that is not known before running follows from the others, as one given as -1 does; a cast hides
            # them.
            sizes = constant_value_as_shape(shape)
            if sizes.rank is not None and sizes.as_list().count(None) <= 1:
                known = np.array([-1 if size is None else size for size in sizes.as_list()])
        if known is not None and sp_input.shape.is_fully_defined():
            new_shape = constant(_filled_shape(known, sp_input.shape), dtype=dtypes.int64)
        return SparseTensor(indices, array.identity(sp_input.values), new_shape)


def _filled_shape(wanted, source):
    if np.sum(wanted == -1) > 1:
        raise ValueError(f"One size at most can be left open as -1; got {wanted}")
    count, sizes = source.num_elements(), [int(d) for d in wanted]
    shown = [None if d == -1 else d for d in sizes]
    known = int(np.prod([d for d in sizes if d != -1], dtype=np.int64))
    if -1 in sizes:
        missing = count // known if known else 0
        sizes[sizes.index(-1)] = missing
        if missing * known == count:
            return sizes
    elif known == count:
        return sizes
    raise cannot_reshape(count, shown, known)


def sparse_transpose(sp_input, perm=None, name=None):
    """A SparseTensor with its dimensions in another order, by default the opposite one.

    Args:
        sp_input: The SparseTensor.
        perm: The axes in their new order; the opposite one if None.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor.

    Example:
        >>> sess.run(tf.sparse_transpose(tf.SparseTensor([[0, 2]], [5], [2, 3]))).indices
        array([[2, 0]])
    """
    with name_scope(name, "SparseTranspose", [sp_input]):
        sp_input = as_sparse(sp_input)
        if perm is None:
            rank = array.rank(sp_input)
            perm = (rank - 1) - math.range(0, rank, 1)
        indices = array.transpose(array.gather(array.transpose(sp_input.indices), perm))
        static = constant_value(convert_to_tensor(perm))
        if static is not None and sp_input.shape.is_fully_defined():
            sizes = sp_input.shape.as_list()
            dense_shape = [sizes[p] for p in static]
        else:
            dense_shape = array.gather(sp_input.dense_shape, perm)
        return sparse_reorder(SparseTensor(indices, sp_input.values, dense_shape))


def sparse_expand_dims(sp_input, axis=None, name=None):
    """A SparseTensor with a dimension of size 1 added, by default the last.

    Args:
        sp_input: The SparseTensor.
        axis: Where the new axis is put; last if None.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor.

    Raises:
        TypeError: If the axis is no number.
        ValueError: If the axis is out of range.

    Example:
        >>> sess.run(tf.sparse.expand_dims(tf.SparseTensor([[1]], [5], [3]))).dense_shape
        array([3, 1])
    """
    rank = sp_input.shape.rank
    axis = -1 if axis is None else axis
    with name_scope(name, default_name="expand_dims", values=[sp_input]):
        if isinstance(axis, (int, np.integer)):
            axis = convert_to_tensor(axis, name="axis", dtype=dtypes.int32)
            if rank is not None and not -rank - 1 <= int(constant_value(axis)) <= rank:
                raise ValueError(f"axis {int(constant_value(axis))} is not in [{-rank - 1}, {rank}]")
        elif not isinstance(axis, Tensor):
            raise TypeError(f"axis must be an integer, not {axis!r}")
        if rank is None:
            rank = array.shape(sp_input.dense_shape)[0]
        axis = array.where_v2(math.greater_equal(axis, 0), axis, axis + rank + 1)
        count = array.shape(sp_input.indices)[0]
        column = array.zeros([count, 1], dtype=dtypes.int64)
        before = array.slice_(sp_input.indices, [0, 0], [-1, axis])
        after = array.slice_(sp_input.indices, [0, axis], [-1, -1])
        indices = array.concat([before, column, after], axis=1)
        shape_before = array.slice_(sp_input.dense_shape, [0], [axis])
        shape_after = array.slice_(sp_input.dense_shape, [axis], [-1])
        one = convert_to_tensor([1], name="new_shape", dtype=sp_input.dense_shape.dtype)
        return SparseTensor(indices, sp_input.values, array.concat([shape_before, one, shape_after], axis=0))


def sparse_reset_shape(sp_input, new_shape=None):
    """The same values in a larger dense shape, or without one in the tightest that holds them.

    Args:
        sp_input: The SparseTensor.
        new_shape: The new dense shape, at least as large along each axis.

    Returns:
        A SparseTensor.

    Raises:
        ValueError: If the new shape has another rank, or is smaller.

    Example:
        >>> sess.run(tf.sparse_reset_shape(tf.SparseTensor([[0, 1]], [5], [9, 9]))).dense_shape
        array([1, 2])
    """
    sp_input = as_sparse(sp_input)
    indices, values = array.identity(sp_input.indices), array.identity(sp_input.values)
    in_shape = array.identity(sp_input.dense_shape)
    if new_shape is None:
        lowest = math.reduce_max(indices, axis=0)
        out_shape = math.maximum(constant(0, dtype=dtypes.int64), math.add(lowest, array.ones_like(in_shape)))
        return SparseTensor(indices, values, out_shape)
    out_shape = convert_to_tensor(new_shape)
    out_shape.shape.assert_has_rank(1)
    out_shape = math.cast(out_shape, dtypes.int64)
    if sp_input.dense_shape.shape.rank is not None and sp_input.dense_shape.shape.size(0) is not None:
        out_shape.shape.dims[0].merge_with(sp_input.dense_shape.shape[0])
    wanted = constant_value(out_shape)
    if sp_input.shape.is_fully_defined() and wanted is not None:
        have = np.array(sp_input.shape.as_list())
        if not np.all(have <= wanted):
            raise ValueError(f"The new shape, {wanted}, must not be smaller anywhere than the old one, {have}")
        return SparseTensor(indices, values, wanted)
    out_shape = with_dependencies([assert_equal(array.shape(in_shape), array.shape(out_shape))], out_shape)
    out_shape = with_dependencies([assert_less_equal(in_shape, out_shape)], out_shape)
    return SparseTensor(indices, values, out_shape)


# Joining and picking


def sparse_concat(axis, sp_inputs, name=None, expand_nonconcat_dim=False, concat_dim=None, expand_nonconcat_dims=None):
    """SparseTensors joined along a dimension; `expand_nonconcat_dims` lets the others differ and takes the largest of
    each.

    Args:
        axis: The axis.
        sp_inputs: The SparseTensors.
        name: The name of the operation in the graph.
        expand_nonconcat_dim: Whether the other axes may differ; the largest is taken.
        concat_dim: An older name of `axis`.
        expand_nonconcat_dims: Another name of `expand_nonconcat_dim`.

    Returns:
        A SparseTensor.

    Example:
        >>> a = tf.SparseTensor([[0, 0]], [1], [1, 2])
        >>> sess.run(tf.sparse_tensor_to_dense(tf.sparse_concat(1, [a, a])))
        array([[1, 0, 1, 0]], dtype=int32)
    """
    axis = either("axis", axis, "concat_dim", concat_dim)
    expand = expand_nonconcat_dims if expand_nonconcat_dims is not None else expand_nonconcat_dim
    sp_inputs = _all_sparse(sp_inputs)
    if len(sp_inputs) == 1:
        return sp_inputs[0]
    dense_shapes = [sp.dense_shape for sp in sp_inputs]
    if expand:
        largest = math.reduce_max(array.concat([array.reshape(s, [1, -1]) for s in dense_shapes], 0), 0)
        dense_shapes = [
            array.concat(
                [
                    largest[:axis],
                    s[-1:] if axis == -1 else s[axis : axis + 1],
                    [] if axis == -1 else largest[axis + 1 :],
                ],
                0,
            )
            for s in dense_shapes
        ]
    indices, values, shape = raw.SparseConcat(
        indices=[sp.indices for sp in sp_inputs],
        values=[sp.values for sp in sp_inputs],
        shapes=dense_shapes,
        concat_dim=axis,
        name=name,
    )
    static = [constant_value_as_shape(s) for s in dense_shapes]
    if all(s.is_fully_defined() for s in static):
        sizes = static[0].as_list()
        sizes[axis] = sum(s.size(axis) for s in static)
        shape = constant(sizes, dtype=dtypes.int64)
    return SparseTensor(indices, values, shape)


def sparse_split(keyword_required=None, sp_input=None, num_split=None, axis=None, name=None, split_dim=None):
    """A list of SparseTensors, parts along a dimension; the first ones are one longer where it does not divide evenly.

    Args:
        keyword_required: Arguments are given by name.
        sp_input: The SparseTensor.
        num_split: How many parts.
        axis: The axis.
        name: The name of the operation in the graph.
        split_dim: An older name of `axis`.

    Returns:
        A list of SparseTensors.

    Raises:
        ValueError: If arguments are given by position, or one is missing.

    Example:
        >>> parts = tf.sparse_split(sp_input=tf.SparseTensor([[0, 0], [0, 3]], [5, 6], [1, 4]), num_split=2, axis=1)
        >>> [sess.run(part).values.tolist() for part in parts]
        [[5], [6]]
    """
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    if sp_input is None:
        raise ValueError("sp_input is required")
    if num_split is None:
        raise ValueError("num_split is required")
    if axis is None:
        raise ValueError("axis is required")
    axis = either("axis", axis, "split_dim", split_dim)
    sp_input = as_sparse(sp_input)
    parts = raw.SparseSplit(
        split_dim=axis,
        indices=sp_input.indices,
        values=sp_input.values,
        shape=sp_input.dense_shape,
        num_split=num_split,
        name=name,
    )
    return [SparseTensor(*part) for part in zip(*parts, strict=True)]


def sparse_slice(sp_input, start, size, name=None):
    """A block of a SparseTensor: from `start`, of these sizes.

    Args:
        sp_input: The SparseTensor.
        start: Where the block begins along each axis.
        size: How long it is along each axis.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor.

    Example:
        >>> sess.run(tf.sparse_slice(tf.SparseTensor([[0, 1], [1, 1]], [5, 6], [2, 2]), [1, 0], [1, 2])).values
        array([6], dtype=int32)
    """
    sp_input = as_sparse(sp_input)
    start = convert_to_tensor(start, dtypes.int64)
    size = convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice", [sp_input]) as name:
        parts = raw.SparseSlice(
            indices=sp_input.indices,
            values=sp_input.values,
            shape=sp_input.dense_shape,
            start=start,
            size=size,
            name=name,
        )
        return SparseTensor(*parts)


def sparse_retain(sp_input, to_retain):
    """The values of a SparseTensor where a bool vector holds.

    Args:
        sp_input: The SparseTensor.
        to_retain: A bool for each value.

    Returns:
        A SparseTensor.

    Example:
        >>> sess.run(tf.sparse_retain(tf.SparseTensor([[0], [1]], [5, 6], [2]), [False, True])).values
        array([6], dtype=int32)
    """
    sp_input = as_sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    to_retain.shape.assert_has_rank(1)
    if sp_input.values.shape.rank is not None and sp_input.values.shape.size(0) is not None:
        sp_input.values.shape.dims[0].merge_with(to_retain.shape[0])
    kept = array.reshape(array.where(to_retain), [-1])
    return SparseTensor(
        array.gather(sp_input.indices, kept), array.gather(sp_input.values, kept), array.identity(sp_input.dense_shape)
    )


def sparse_fill_empty_rows(sp_input, default_value, name=None):
    """(a SparseTensor with `default_value` in the first column of rows that had no value, which rows those were).

    Args:
        sp_input: The SparseTensor.
        default_value: What empty rows get.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor and a vector of bools.

    Example:
        >>> filled, was_empty = tf.sparse_fill_empty_rows(tf.SparseTensor([[0, 1]], [5], [2, 2]), -1)
        >>> sess.run([tf.sparse_tensor_to_dense(filled), was_empty])
        [array([[ 0,  5],
               [-1,  0]], dtype=int32), array([False,  True])]
    """
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input]):
        default_value = convert_to_tensor(default_value, dtype=sp_input.values.dtype)
        filled = raw.SparseFillEmptyRows(
            indices=sp_input.indices,
            values=sp_input.values,
            dense_shape=sp_input.dense_shape,
            default_value=default_value,
        )
        return SparseTensor(
            filled.output_indices, filled.output_values, sp_input.dense_shape
        ), filled.empty_row_indicator


# Arithmetic


def sparse_add(a, b, threshold=None, thresh=None):
    """The sum of two tensors of which at least one is sparse; of two sparse ones, sums below `threshold` are dropped.

    Args:
        a: A Tensor or SparseTensor.
        b: A Tensor or SparseTensor; one of both is sparse.
        threshold: Sums of two sparse ones whose absolute value is less are dropped.
        thresh: An older name of `threshold`.

    Returns:
        A SparseTensor if both are sparse, else a Tensor.

    Raises:
        TypeError: If neither is sparse.

    Example:
        >>> a = tf.SparseTensor([[0]], [1.0], [2])
        >>> sess.run(tf.sparse_add(a, [10.0, 20.0]))
        array([11., 20.], dtype=float32)
    """
    threshold = either("threshold", threshold, "thresh", thresh)
    return _add(a, b, 0 if threshold is None else threshold)


def _add(a, b, threshold):
    kinds = (SparseTensor, SparseTensorValue)
    if not isinstance(a, kinds) and not isinstance(b, kinds):
        raise TypeError("Neither of the inputs is a SparseTensor; tf.add() adds dense ones")
    if isinstance(a, kinds) and isinstance(b, kinds):
        a, b = as_sparse(a), as_sparse(b)
        threshold = convert_to_tensor(threshold, dtype=a.values.dtype.real_dtype.base_dtype, name="threshold")
        total = raw.SparseAdd(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, threshold)
        a.shape.assert_is_compatible_with(b.shape)
        static = array.broadcast_static_shape(a.shape, b.shape)
        shape = static.as_list() if static.is_fully_defined() else total.sum_shape
        return SparseTensor(total.sum_indices, total.sum_values, shape)
    if isinstance(b, kinds):
        a, b = b, a
    a = as_sparse(a)
    return raw.SparseTensorDenseAdd(a.indices, a.values, a.dense_shape, b)


def sparse_maximum(sp_a, sp_b, name=None):
    """The larger of two SparseTensors element by element; what one of them lacks counts as zero.

    Args:
        sp_a: A SparseTensor.
        sp_b: Another one, of the same shape.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor.

    Example:
        >>> a, b = tf.SparseTensor([[0]], [1], [2]), tf.SparseTensor([[1]], [-2], [2])
        >>> sess.run(tf.sparse_tensor_to_dense(tf.sparse_maximum(a, b)))
        array([1, 0], dtype=int32)
    """
    return _of_both(raw.SparseSparseMaximum, "SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a, sp_b, name=None):
    """The smaller of two SparseTensors element by element; what one of them lacks counts as zero.

    Args:
        sp_a: A SparseTensor.
        sp_b: Another one, of the same shape.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor.

    Example:
        >>> a, b = tf.SparseTensor([[0]], [1], [2]), tf.SparseTensor([[1]], [-2], [2])
        >>> sess.run(tf.sparse_tensor_to_dense(tf.sparse_minimum(a, b)))
        array([ 0, -2], dtype=int32)
    """
    return _of_both(raw.SparseSparseMinimum, "SparseSparseMinimum", sp_a, sp_b, name)


def _of_both(build, default_name, sp_a, sp_b, name):
    with name_scope(name, default_name, [sp_a.indices, sp_a.values, sp_b.indices, sp_b.values]) as name:
        indices, values = build(
            sp_a.indices, sp_a.values, sp_a.dense_shape, sp_b.indices, sp_b.values, sp_b.dense_shape, name=name
        )
    return SparseTensor(indices, values, sp_a.dense_shape)


def sparse_softmax(sp_input, name=None):
    """Softmax over the values there are in each row of the last dimension.

    Args:
        sp_input: The SparseTensor.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor.

    Example:
        >>> sess.run(tf.sparse_softmax(tf.SparseTensor([[0, 0], [0, 2]], [1.0, 1.0], [1, 3]))).values
        array([0.5, 0.5], dtype=float32)
    """
    with name_scope(name, "SparseSoftmax", [sp_input.indices, sp_input.values]):
        values = raw.SparseSoftmax(sp_input.indices, sp_input.values, sp_input.dense_shape)
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)


def sparse_tensor_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """A sparse matrix times a dense one.

    Args:
        sp_a: A SparseTensor that is a matrix.
        b: A dense matrix.
        adjoint_a: Whether the sparse one is transposed and conjugated first.
        adjoint_b: Whether the dense one is transposed and conjugated first.
        name: The name of the operation in the graph.

    Returns:
        A dense matrix.

    Example:
        >>> a = tf.SparseTensor([[0, 1]], [2.0], [2, 2])
        >>> sess.run(tf.sparse_tensor_dense_matmul(a, [[1.0], [10.0]]))
        array([[20.],
               [ 0.]], dtype=float32)
    """
    sp_a = as_sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sp_a.indices, sp_a.values, b]):
        b = convert_to_tensor(b, name="b")
        return raw.SparseTensorDenseMatMul(
            a_indices=sp_a.indices,
            a_values=sp_a.values,
            a_shape=sp_a.dense_shape,
            b=b,
            adjoint_a=adjoint_a,
            adjoint_b=adjoint_b,
        )


def _reduce(build, sp_input, axis, keepdims, reduction_axes, keep_dims):
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
    axis = either("axis", axis, "reduction_axes", reduction_axes)
    return build(
        sp_input.indices,
        sp_input.values,
        sp_input.dense_shape,
        all_axes(sp_input, axis),
        keep_dims=False if keepdims is None else keepdims,
    )


def sparse_reduce_sum(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """The sum over dimensions (all by default), as a dense tensor.

    Args:
        sp_input: The SparseTensor.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        reduction_axes: An older name of `axis`.
        keep_dims: An older name of `keepdims`.

    Returns:
        A tensor without these axes.

    Example:
        >>> x = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1, 2, 3], [2, 2])
        >>> sess.run(tf.sparse_reduce_sum(x, axis=1))
        array([1, 5], dtype=int32)
    """
    return _reduce(raw.SparseReduceSum, sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """The largest of the values there are over dimensions (all by default), as a dense tensor.

    Args:
        sp_input: The SparseTensor.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        reduction_axes: An older name of `axis`.
        keep_dims: An older name of `keepdims`.

    Returns:
        A tensor without these axes.

    Example:
        >>> x = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1, 2, 3], [2, 2])
        >>> sess.run(tf.sparse_reduce_max(x, axis=1))
        array([1, 3], dtype=int32)
    """
    return _reduce(raw.SparseReduceMax, sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_sum_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """As `sparse_reduce_sum`, as a SparseTensor.

    Args:
        sp_input: The SparseTensor.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        reduction_axes: An older name of `axis`.
        keep_dims: An older name of `keepdims`.

    Returns:
        A SparseTensor without these axes.

    Example:
        >>> x = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1, 2, 3], [2, 2])
        >>> sess.run(tf.sparse_reduce_sum_sparse(x, axis=1)).values
        array([1, 5], dtype=int32)
    """
    return SparseTensor(*_reduce(raw.SparseReduceSumSparse, sp_input, axis, keepdims, reduction_axes, keep_dims))


def sparse_reduce_max_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """As `sparse_reduce_max`, as a SparseTensor.

    Args:
        sp_input: The SparseTensor.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        reduction_axes: An older name of `axis`.
        keep_dims: An older name of `keepdims`.

    Returns:
        A SparseTensor without these axes.

    Example:
        >>> x = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1, 2, 3], [2, 2])
        >>> sess.run(tf.sparse_reduce_max_sparse(x, axis=1)).values
        array([1, 3], dtype=int32)
    """
    return SparseTensor(*_reduce(raw.SparseReduceMaxSparse, sp_input, axis, keepdims, reduction_axes, keep_dims))


# Crosses


def sparse_cross(inputs, name=None):
    """Every combination of the inputs' values in a row, joined by "_X_".

    Args:
        inputs: SparseTensors and Tensors [batch, values].
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor of strings.

    Example:
        >>> sess.run(tf.sparse.cross([tf.constant([["a"]]), tf.constant([["x", "y"]])])).values
        array([b'a_X_x', b'a_X_y'], dtype=object)
    """
    return _cross(inputs, False, 0, None, name)


def sparse_cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """Every combination of the inputs' values in a row, hashed to one of `num_buckets` (0: to any int64).

    Args:
        inputs: SparseTensors and Tensors [batch, values].
        num_buckets: How many buckets; 0 for any number.
        hash_key: A key of the hash.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor of int64.

    Example:
        >>> sess.run(tf.sparse.cross_hashed([tf.constant([["a"]]), tf.constant([["x", "y"]])], 10)).values
        array([2, 7])
    """
    return _cross(inputs, True, num_buckets, hash_key, name)


def _cross(inputs, hashed, num_buckets, hash_key, name):
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(i, (SparseTensor, Tensor)) or hasattr(i, "nested_row_splits") for i in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [i for i in inputs if isinstance(i, SparseTensor)]
    dense = [i for i in inputs if not isinstance(i, SparseTensor)]
    internal = dtypes.string if all(i.dtype == dtypes.string for i in inputs) else dtypes.int64
    values = [math.cast(i.values, dtypes.int64) if i.dtype != dtypes.string else i.values for i in sparse]
    dense = [math.cast(i, dtypes.int64) if i.dtype != dtypes.string else i for i in dense]
    parts = raw.SparseCross(
        indices=[i.indices for i in sparse],
        values=values,
        shapes=[i.dense_shape for i in sparse],
        dense_inputs=dense,
        hashed_output=hashed,
        num_buckets=num_buckets,
        hash_key=DEFAULT_HASH_KEY if hash_key is None else hash_key,
        out_type=dtypes.int64 if hashed else dtypes.string,
        internal_type=internal,
        name=name,
    )
    return SparseTensor(*parts)
