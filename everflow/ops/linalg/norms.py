"""Norms, ranks and pseudo-inverses: what is built from singular values and sums."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, control_flow, math
from everflow.ops.checks import shapes as check
from everflow.ops.control_flow import maps as functional
from everflow.ops.linalg.decompositions import svd

_MATRIX_NORMS = ["euclidean", "fro", 1, 2, np.inf]


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None):
    """The norm of vectors along one axis, of matrices along a pair of axes, or of a whole tensor as one vector.

    Args:
        tensor: The numbers.
        ord: Which norm: `euclidean` (or `fro`), 1, 2, `np.inf` or any positive number.
        axis: The axis of vectors, a pair of axes of matrices, or None for all as one vector.
        keepdims: Whether axes that are reduced stay, with the length 1.
        name: The name of the operation in the graph.
        keep_dims: An older name of `keepdims`.

    Returns:
        The norms.

    Raises:
        ValueError: If the norm isn't known for vectors, or matrices.

    Example:
        >>> sess.run(tf.norm([[3.0, 4.0]], axis=1))
        array([5.], dtype=float32)
    """
    keepdims = _either_keepdims(keepdims, keep_dims)
    is_matrix = isinstance(axis, (tuple, list))
    axis = _axes(axis)
    if is_matrix:
        if ord not in _MATRIX_NORMS:
            raise ValueError(f"'ord' must be a supported matrix norm, one of {_MATRIX_NORMS}, not {ord!r}")
    elif ord != "euclidean" and not (np.isreal(ord) and ord > 0):
        raise ValueError(f"'ord' must be a supported vector norm, 'euclidean' or a positive number, not {ord!r}")
    with name_scope(name, "norm", [tensor]):
        tensor = convert_to_tensor(tensor)
        if ord in ("fro", "euclidean") or (ord == 2 and not is_matrix):
            squares = math.reduce_sum(tensor * math.conj(tensor), axis, keepdims=True)
            result = math.sqrt(squares)
        elif is_matrix and ord == 2:
            result = _largest_singular_value(tensor, axis)
        else:
            result = _by_absolute_values(math.abs(tensor), ord, axis, is_matrix)
        return result if keepdims else array.squeeze(result, axis)


def _either_keepdims(keepdims, keep_dims):
    if keep_dims is not None:
        if keepdims is not None:
            raise ValueError("Cannot specify both 'keep_dims' and 'keepdims'")
        return keep_dims
    return bool(keepdims)


def _axes(axis):
    """The one axis of vectors or the two of matrices, as a tuple; None for a whole tensor."""
    if axis is None:
        return None
    axes, count = (tuple(axis), 2) if isinstance(axis, (tuple, list)) else ((axis,), 1)
    if not all(isinstance(a, (int, np.integer)) for a in axes) or len(axes) != count or len(set(axes)) != count:
        raise ValueError(f"'axis' is a number for vectors, two different ones for matrices, or None; got {axis!r}")
    return axes


def _by_absolute_values(size, ord, axis, is_matrix):
    first = None if axis is None else axis[0]
    if ord == 1:
        result = math.reduce_sum(size, first, keepdims=True)
        return math.reduce_max(result, axis[-1], keepdims=True) if is_matrix else result
    if ord == np.inf:
        if is_matrix:
            size = math.reduce_sum(size, axis[1], keepdims=True)
        return math.reduce_max(size, first, keepdims=True)
    return math.pow(math.reduce_sum(math.pow(size, ord), axis, keepdims=True), 1.0 / ord)


def _largest_singular_value(tensor, axis):
    """The spectral norm over any two axes: they are moved to the end and the result's back."""
    rank = array.rank(tensor)

    def from_the_front(i):
        return control_flow.cond(i >= 0, lambda: i, lambda: i + rank)

    axis = functional.map_fn(from_the_front, convert_to_tensor(axis))
    axes = math.range(rank)
    before = array.concat([array.setdiff1d(axes, axis)[0], axis], axis=0)

    def position(i):
        return math.cast(array.squeeze(array.where_v2(math.equal(before, i))), dtypes.int32)

    after = functional.map_fn(position, axes)
    moved = array.transpose(tensor, perm=before)
    largest = math.reduce_max(math.abs(raw.Svd(input=moved, compute_uv=False)[0]), axis=-1, keepdims=True)
    return array.transpose(array.expand_dims(largest, axis=-1), perm=after)


def norm_v2(tensor, ord="euclidean", axis=None, keepdims=None, name=None):
    """As `norm`, without the name that its `keepdims` had once."""
    return norm(tensor, ord, axis, keepdims, name)


