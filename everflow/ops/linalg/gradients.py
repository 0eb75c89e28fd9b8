"""Gradients of the matrix ops, as formulas in the ops' own results."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.registry import gradient
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, control_flow, math
from everflow.ops.array.constants import constant
from everflow.ops.linalg.decompositions import (
    adjoint,
    cholesky_solve,
    eye,
    matrix_inverse,
    matrix_solve,
    matrix_triangular_solve,
    regularized_gram_factor,
    self_adjoint_eig,
    svd,
)


@gradient("MatrixInverse")
def _matrix_inverse_grad(op, grad):
    inverse = op.outputs[0]
    return -math.matmul(inverse, math.matmul(grad, inverse, adjoint_b=True), adjoint_a=True)


@gradient("MatrixDeterminant")
def _matrix_determinant_grad(op, grad):
    a, determinant = op.inputs[0], op.outputs[0]
    inverse = matrix_inverse(a, adjoint=True)
    factor = array.reshape(grad * determinant, array.concat([array.shape(determinant), [1, 1]], 0))
    return factor * inverse


@gradient("LogMatrixDeterminant")
def _log_matrix_determinant_grad(op, _, grad):
    a, log_determinant = op.inputs[0], op.outputs[1]
    inverse = matrix_inverse(a, adjoint=True)
    factor = array.reshape(grad, array.concat([array.shape(log_determinant), [1, 1]], 0))
    return factor * inverse


@gradient("Cholesky")
def _cholesky_grad(op, grad):
    factor = op.outputs[0]
    size = array.shape(factor)[-1]
    batch_shape = array.shape(factor)[:-2]
    inverse = matrix_triangular_solve(factor, eye(size, batch_shape=batch_shape, dtype=factor.dtype))
    middle = math.matmul(factor, grad, adjoint_a=True)
    middle = array.matrix_set_diag(middle, 0.5 * array.matrix_diag_part(middle))
    middle = array.matrix_band_part(middle, -1, 0)
    grad_a = math.matmul(math.matmul(inverse, middle, adjoint_a=True), inverse)
    grad_a = grad_a + adjoint(grad_a)
    return grad_a * 0.5


@gradient("MatrixSolve")
def _matrix_solve_grad(op, grad):
    a, x = op.inputs[0], op.outputs[0]
    adjoint_a = op.attrs["adjoint"]
    grad_rhs = matrix_solve(a, grad, adjoint=not adjoint_a)
    first, second = (x, grad_rhs) if adjoint_a else (grad_rhs, x)
    return -math.matmul(first, second, adjoint_b=True), grad_rhs


@gradient("MatrixTriangularSolve")
def _matrix_triangular_solve_grad(op, grad):
    a, x = op.inputs[0], op.outputs[0]
    adjoint_a, lower = op.attrs["adjoint"], op.attrs["lower"]
    grad_rhs = matrix_triangular_solve(a, grad, lower=lower, adjoint=not adjoint_a)
    first, second = (x, grad_rhs) if adjoint_a else (grad_rhs, x)
    grad_a = -math.matmul(first, second, adjoint_b=True)
    return array.matrix_band_part(grad_a, -1, 0) if lower else array.matrix_band_part(grad_a, 0, -1), grad_rhs


@gradient("MatrixSolveLs")
def _matrix_solve_ls_grad(op, grad):
    """Of the Cholesky path; the orthogonal factorisation has none."""
    if not op.attrs["fast"]:
        raise ValueError("Gradient not defined for fast=False")
    a, b, l2_regularizer = op.inputs
    x = op.outputs[0]

    def tall():
        factor = regularized_gram_factor(a, math.cast(l2_regularizer, a.dtype.base_dtype), True)
        z = cholesky_solve(factor, grad)
        xz = math.matmul(x, z, adjoint_b=True)
        symmetric = xz + array.matrix_transpose(xz)
        grad_a = -math.matmul(a, symmetric) + math.matmul(b, z, adjoint_b=True)
        return grad_a, math.matmul(a, z)

    def wide():
        factor = regularized_gram_factor(a, math.cast(l2_regularizer, a.dtype.base_dtype), False)
        grad_b = cholesky_solve(factor, math.matmul(a, grad))
        z = cholesky_solve(factor, b)
        grad_a = -math.matmul(grad_b, math.matmul(z, a, adjoint_a=True))
        rest = grad - math.matmul(a, grad_b, adjoint_a=True)
        return grad_a + math.matmul(z, rest, adjoint_b=True), grad_b

    sides = a.shape[-2:]
    if sides.is_fully_defined():
        return (*(tall() if int(sides.dims[-2]) >= int(sides.dims[-1]) else wide()), None)
    sides = array.shape(a)[-2:]
    return (*control_flow.cond(sides[-2] >= sides[-1], tall, wide), None)


@gradient("Qr")
def _qr_grad(op, grad_q, grad_r):
    q, r = op.outputs
    if q.dtype.is_complex:
        raise NotImplementedError(f"QrGrad not implemented for dtype: {q.dtype}")
    if None in (r.shape.rank, r.shape.size(-2), r.shape.size(-1)):
        raise NotImplementedError("QrGrad not implemented with dynamic shapes.")
    if r.shape.size(-2) != r.shape.size(-1):
        raise NotImplementedError(f"QR has a gradient only where r is square; here its shape is {r.shape}")
    q_part = math.matmul(q, grad_q, adjoint_a=True)
    q_skew = q_part - adjoint(q_part)
    r_part = math.matmul(r, grad_r, adjoint_b=True)
    r_skew = r_part - adjoint(r_part)
    lower = array.matrix_band_part(q_skew + r_skew, -1, 0)

    def times_inverse_of_r(x):
        """x r⁻ᴴ, by a triangular solve."""
        return adjoint(matrix_triangular_solve(r, adjoint(x), lower=False, adjoint=False))

    inside = math.matmul(q, grad_r + times_inverse_of_r(lower))
    outside = times_inverse_of_r(grad_q - math.matmul(q, q_part))
    return inside + outside


@gradient("SelfAdjointEigV2")
def _self_adjoint_eig_grad(op, grad_e, grad_v):
    values, a = op.outputs[0], op.inputs[0]
    with control_dependencies([grad_e, grad_v]):
        if op.attrs["compute_v"]:
            vectors = op.outputs[1]
            gaps = array.expand_dims(values, -2) - array.expand_dims(values, -1)
            f = array.matrix_set_diag(math.reciprocal(gaps), array.zeros_like(values))
            middle = array.matrix_diag(grad_e) + f * math.matmul(vectors, grad_v, adjoint_a=True)
            grad_a = math.matmul(vectors, math.matmul(middle, vectors, adjoint_b=True))
        else:
            _, vectors = self_adjoint_eig(a)
            grad_a = math.matmul(vectors, math.matmul(array.matrix_diag(grad_e), vectors, adjoint_b=True))
        # The op reads the lower triangle alone.
        grad_a = array.matrix_band_part(grad_a + adjoint(grad_a), -1, 0)
        return array.matrix_set_diag(grad_a, 0.5 * array.matrix_diag_part(grad_a))


@gradient("Svd")
def _svd_grad(op, grad_s, grad_u, grad_v):
    a = op.inputs[0]
    grad_s_matrix = array.matrix_diag(grad_s)
    if not op.attrs["compute_uv"]:
        _, u, v = svd(a, compute_uv=True)
        grad_a = math.matmul(u, math.matmul(grad_s_matrix, v, adjoint_b=True))
        grad_a.set_shape(a.shape)
        return grad_a
    if a.dtype.is_complex:
        raise NotImplementedError(f"The SVD of {a.dtype.name} has a gradient with compute_uv=False only")
    shape = a.shape.with_rank_at_least(2)
    rows, columns = shape.size(-2), shape.size(-1)
    if rows is None or columns is None:
        raise NotImplementedError(f"The SVD has a gradient only for matrices of known size; got the shape {a.shape}")
    s, u, v = op.outputs
    s = math.cast(math.real(s), a.dtype) if s.dtype != a.dtype else s
    # A tall matrix is done as the transpose of a wide one.
    transposed = rows > columns
    if transposed:
        rows, columns = columns, rows
        u, v, grad_u, grad_v = v, u, grad_v, grad_u
    with control_dependencies([grad_s, grad_u, grad_v]):
        full = op.attrs["full_matrices"]
        if full and abs(rows - columns) > 1:
            raise NotImplementedError(
                f"With full_matrices the SVD of {rows} by {columns} has no gradient: the sides may differ by one at most"
            )
        s_matrix = array.matrix_diag(s)
        squares = math.square(s)
        s_shape = array.shape(s)
        identity = eye(s_shape[-1], batch_shape=s_shape[:-1], dtype=a.dtype)
        # Equal singular values give no infinity: the diagonal is set aside before dividing.
        gaps = array.expand_dims(squares, -2) - array.expand_dims(squares, -1) + identity
        f = array.matrix_set_diag(math.reciprocal(gaps), array.zeros_like(s))
        s_inverse = array.matrix_diag(math.reciprocal(s))
        v1, grad_v1 = v[..., :, :rows], grad_v[..., :, :rows]
        u_part, v_part = math.matmul(u, grad_u, adjoint_a=True), math.matmul(v1, grad_v1, adjoint_a=True)
        f_u, f_v = f * u_part, f * v_part
        middle = grad_s_matrix + math.matmul(f_u + adjoint(f_u), s_matrix) + math.matmul(s_matrix, f_v + adjoint(f_v))
        grad_a = math.matmul(u, math.matmul(middle, v1, adjoint_b=True))
        if rows != columns:
            grad_v1_t = array.matrix_transpose(grad_v1)
            term = grad_v1_t - math.matmul(math.matmul(grad_v1_t, v1), v1, adjoint_b=True)
            if full:
                v2, grad_v2 = v[..., :, rows:columns], grad_v[..., :, rows:columns]
                term = term - math.matmul(math.matmul(v1, grad_v2, adjoint_a=True), v2, adjoint_b=True)
            grad_a = grad_a + math.matmul(math.matmul(u, s_inverse), term)
        if transposed:
            grad_a = array.matrix_transpose(grad_a)
        grad_a.set_shape(shape)
        return grad_a


@gradient("MatrixSquareRoot")
def _matrix_square_root_grad(op, grad):
    """Solves root grad_a + grad_a root = grad, a Sylvester equation, through Kronecker products."""

    def kronecker(b, c):
        b_shape, c_shape = array.shape(b), array.shape(c)
        b_size, c_size = b_shape[-1], c_shape[-1]
        rank = array.size(b_shape)
        batch = array.slice_(b_shape, [0], [math.subtract(rank, 2)])
        b_spread = array.concat([batch, [b_size], [1], [b_size], [1]], 0)
        c_spread = array.concat([batch, [1], [c_size], [1], [c_size]], 0)
        b, c = array.reshape(b, b_spread), array.reshape(c, c_spread)
        size = b_size * c_size
        joined = array.concat([batch, [size], [size]], 0)
        return array.reshape(b * c, joined)

    root = op.outputs[0]
    shape = array.shape(root)
    size = shape[-1]
    count = math.reduce_prod(shape[0:-2])
    identity = array.reshape(array.tile(array.reshape(eye(size, dtype=root.dtype), [-1]), [count]), shape)
    root_transpose = array.matrix_transpose(root)
    k1, k2 = kronecker(identity, root_transpose), kronecker(root, identity)
    total = math.add(k1, k2)
    batch = array.slice_(shape, [0], [math.subtract(array.size(shape), 2)])
    square = size * size
    as_vector = array.concat([batch, [square], [1]], 0)
    vector = array.reshape(array.matrix_transpose(grad), as_vector)
    solved = matrix_solve(total, vector)
    return array.matrix_transpose(array.reshape(solved, shape))


@gradient("TridiagonalSolve")
def _tridiagonal_solve_grad(op, grad):
    diagonals, x = op.inputs[0], op.outputs[0]
    transposed = _transposed_diagonals(diagonals)
    grad_rhs = raw.TridiagonalSolve(diagonals=transposed, rhs=grad, partial_pivoting=op.attrs["partial_pivoting"])
    return -_products_on_diagonals(grad_rhs, x), grad_rhs


def _transposed_diagonals(diagonals):
    """The diagonals of the adjoint."""
    middle = diagonals[..., 1, :]
    if diagonals.shape.is_fully_defined():
        zeros = array.zeros(diagonals.shape[:-2].concatenate([1]), dtype=diagonals.dtype)
    else:
        zeros = array.zeros(array.concat((array.shape(diagonals)[:-2], [1]), axis=0), dtype=diagonals.dtype)
    upper = array.concat((diagonals[..., 2, 1:], zeros), axis=-1)
    lower = array.concat((zeros, diagonals[..., 0, :-1]), axis=-1)
    return array.stack([upper, middle, lower], axis=-2)


def _products_on_diagonals(x, y):
    """The three diagonals of x yᵀ."""
    middle = math.reduce_sum(x * y, axis=-1)
    if y.shape.is_fully_defined():
        zeros = array.zeros(y.shape[:-2].concatenate([1, y.shape[-1]]), dtype=y.dtype)
    else:
        y_shape = array.shape(y)
        zeros = array.zeros(array.concat((y_shape[:-2], [1, y_shape[-1]]), axis=0), dtype=y.dtype)
    upper = math.reduce_sum(x * array.concat((y[..., 1:, :], zeros), axis=-2), axis=-1)
    lower = math.reduce_sum(x * array.concat((zeros, y[..., :-1, :]), axis=-2), axis=-1)
    return array.stack([upper, middle, lower], axis=-2)


@gradient("TridiagonalMatMul")
def _tridiagonal_matmul_grad(op, grad):
    superdiag, maindiag, subdiag = (array.matrix_transpose(d, conjugate=True) for d in op.inputs[:3])
    rhs = math.conj(op.inputs[3])
    grad_upper = math.reduce_sum(_shifted_up(rhs) * grad, axis=-1)
    grad_middle = math.reduce_sum(rhs * grad, axis=-1)
    grad_lower = math.reduce_sum(_shifted_down(rhs) * grad, axis=-1)
    grad_rhs = _shifted_down(superdiag * grad) + maindiag * grad + _shifted_up(subdiag * grad)
    return (*(array.expand_dims(g, -2) for g in (grad_upper, grad_middle, grad_lower)), grad_rhs)


def _paddings(x, before, after):
    """Paddings of the second-to-last dimension alone."""
    leading = array.zeros([array.rank(x) - 2, 2], dtype=dtypes.int32)
    return array.concat((leading, constant([[before, after], [0, 0]])), axis=0)


def _shifted_up(x):
    """Row i + 1 in the place of row i, zeros in the last one."""
    paddings = _paddings(x, 0, 1)
    return array.pad(x[..., 1:, :], paddings)


def _shifted_down(x):
    paddings = _paddings(x, 1, 0)
    return array.pad(x[..., :-1, :], paddings)
