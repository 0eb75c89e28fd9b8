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

    >>> tf.ragged.constant([[1, 2], [], [3]]).shape
    TensorShape([Dimension(3), Dimension(None)])
    """

    def splits(values, row_splits):
        row_splits = constants.constant(row_splits, dtype=row_splits_dtype)
        return RaggedTensor(values, row_splits, internal=True)

    def make(values, dtype, shape):
        return constants.constant(values, dtype=dtype, shape=shape, name="values")

    with name_scope(name, "RaggedConstant"):
        return _build(make, splits, constants.constant, pylist, dtype, ragged_rank, inner_shape)


def constant_value(pylist, dtype=None, ragged_rank=None, inner_shape=None, row_splits_dtype="int64"):
    """A RaggedTensorValue (or a numpy array, where nothing is ragged) from nested lists."""
    kind = np.dtype(dtypes.as_dtype(row_splits_dtype).as_numpy_dtype)

    def array(values, dtype=None, shape=None):
        found = np.array(
            values, dtype=dtypes.as_dtype(dtype).as_numpy_dtype if isinstance(dtype, dtypes.DType) else dtype
        )
        return found if shape is None else found.reshape(shape)

    return _build(
        array,
        lambda values, row_splits: RaggedTensorValue(values, np.array(row_splits, kind)),
        array,
        pylist,
        dtype,
        ragged_rank,
        inner_shape,
    )


def _is_list(value):
    return isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim > 0


def _scalar_depth(pylist):
    """How deep the numbers stand, or None where there are none; ValueError where they stand at different depths."""
    if not _is_list(pylist):
        return 0
    depths = {d for d in map(_scalar_depth, pylist) if d is not None}
    if len(depths) > 1:
        raise ValueError(
            f"All scalars must be nested equally deep; they are {' and '.join(map(str, sorted(depths)))} deep in {pylist}"
        )
    return depths.pop() + 1 if depths else None


def _max_depth(pylist):
    return 1 + max(map(_max_depth, pylist), default=0) if _is_list(pylist) else 0


def _build(make_values, make_ragged, make_dense, pylist, dtype, ragged_rank, inner_shape):
    scalar_depth, max_depth = _scalar_depth(pylist), _max_depth(pylist)
    if scalar_depth is not None and max_depth > scalar_depth:
        raise ValueError(f"Invalid pylist={pylist}: an empty list is nested deeper than the scalars are")
    if inner_shape is not None and ragged_rank is not None:
        if ragged_rank + len(inner_shape) + 1 not in (scalar_depth, max_depth) and scalar_depth is not None:
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank} and inner_shape={inner_shape}"
            )
    if not _is_list(pylist):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}")
        return make_dense(pylist, dtype=dtype)
    if ragged_rank is None:
        depth = max(1, max_depth - 1) if inner_shape is None else max_depth - 1 - len(inner_shape)
        ragged_rank = 0 if max_depth == 1 and inner_shape is None else depth
    if ragged_rank == 0:
        return make_dense(pylist, dtype=dtype)
    if scalar_depth is not None and ragged_rank >= scalar_depth:
        raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}")
    if inner_shape is None:
        inner_shape = _inner_shape(pylist, ragged_rank)
    nested_splits, values = [], pylist
    for _ in range(ragged_rank):
        splits, flat = [0], []
        for row in values:
            flat.extend(row)
            splits.append(len(flat))
        nested_splits.append(splits)
        values = flat
    if dtype is None and scalar_depth is None:
        dtype = dtypes.float32
    result = make_values(values, dtype=dtype, shape=(len(values), *inner_shape))
    for splits in reversed(nested_splits):
        result = make_ragged(result, splits)
    return result


def _inner_shape(pylist, ragged_rank):
    """The uniform shape of what stands below the ragged dimensions."""
    rows = pylist
    for _ in range(ragged_rank):
        rows = [item for row in rows for item in row]
    shape = []
    while rows and _is_list(rows[0]):
        lengths = {len(r) for r in rows}
        if len(lengths) > 1:
            raise ValueError("inner values have inconsistent shape")
        shape.append(lengths.pop())
        rows = [item for row in rows for item in row]
    return tuple(shape)


def placeholder(dtype, ragged_rank, value_shape=None, name=None):
    """A RaggedTensor that must be fed, with a RaggedTensorValue."""
    if ragged_rank == 0:
        return constants.placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder", []):
        flat_shape = as_shape([None]).concatenate(value_shape)
        result = constants.placeholder(dtype, flat_shape, "flat_values")
        for i in reversed(range(ragged_rank)):
            splits = constants.placeholder(dtypes.int64, [None], f"row_splits_{i}")
            result = RaggedTensor(result, splits, internal=True)
        return result