def normalize(tensor, ord="euclidean", axis=None, name=None):
    """(tensor / norm, norm), with the norm's axes kept at size 1.

    Args:
        tensor: The numbers.
        ord: Which norm: `euclidean`, 1, 2, `np.inf` or any positive number.
        axis: The axis of vectors, a pair of axes of matrices, or None for all as one vector.
        name: The name of the operation in the graph.

    Returns:
        The tensor at norm 1, and the norms.

    Example:
        >>> sess.run(tf.linalg.normalize([3.0, 4.0]))
        (array([0.6, 0.8], dtype=float32), array([5.], dtype=float32))
    """
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        size = norm(tensor, ord, axis, keepdims=True)
        size = math.cast(size, tensor.dtype)
        return tensor / size, size


def matrix_rank(a, tol=None, validate_args=False, name=None):
    """How many singular values of each matrix exceed `tol`; by default, what rounding may leave of a zero.

    Args:
        a: Matrices [..., n, m].
        tol: What singular values must exceed.
        validate_args: Whether the matrices are checked while the graph runs.
        name: The name of the operation in the graph.

    Returns:
        Numbers [...], int32.

    Example:
        >>> sess.run(tf.linalg.matrix_rank(tf.constant([[1.0, 2.0], [2.0, 4.0]])))
        np.int32(1)
    """
    with name_scope(name, "matrix_rank", [a, tol]):
        a = convert_to_tensor(a, dtype_hint=dtypes.float32, name="a")
        with control_dependencies(_matrix_checks(a, validate_args)):
            values = svd(a, compute_uv=False)
            if tol is None:
                sides = a.shape[-2:]
                largest = np.max(sides.as_list()) if sides.is_fully_defined() else math.reduce_max(array.shape(a)[-2:])
                epsilon = np.finfo(a.dtype.as_numpy_dtype).eps
                tol = epsilon * math.cast(largest, a.dtype) * math.reduce_max(values, axis=-1, keepdims=True)
            return math.reduce_sum(math.cast(values > tol, dtypes.int32), axis=-1)


def pinv(a, rcond=None, validate_args=False, name=None):
    """The Moore-Penrose pseudo-inverse; singular values below `rcond` times the largest count as zero.

    Args:
        a: Matrices [..., n, m].
        rcond: The part of the largest singular value below which others count as zero; by the type's precision if None.
        validate_args: Whether the matrices are checked while the graph runs.
        name: The name of the operation in the graph.

    Returns:
        Matrices [..., m, n].

    Example:
        >>> sess.run(tf.linalg.pinv(tf.constant([[2.0, 0.0], [0.0, 0.0]])))
        array([[0.5, 0. ],
               [0. , 0. ]], dtype=float32)
    """
    with name_scope(name or "pinv"):
        a = convert_to_tensor(a, name="a")
        with control_dependencies(_matrix_checks(a, validate_args)):
            dtype = a.dtype.as_numpy_dtype
            if rcond is None:
                rcond = _default_rcond(a, dtype)
            rcond = convert_to_tensor(rcond, dtype=dtype, name="rcond")
            values, left, right = svd(a, full_matrices=False, compute_uv=True)
            cutoff = rcond * math.reduce_max(values, axis=-1)
            values = array.where_v2(values > array.expand_dims(cutoff, -1), values, np.array(np.inf, dtype))
            inverse = math.matmul(right / array.expand_dims(values, -2), left, adjoint_b=True)
            if a.shape.rank is not None:
                inverse.set_shape(a.shape[:-2].concatenate([a.shape[-1], a.shape[-2]]))
            return inverse


def _default_rcond(a, dtype):
    rows, columns = a.shape.size(-2), a.shape.size(-1)
    epsilon = np.finfo(dtype).eps
    if rows is not None and columns is not None:
        return 10.0 * max(rows, columns) * epsilon
    largest = math.maximum(
        array.shape(a)[-2] if rows is None else rows,
        array.shape(a)[-1] if columns is None else columns,
    )
    return 10.0 * math.cast(largest, a.dtype) * epsilon


def _matrix_checks(a, validate_args):
    """Checks that `a` is a matrix of floats: what is known is checked now, the rest gives an assertion."""
    if not a.dtype.is_floating:
        raise TypeError(f"A matrix of floats is wanted; `a` is of dtype {a.dtype.name}")
    if a.shape.rank is not None:
        if a.shape.rank < 2:
            raise ValueError(f"A matrix has at least two dimensions; `a` has the shape {a.shape}")
        return []
    if validate_args:
        return [check.assert_rank_at_least(a, rank=2, message="Input `a` must have at least 2 dimensions.")]
    return []
