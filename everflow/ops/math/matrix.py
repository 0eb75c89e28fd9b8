"""Products of matrices and tensors: matmul and its relatives, tensordot, cross; build functions and shape rules."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, broadcast, same_size, unknown_shape
from everflow.ops import array
from everflow.ops.array.operator_forms import takes_operators
from everflow.ops.math import elementwise, reductions, sequences

_SPARSE_MATMUL_TYPES = (dtypes.bfloat16, dtypes.float32)


@takes_operators
def matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    name=None,
):
    """The matrix product; over the outer dimensions, which broadcast, where there are more than two.

    Args:
        a: Matrices: [..., n, m].
        b: Matrices: [..., m, k].
        transpose_a: Whether the last two axes of `a` are swapped first.
        transpose_b: Whether the last two axes of `b` are swapped first.
        adjoint_a: Whether `a` is transposed and conjugated first.
        adjoint_b: Whether `b` is transposed and conjugated first.
        a_is_sparse: A hint that many elements of `a` are zero.
        b_is_sparse: A hint that many elements of `b` are zero.
        name: The name of the operation in the graph.

    Returns:
        Matrices [..., n, k].

    Raises:
        ValueError: If a matrix is to be transposed and adjoint, or shapes don't fit.

    Example:
        >>> sess.run(tf.matmul([[1, 2]], [[3], [4]]))
        array([[11]], dtype=int32)
        >>> sess.run(tf.matmul([[1, 2]], [[3, 4]], transpose_b=True))
        array([[11]], dtype=int32)
    """
    with name_scope(name, "MatMul", [a, b]) as scope:
        for side, transposed, adjoint in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
            if transposed and adjoint:
                raise ValueError(
                    f"Only one of transpose_{side} and adjoint_{side} can be set: an adjoint is transposed by itself"
                )
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        may_be_batch = any(t.shape.rank is None or t.shape.rank > 2 for t in (a, b))
        if not a_is_sparse and not b_is_sparse and may_be_batch:
            # BatchMatMulV2 knows adjoints only; a plain transpose is the adjoint of the conjugate.
            if transpose_a:
                a, adjoint_a = elementwise.conj(a), True
            if transpose_b:
                b, adjoint_b = elementwise.conj(b), True
            return raw.BatchMatMulV2(a, b, adj_x=adjoint_a, adj_y=adjoint_b, name=scope)
        if adjoint_a:
            a, transpose_a = elementwise.conj(a), True
        if adjoint_b:
            b, transpose_b = elementwise.conj(b), True
        use_sparse = (
            (a_is_sparse or b_is_sparse) and a.dtype in _SPARSE_MATMUL_TYPES and b.dtype in _SPARSE_MATMUL_TYPES
        )
        if dtypes.bfloat16 in (a.dtype, b.dtype) and a.dtype != b.dtype:
            use_sparse = True  # MatMul can't mix types
        if not use_sparse:
            return raw.MatMul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=scope)
        result = raw.SparseMatMul(
            a,
            b,
            transpose_a=transpose_a,
            transpose_b=transpose_b,
            a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse,
            name=scope,
        )
        if a.dtype == dtypes.bfloat16 and b.dtype == dtypes.bfloat16:
            result = elementwise.cast(result, dtypes.bfloat16)
        return result


def batch_matmul(x, y, adj_x=False, adj_y=False, name=None):
    """The matrix products of two batches whose outer dimensions are the same."""
    return raw.BatchMatMul(x, y, adj_x=adj_x, adj_y=adj_y, name=name)


def sparse_matmul(a, b, transpose_a=False, transpose_b=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """The product of two matrices, float32 or bfloat16, of which one is said to be mostly zeros.

    Args:
        a: A matrix.
        b: A matrix.
        transpose_a: Whether `a` is transposed first.
        transpose_b: Whether `b` is transposed first.
        a_is_sparse: A hint that many elements of `a` are zero.
        b_is_sparse: A hint that many elements of `b` are zero.
        name: The name of the operation in the graph.

    Returns:
        A matrix of float32.

    Example:
        >>> sess.run(tf.sparse_matmul([[0.0, 2.0]], [[3.0], [4.0]], a_is_sparse=True))
        array([[8.]], dtype=float32)
    """
    return raw.SparseMatMul(**locals())


def cross(a, b, name=None):
    """The cross product of vectors of length 3, over all outer dimensions.

    Args:
        a: Vectors: [..., 3].
        b: Vectors of the same shape.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
        array([0., 0., 1.], dtype=float32)
    """
    return raw.Cross(a, b, name=name)


def tensordot(a, b, axes, name=None):
    """The sum over products along pairs of axes.

    Args:
        a: A tensor.
        b: A tensor.
        axes: How many of the last of `a` go with the first of `b`; or two lists of axes.
        name: The name of the operation in the graph.

    Returns:
        A tensor with the axes that are left of `a`, then those of `b`.

    Raises:
        ValueError: If the axes don't fit.

    Example:
        >>> sess.run(tf.tensordot([[1, 2], [3, 4]], [10, 100], axes=1))
        array([210, 430], dtype=int32)
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        a_axes, b_axes = _tensordot_axes(a, axes)
        a_matrix, a_free, a_static = _as_matrix(a, a_axes)
        b_matrix, b_free, b_static = _as_matrix(b, b_axes, flipped=True)
        product = matmul(a_matrix, b_matrix)
        if isinstance(a_free, list) and isinstance(b_free, list):
            return array.reshape(product, a_free + b_free, name=scope)
        a_free = convert_to_tensor(a_free, dtype=dtypes.int32)
        b_free = convert_to_tensor(b_free, dtype=dtypes.int32)
        result = array.reshape(product, array.concat([a_free, b_free], 0), name=scope)
        if a_static is not None and b_static is not None:
            result.set_shape(a_static + b_static)
        return result


