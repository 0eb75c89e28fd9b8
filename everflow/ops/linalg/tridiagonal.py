"""Tridiagonal matrices, given by their three diagonals: systems and products."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.shapes import same_size
from everflow.ops import array, math
from everflow.ops.linalg.decompositions import same_batch


def tridiagonal_solve(
    diagonals,
    rhs,
    diagonals_format="compact",
    transpose_rhs=False,
    conjugate_rhs=False,
    name=None,
    partial_pivoting=True,
):
    """x with A x = rhs for tridiagonal A. A is given as [..., 3, n] (`compact`: upper, main and lower diagonal), as three
    tensors (`sequence`) or in full (`matrix`).

    Args:
        diagonals: The matrices, as their format says.
        rhs: The right sides [..., n, k], or [..., n].
        diagonals_format: `compact`, `sequence` or `matrix`.
        transpose_rhs: Whether the right sides are transposed first.
        conjugate_rhs: Whether the right sides are conjugated first.
        name: The name of the operation in the graph.
        partial_pivoting: Whether rows are exchanged, which is more exact.

    Returns:
        The solutions, of the shape of `rhs`.

    Raises:
        ValueError: If the format isn't known, or shapes don't fit.

    Example:
        >>> sess.run(tf.linalg.tridiagonal_solve([[1.0, 0.0], [2.0, 2.0], [0.0, 1.0]], [3.0, 3.0]))
        array([1., 1.], dtype=float32)
    """
    if diagonals_format == "sequence":
        diagonals = _stacked(diagonals)
    elif diagonals_format == "matrix":
        diagonals = _read_diagonals(diagonals)
    elif diagonals_format != "compact":
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    return _solve_compact(diagonals, rhs, transpose_rhs, conjugate_rhs, partial_pivoting, name)


def _solve_compact(diagonals, rhs, transpose_rhs, conjugate_rhs, partial_pivoting, name):
    diagonals, rhs = _checked(convert_to_tensor(diagonals), convert_to_tensor(rhs))
    if rhs.shape.rank == diagonals.shape.rank - 1:  # one right-hand side a matrix
        if conjugate_rhs:
            rhs = math.conj(rhs)
        rhs = array.expand_dims(rhs, -1)
        result = raw.TridiagonalSolve(diagonals=diagonals, rhs=rhs, partial_pivoting=partial_pivoting, name=name)
        return array.squeeze(result, -1)
    if transpose_rhs:
        rhs = array.matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = math.conj(rhs)
    result = raw.TridiagonalSolve(diagonals=diagonals, rhs=rhs, partial_pivoting=partial_pivoting, name=name)
    return array.matrix_transpose(result) if transpose_rhs else result


def _checked(diagonals, rhs):
    rank, rhs_rank = len(diagonals.shape), len(rhs.shape)
    if rank < 2:
        raise ValueError(f"Diagonals are stacked in at least two dimensions; got the shape {diagonals.shape}")
    if rhs_rank not in (rank, rank - 1):
        raise ValueError(f"To diagonals of rank {rank} belongs a rhs of rank {rank - 1} or {rank}, not {rhs_rank}")
    count = diagonals.shape.size(-2)
    if count not in (None, 3):
        raise ValueError(f"Expected 3 diagonals got {count}")
    batch, rhs_batch = diagonals.shape[:-2], rhs.shape[: rank - 2]
    if not batch.is_compatible_with(rhs_batch):
        raise ValueError(f"Batch shapes {batch} and {rhs_batch} are incompatible")
    return diagonals, rhs


def _stacked(diagonals):
    if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
        raise ValueError("As a sequence, diagonals are three: above, on and below the main one")
    upper, middle, lower = (convert_to_tensor(d) for d in diagonals)
    size = middle.shape.size(-1)
    lower = _padded(lower, "subdiagonal", [1, 0], size)
    upper = _padded(upper, "superdiagonal", [0, 1], size)
    return array.stack((upper, middle, lower), axis=-2)


def _padded(diagonal, name, padding, size):
    """A side diagonal at the main one's length; the place added is not read."""
    have = diagonal.shape.size(-1)
    if have is None or have == size:
        return diagonal
    if have != size - 1:
        raise ValueError(f"Expected {name} to be have length {size} or {size - 1}, got {have}.")
    return array.pad(diagonal, [[0, 0]] * (diagonal.shape.rank - 1) + [padding])


