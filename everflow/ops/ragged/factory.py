"""`tf.ragged.constant`, `constant_value` and `placeholder`: ragged tensors from nested lists, and fed ones."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import as_shape
from everflow.ops.array import constants
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.ragged.value import RaggedTensorValue


def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=dtypes.int64):
    """A RaggedTensor of constants from nested lists.

    Args:
        pylist: The nested lists.
        dtype: The type of the elements.
        ragged_rank: How many dimensions are ragged; as many as needed if None.
        inner_shape: The shape of a value; found out if None.
        name: The name of the operation in the graph.
        row_splits_dtype: The type of the row splits.

    Returns:
        A RaggedTensor; a Tensor where nothing is ragged.

    Raises:
        ValueError: If the lists are nested differently.

    Example:
        >>> sess.run(tf.ragged.constant([[1, 2], [], [3]])).to_list()
        [[1, 2], [], [3]]
    """

    def splits(values, row_splits):
        row_splits = constants.constant(row_splits, dtype=row_splits_dtype)
        return RaggedTensor(values, row_splits, internal=True)

    def make(values, dtype, shape, nested):
        if shape and shape[0] == 0:  # nothing is filled in where there is nothing
            values = np.zeros(shape, (dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)).as_numpy_dtype)
        name = "values" if nested else "Const"
        return constants.constant_v2(values, dtype, shape, name)

    with name_scope(name, "RaggedConstant"):
        return _build(make, splits, pylist, dtype, ragged_rank, inner_shape)


def constant_value(pylist, dtype=None, ragged_rank=None, inner_shape=None, row_splits_dtype="int64"):
    """A RaggedTensorValue (or a numpy array, where nothing is ragged) from nested lists.

    Args:
        pylist: The nested lists.
        dtype: The type of the elements.
        ragged_rank: How many dimensions are ragged; as many as needed if None.
        inner_shape: The shape of a value; found out if None.
        row_splits_dtype: The type of the row splits.

    Returns:
        A RaggedTensorValue, or an array.

    Raises:
        ValueError: If the lists are nested differently.

    Example:
        >>> tf.ragged.constant_value([[1, 2], [3]]).to_list()
        [[1, 2], [3]]
    """
    kind = np.dtype(dtypes.as_dtype(row_splits_dtype).as_numpy_dtype)

    def array(values, dtype, shape, nested):
        dtype = dtype.as_numpy_dtype if isinstance(dtype, dtypes.DType) else dtype
        if dtype is None and isinstance(values, (list, tuple)) and not _is_rectangular(values):
            dtype = object
        found = np.array(values, dtype=dtype)
        return found if shape is None else found.reshape(shape)

    def splits(values, row_splits):
        return RaggedTensorValue(values, np.array(row_splits, kind))

    return _build(array, splits, pylist, dtype, ragged_rank, inner_shape)


def _is_list(value):
    return isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim > 0


def _find_scalar_and_max_depth(pylist):
    """How deep the scalars stand, or None where there are none, and how deep lists are nested; ValueError where scalars
    stand at different depths.
    """
    if not _is_list(pylist):
        return 0, 0
    inside = [_find_scalar_and_max_depth(item) for item in pylist]
    max_depth = 1 + max((depth for _, depth in inside), default=0)
    depths = {1 + depth for depth, _ in inside if depth is not None}
    if len(depths) > 1:
        raise ValueError(
            f"All scalars must be nested equally deep; they are {' and '.join(map(str, sorted(depths)))} deep in {pylist}"
        )
    return depths.pop() if depths else None, max_depth


def _is_rectangular(values):
    """Whether nested lists have the same lengths in the same depths, so that numpy can make an array of them."""
    shapes = {np.shape(v) if not isinstance(v, (list, tuple)) or _is_rectangular(v) else None for v in values}
    return len(shapes) < 2 and None not in shapes


def _build(make_values, make_ragged, pylist, dtype, ragged_rank, inner_shape):
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: it must not be negative")
    scalar_depth, max_depth = _find_scalar_and_max_depth(pylist)
    if scalar_depth is not None and max_depth > scalar_depth:
        raise ValueError(f"Invalid pylist={pylist}: an empty list is nested deeper than the scalars are")
    if not _is_list(pylist):
        if ragged_rank or inner_shape:
            raise ValueError(
                f"Invalid pylist={pylist}: a scalar has neither ragged_rank={ragged_rank} nor inner_shape={inner_shape}"
            )
        return make_values(pylist, dtype, (), False)
    if inner_shape is not None and ragged_rank is not None:
        depth = ragged_rank + len(inner_shape) + 1
        if max_depth > depth or scalar_depth not in (None, depth):
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank} and inner_shape={inner_shape}"
            )
    if ragged_rank is None:
        ragged_rank = max(0, max_depth - 1 - len(inner_shape or ()))
        if ragged_rank and scalar_depth is None:  # without scalars all lists are rows
            ragged_rank = max_depth - 1
    if ragged_rank == 0:
        return make_values(pylist, dtype, inner_shape, False)
    if scalar_depth is not None and ragged_rank >= scalar_depth:
        raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}")
    if inner_shape is None:
        inner_shape = _default_inner_shape_for_pylist(pylist, ragged_rank)
    nested_splits, values = [], pylist
    for _ in range(ragged_rank):
        splits, flat = [0], []
        for row in values:
            flat.extend(row)
            splits.append(len(flat))
        nested_splits.append(splits)
        values = flat
    result = make_values(values, dtype, (len(values), *inner_shape), True)
    for splits in reversed(nested_splits):
        result = make_ragged(result, splits)
    return result


def _default_inner_shape_for_pylist(pylist, ragged_rank):
    """The uniform shape of what stands below the ragged dimensions."""
    if not _is_list(pylist):
        if ragged_rank:
            raise (ValueError if isinstance(pylist, str) else TypeError)(
                f"A scalar has no ragged_rank={ragged_rank}: {pylist}"
            )
        return ()
    rows = [pylist]
    for _ in range(ragged_rank + 1):
        if not all(map(_is_list, rows)):
            raise ValueError(f"ragged_rank={ragged_rank} wants lists nested {ragged_rank + 1} deep: {pylist}")
        rows = [item for row in rows for item in row]
    shape = []
    while any(map(_is_list, rows)):
        lengths = {len(r) if _is_list(r) else None for r in rows}
        if len(lengths) > 1:
            raise ValueError(f"Below {ragged_rank} ragged dimensions all lists must be of one shape: {pylist}")
        shape.append(lengths.pop())
        rows = [item for row in rows for item in row]
    return tuple(shape)


def placeholder(dtype, ragged_rank, value_shape=None, name=None):
    """A RaggedTensor that must be fed, with a RaggedTensorValue.

    Args:
        dtype: The type of the elements.
        ragged_rank: How many dimensions are ragged.
        value_shape: The shape of a value; any if None.
        name: The name of the operation in the graph.

    Returns:
        A RaggedTensor.

    Example:
        >>> rows = tf.ragged.placeholder(tf.int32, 1)
        >>> sess.run(tf.reduce_sum(rows, axis=1), {rows: tf.ragged.constant_value([[1, 2], [3]], np.int32)})
        array([3, 3], dtype=int32)
    """
    if ragged_rank == 0:
        return constants.placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder", []):
        flat_shape = as_shape([None]).concatenate(value_shape)
        result = constants.placeholder(dtype, flat_shape, "flat_values")
        for i in reversed(range(ragged_rank)):
            splits = constants.placeholder(dtypes.int64, [None], f"row_splits_{i}")
            result = RaggedTensor(result, splits, internal=True)
        return result