def _tensordot_axes(a, axes):
    """(axes of a, axes of b), lists where they are known."""
    if isinstance(axes, (int, np.integer)) and not isinstance(axes, bool):
        if axes < 0:
            raise ValueError("'axes' must be at least 0.")
        rank = a.shape.rank
        if rank is not None:
            if axes > rank:
                raise ValueError(f"axes={axes} is more than the {rank} dimensions of {a}")
            return list(range(rank - axes, rank)), list(range(axes))
        rank = array.rank(a)
        return sequences.range(rank - axes, rank, dtype=dtypes.int32), sequences.range(axes, dtype=dtypes.int32)
    if isinstance(axes, (list, tuple)):
        if len(axes) != 2:
            raise ValueError(f"'axes' must be a number, or the axes of a and those of b; got {axes!r}")
        a_axes, b_axes = ([v] if isinstance(v, (int, np.integer)) else v for v in axes)
        if not isinstance(a_axes, Tensor) and not isinstance(b_axes, Tensor) and len(a_axes) != len(b_axes):
            raise ValueError(f"As many axes of a as of b are summed over; got {len(a_axes)} and {len(b_axes)}")
        return a_axes, b_axes
    axes = convert_to_tensor(axes, name="axes", dtype=dtypes.int32)
    return axes[0], axes[1]


def _as_matrix(a, axes, flipped=False):
    """(a as a matrix of free by contracted sides, or flipped; sizes of the free sides, known ones as a list; static
    sizes or None).
    """
    if isinstance(axes, (list, tuple)) and a.shape.rank is not None:
        sizes = a.shape.as_list()
        axes = [i + len(sizes) if i < 0 else i for i in axes]
        free = [i for i in range(len(sizes)) if i not in axes]
        static = [sizes[i] for i in free]
        if None not in sizes:
            matrix_shape = [
                int(np.prod(static, dtype=np.int64)),
                int(np.prod([sizes[i] for i in axes], dtype=np.int64)),
            ]
            perm = free + axes
            if flipped:
                perm, matrix_shape = axes + free, matrix_shape[::-1]
            return array.reshape(array.transpose(a, perm), matrix_shape), static, static
        axes = convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        free = convert_to_tensor(free, dtype=dtypes.int32, name="free")
        shape = array.shape(a)
    else:
        static = (
            [None] * (a.shape.rank - len(axes))
            if a.shape.rank is not None and isinstance(axes, (list, tuple))
            else None
        )
        shape, rank = array.shape(a), array.rank(a)
        axes = convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        axes = array.where(axes >= 0, axes, axes + rank)
        free, _ = array.setdiff1d(sequences.range(rank), axes)
    free_sizes = array.gather(shape, free)
    axes_sizes = array.gather(shape, axes)
    free_size = reductions.reduce_prod(free_sizes)
    axes_size = reductions.reduce_prod(axes_sizes)
    if flipped:
        perm = array.concat([axes, free], 0)
        matrix_shape = array.stack([axes_size, free_size])
    else:
        perm = array.concat([free, axes], 0)
        matrix_shape = array.stack([free_size, axes_size])
    return array.reshape(array.transpose(a, perm), matrix_shape), free_sizes, static


@shape_rule("MatMul", "SparseMatMul")
def matmul_shape(op):
    """The shape of a product of matrices; further inputs don't matter."""
    a, b = (t.shape.with_rank(2) for t in op.inputs[:2])
    a_inner, rows = a.sizes if op.attrs["transpose_a"] else a.sizes[::-1]
    b_inner, columns = b.sizes[::-1] if op.attrs["transpose_b"] else b.sizes
    same_size(a_inner, b_inner)
    return TensorShape([rows, columns])


@shape_rule("BatchMatMul", "BatchMatMulV2")
def _batch_matmul_shape(op):
    a, b = (t.shape.with_rank_at_least(2) for t in op.inputs)
    if a.rank is None or b.rank is None:
        if op.type == "BatchMatMulV2" or a.rank is b.rank:
            return unknown_shape()
        # Both have the same rank here, so the one that is known tells that of the other.
        a, b = a.merge_with(unknown_shape(rank=b.rank)), b.merge_with(unknown_shape(rank=a.rank))
    a_inner, rows = a.sizes[-2:] if op.attrs["adj_x"] else a.sizes[:-3:-1]
    b_inner, columns = b.sizes[:-3:-1] if op.attrs["adj_y"] else b.sizes[-2:]
    same_size(a_inner, b_inner)
    outer = broadcast(a[:-2], b[:-2]) if op.type == "BatchMatMulV2" else a[:-2].merge_with(b[:-2])
    return outer.concatenate([rows, columns])


@shape_rule("Cross")
def _cross_shape(op):
    shape = op.inputs[0].shape.with_rank_at_least(1).merge_with(op.inputs[1].shape.with_rank_at_least(1))
    if shape.rank is not None:
        shape.dims[-1].merge_with(3)
    return shape