def _side(matrix):
    """The size of a matrix, of which one side may be unknown."""
    rows, columns = matrix.shape.size(-2), matrix.shape.size(-1)
    if rows and columns and rows != columns:
        raise ValueError(f"A tridiagonal matrix is square, not {rows} by {columns}")
    size = rows or columns
    if not size:
        raise ValueError(f"diagonals_format='matrix' wants a matrix of known size; got the shape {matrix.shape}")
    return size


# Places of a reversed matrix [column, row] that a diagonal is read from; beyond its end, any place will do.
def _upper(i, size):
    return [i + 1, i] if i < size - 1 else [0, 0]


def _lower(i):
    return [i - 1, i] if i > 0 else [0, 0]


def _read_diagonals(matrix):
    matrix = convert_to_tensor(matrix)
    size = _side(matrix)
    places = [[_upper(i, size), [i, i], _lower(i)] for i in range(size)]
    return array.transpose(array.gather_nd(array.transpose(matrix), places))


def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """A rhs for a tridiagonal A, given as for `tridiagonal_solve`.

    Args:
        diagonals: The matrices, as their format says.
        rhs: Matrices [..., n, k].
        diagonals_format: `compact`, `sequence` or `matrix`.
        name: The name of the operation in the graph.

    Returns:
        Matrices [..., n, k].

    Raises:
        ValueError: If the format isn't known, or shapes don't fit.

    Example:
        >>> sess.run(tf.linalg.tridiagonal_matmul(tf.constant([[1.0, 0.0], [2.0, 2.0], [0.0, 1.0]]), tf.ones([2, 1])))
        array([[3.],
               [3.]], dtype=float32)
    """
    if diagonals_format == "compact":
        upper, middle, lower = (diagonals[..., i, :] for i in range(3))
    elif diagonals_format == "sequence":
        upper, middle, lower = diagonals
    elif diagonals_format == "matrix":
        diagonals = convert_to_tensor(diagonals)
        size = _side(diagonals)
        middle = array.matrix_diag_part(diagonals)
        reversed_matrix = array.transpose(diagonals)
        upper = array.transpose(array.gather_nd(reversed_matrix, [_upper(i, size) for i in range(size)]))
        lower = array.transpose(array.gather_nd(reversed_matrix, [_lower(i) for i in range(size)]))
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    upper, middle, lower = (array.expand_dims(d, -2) for d in (upper, middle, lower))
    return raw.TridiagonalMatMul(superdiag=upper, maindiag=middle, subdiag=lower, rhs=rhs, name=name)


def _at_least_matrix(tensor):
    if tensor.shape.rank is not None and tensor.shape.rank < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {tensor.shape.rank}")
    return tensor.shape


# Both results have the shape of the right-hand side; the other inputs are only checked against it.


@shape_rule("TridiagonalSolve")
def _tridiagonal_solve_shape(op):
    diagonals, rhs = (_at_least_matrix(t) for t in op.inputs)
    same_batch(diagonals[:-2], rhs[:-2])
    if diagonals.size(-2) not in (None, 3):
        raise ValueError(f"Dimension must be 3 but is {diagonals.size(-2)}")
    same_size(diagonals.size(-1), rhs.size(-2))
    return rhs


@shape_rule("TridiagonalMatMul")
def _tridiagonal_matmul_shape(op):
    *diagonals, rhs = (_at_least_matrix(t) for t in op.inputs)
    for diagonal in diagonals:
        same_batch(diagonal[:-2], rhs[:-2])
        if diagonal.size(-2) not in (None, 1):
            raise ValueError(f"Dimension must be 1 but is {diagonal.size(-2)}")
        same_size(diagonal.size(-1), rhs.size(-2))
    return rhs
