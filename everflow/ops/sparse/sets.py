"""Sets held as the last dimension of tensors: union, intersection, difference, size."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor_or_sparse_tensor
from everflow.framework.registry import not_differentiable

_DTYPES = frozenset([dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string])

not_differentiable("DenseToDenseSetOperation", "DenseToSparseSetOperation", "SparseToSparseSetOperation", "SetSize")


def set_size(a, validate_indices=True):
    """How many distinct values each row of a SparseTensor's last dimension has.

    Args:
        a: The SparseTensor.
        validate_indices: Whether indices are looked at before they are used.

    Returns:
        Numbers, int32.

    Raises:
        TypeError: If it isn't sparse.

    Example:
        >>> sess.run(tf.sets.set_size(tf.SparseTensor([[0, 0], [0, 1]], [5, 5], [1, 2])))
        array([1], dtype=int32)
    """
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    if a.values.dtype.base_dtype not in _DTYPES:
        raise TypeError(f"Invalid dtype {a.values.dtype}.")
    return raw.SetSize(a.indices, a.values, a.dense_shape, validate_indices=validate_indices)


def set_intersection(a, b, validate_indices=True):
    """The values that rows of `a` and of `b` share, as a SparseTensor.

    Args:
        a: Rows of values, dense or sparse.
        b: Rows of values, dense or sparse, as many.
        validate_indices: Whether indices are looked at before they are used.

    Returns:
        A SparseTensor.

    Example:
        >>> sess.run(tf.sets.intersection([[1, 2, 3]], [[2, 5]])).values
        array([2], dtype=int32)
    """
    return _operate(a, b, "intersection", validate_indices)


def set_difference(a, b, aminusb=True, validate_indices=True):
    """The values of rows of `a` that `b` lacks (or the other way round), as a SparseTensor.

    Args:
        a: Rows of values, dense or sparse.
        b: Rows of values, dense or sparse, as many.
        aminusb: Whether what `b` lacks is wanted; else what `a` lacks.
        validate_indices: Whether indices are looked at before they are used.

    Returns:
        A SparseTensor.

    Example:
        >>> sess.run(tf.sets.difference([[1, 2, 3]], [[2]])).values
        array([1, 3], dtype=int32)
    """
    return _operate(a, b, "a-b" if aminusb else "b-a", validate_indices)


def set_union(a, b, validate_indices=True):
    """The values that rows of `a` or of `b` have, as a SparseTensor.

    Args:
        a: Rows of values, dense or sparse.
        b: Rows of values, dense or sparse, as many.
        validate_indices: Whether indices are looked at before they are used.

    Returns:
        A SparseTensor.

    Example:
        >>> sess.run(tf.sets.set_union([[1, 2, 3]], [[2, 5]])).values
        array([1, 2, 3, 5], dtype=int32)
    """
    return _operate(a, b, "union", validate_indices)


_FLIPPED = {"a-b": "b-a", "b-a": "a-b"}


def _operate(a, b, operation, validate):
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if a.dtype.base_dtype not in _DTYPES:
        raise TypeError(f"'a' invalid dtype {a.dtype}.")
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    if b.dtype.base_dtype != a.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        a, b, operation = b, a, _FLIPPED.get(operation, operation)
    if isinstance(a, SparseTensor):
        parts = raw.SparseToSparseSetOperation(
            a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, operation, validate_indices=validate
        )
    elif isinstance(b, SparseTensor):
        parts = raw.DenseToSparseSetOperation(
            a, b.indices, b.values, b.dense_shape, operation, validate_indices=validate
        )
    else:
        parts = raw.DenseToDenseSetOperation(a, b, operation, validate_indices=validate)
    return SparseTensor(*parts)
