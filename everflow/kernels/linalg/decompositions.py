"""Matrix kernels: decompositions, solvers, determinants and matrix functions, over the last two dimensions."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import FailedPreconditionError, InvalidArgumentError
from everflow.kernels.linalg import signs as linalg_signs
from everflow.kernels.registry import fresh, library
from everflow.kernels.tensors import Value, torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

_NOT_INVERTIBLE = "Input is not invertible."
_MATRIX_NOT_INVERTIBLE = "Input matrix is not invertible."


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


def _in_float32(
    function: Callable[..., torch.Tensor | tuple[torch.Tensor, ...]],
) -> Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]:
    """LAPACK has no half precision: compute in float32 and come back."""

    @functools.wraps(function)
    def wrapped(*inputs: torch.Tensor, **attributes: bool) -> torch.Tensor | tuple[torch.Tensor, ...]:
        if inputs[0].dtype is not torch.float16:
            return function(*inputs, **attributes)
        result = function(*[x.float() if x.dtype is torch.float16 else x for x in inputs], **attributes)
        if isinstance(result, tuple):
            return tuple(x.half() if x.is_floating_point() else x for x in result)
        return result.half()

    return wrapped


def _check_rank(*inputs: torch.Tensor) -> None:
    for i, x in enumerate(inputs):
        if x.dim() < 2:
            raise _invalid(f"Input tensor {i} must have rank >= 2, got {x.dim()}")
        if x.dim() != inputs[0].dim():
            raise _invalid("All input tensors must have the same rank.")
        if x.shape[:-2] != inputs[0].shape[:-2]:
            raise _invalid("All input tensors must have the same outer dimensions.")


def _check_square(x: torch.Tensor) -> None:
    _check_rank(x)
    if x.shape[-1] != x.shape[-2]:
        raise _invalid("Input matrix must be square.")


def _check_solve(matrix: torch.Tensor, rhs: torch.Tensor, square: bool = True) -> None:
    _check_rank(matrix, rhs)
    if square and matrix.shape[-1] != matrix.shape[-2]:
        raise _invalid("First input (lhs) must be a square matrix.")
    if matrix.shape[-2] != rhs.shape[-2]:
        raise _invalid("Input matrix and rhs are incompatible.")


@library("Cholesky", "BatchCholesky")
@_in_float32
def cholesky(x: torch.Tensor) -> torch.Tensor:
    _check_square(x)
    factor, info = torch.linalg.cholesky_ex(x)
    # LAPACK reports NaN as a failure too; TensorFlow hands NaN on.
    if info.any() and not torch.isnan(x).any():
        raise _invalid("Cholesky decomposition was not successful. The input might not be valid.")
    return factor


@library("CholeskyGrad", "BatchCholeskyGrad")
@_in_float32
def cholesky_grad(factor: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
    """The gradient of a Cholesky factor, symmetrised, as the dedicated op gives it."""
    _check_square(factor)
    middle = torch.tril(factor.mH @ torch.tril(grad))
    middle.diagonal(dim1=-2, dim2=-1).mul_(0.5)
    half = torch.linalg.solve_triangular(factor.mH, middle, upper=True)
    full = torch.linalg.solve_triangular(factor, half, upper=False, left=False)
    return (full + full.mH) / 2


@library("MatrixInverse", "BatchMatrixInverse")
@_in_float32
def matrix_inverse(x: torch.Tensor, *, adjoint: bool) -> torch.Tensor:
    _check_square(x)
    inverse, info = torch.linalg.inv_ex(x.mH if adjoint else x)
    if info.any():
        raise _invalid(_NOT_INVERTIBLE)
    return inverse


@library("MatrixDeterminant", "BatchMatrixDeterminant")
@_in_float32
def matrix_determinant(x: torch.Tensor) -> torch.Tensor:
    _check_square(x)
    return torch.linalg.det(x)


@library("LogMatrixDeterminant")
@_in_float32
def log_matrix_determinant(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    _check_square(x)
    sign, log_abs = torch.linalg.slogdet(x)
    return sign, log_abs.to(x.dtype)


def _complex_lu(x: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """LU with partial pivoting by absolute value; LAPACK compares |re| + |im| instead and picks other rows."""
    lu = x.numpy().copy()
    size = lu.shape[-1]
    permutation = np.arange(size)
    for k in range(size):
        pivot = k + int(np.argmax(np.abs(lu[k:, k])))
        if lu[pivot, k] == 0:
            raise _invalid(_NOT_INVERTIBLE)
        lu[[k, pivot]] = lu[[pivot, k]]
        permutation[[k, pivot]] = permutation[[pivot, k]]
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    return lu, permutation


@library("Lu")
@_in_float32
def lu(x: torch.Tensor, *, output_idx_type: DType) -> tuple[torch.Tensor, torch.Tensor]:
    _check_square(x)
    index_type = torch_dtype(output_idx_type)
    size = x.shape[-1]
    if x.numel() == 0:
        return torch.empty_like(x), torch.empty(x.shape[:-1], dtype=index_type)
    if x.is_complex():
        parts = [_complex_lu(m) for m in x.resolve_conj().reshape(-1, size, size)]
        factors = np.array([p[0] for p in parts], dtype=x.numpy().dtype).reshape(x.shape)
        rows = np.array([p[1] for p in parts], dtype=np.int64).reshape(x.shape[:-1])
        return torch.from_numpy(factors), torch.from_numpy(rows).to(index_type)
    factors, pivots, info = torch.linalg.lu_factor_ex(x)
    if info.any():
        raise _invalid(_NOT_INVERTIBLE)
    permutation = torch.arange(size).expand(x.shape[:-1]).clone()
    flat, swaps = permutation.view(-1, size), pivots.reshape(-1, size).tolist()
    for row, order in zip(flat, swaps):
        for i, j in enumerate(order):
            if j - 1 != i:
                row[[i, j - 1]] = row[[j - 1, i]]
    return factors, permutation.to(index_type)


@library("Qr")
@_in_float32
def qr(x: torch.Tensor, *, full_matrices: bool) -> tuple[torch.Tensor, torch.Tensor]:
    _check_rank(x)
    return tuple(torch.linalg.qr(x, mode="complete" if full_matrices else "reduced"))


@library("Svd", "BatchSvd")
@_in_float32
def svd(x: torch.Tensor, *, compute_uv: bool, full_matrices: bool) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    _check_rank(x)
    if not torch.isfinite(torch.view_as_real(x.resolve_conj()) if x.is_complex() else x).all():
        return _svd_of_nan(x, compute_uv, full_matrices)
    if not compute_uv:
        empty = x.new_empty((0,))
        return torch.linalg.svdvals(x).to(x.dtype), empty, empty
    u, s, vh = torch.linalg.svd(x, full_matrices=full_matrices)
    v = vh.mH
    rank = s.shape[-1]
    if _few_and_small(x, linalg_signs.LARGEST_SINGULAR):
        signs = _signs(linalg_signs.singular_signs, x, u[..., :rank], v[..., :rank])
        u[..., :rank] *= signs
        v[..., :rank] *= signs
    return s.to(x.dtype), u, v


def _few_and_small(x: torch.Tensor, largest: int) -> bool:
    """Whether it is worth to find the signs of TensorFlow's vectors: those of real matrices, few and small."""
    return not x.is_complex() and x.shape[-1] <= largest and 0 < x.numel() <= linalg_signs.MOST_ELEMENTS


def _signs(function: Callable[..., np.ndarray], *matrices: torch.Tensor) -> torch.Tensor:
    """[..., 1, n] of 1 and -1 for the columns of vectors, by a function of one matrix and its vectors."""
    flat = [m.reshape(-1, *m.shape[-2:]).numpy() for m in matrices]
    found = np.stack([function(*each) for each in zip(*flat)])
    return torch.from_numpy(found).to(matrices[0].dtype).view(*matrices[0].shape[:-2], 1, -1)


def _svd_of_nan(
    x: torch.Tensor, compute_uv: bool, full_matrices: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """TensorFlow gives NaN values and unit vectors where the input holds NaN or infinity; LAPACK refuses."""
    rows, columns = x.shape[-2:]
    rank = min(rows, columns)
    finite = torch.isfinite(x.abs()).flatten(-2).all(-1)
    values = torch.full((*x.shape[:-2], rank), float("nan"), dtype=x.dtype)
    if not compute_uv:
        values[finite] = torch.linalg.svdvals(x[finite]).to(x.dtype)
        return values, x.new_empty((0,)), x.new_empty((0,))
    u = torch.eye(rows, rows if full_matrices else rank, dtype=x.dtype).repeat(*x.shape[:-2], 1, 1)
    v = torch.eye(columns, columns if full_matrices else rank, dtype=x.dtype).repeat(*x.shape[:-2], 1, 1)
    if finite.any():
        values[finite], u[finite], v[finite] = svd(x[finite], compute_uv=True, full_matrices=full_matrices)
    return values, u, v


@library("SelfAdjointEigV2", "BatchSelfAdjointEigV2")
@_in_float32
def self_adjoint_eig(x: torch.Tensor, *, compute_v: bool) -> tuple[torch.Tensor, torch.Tensor]:
    _check_square(x)
    if torch.isnan(x).any():
        raise _invalid("Self-adjoint eigen decomposition was not successful. The input might not be valid.")
    if not compute_v:
        return torch.linalg.eigvalsh(x).to(x.dtype), x.new_empty((0,))
    values, vectors = torch.linalg.eigh(x)
    if _few_and_small(x, linalg_signs.LARGEST_EIGEN):
        vectors = vectors * _signs(linalg_signs.eigen_signs, x, vectors)
    return values.to(x.dtype), vectors


@library("SelfAdjointEig", "BatchSelfAdjointEig")
def self_adjoint_eig_packed(x: torch.Tensor) -> torch.Tensor:
    """The first version of the op: one output with the values as its first row, the vectors below."""
    values, vectors = self_adjoint_eig(x, compute_v=True)
    return torch.cat([values.unsqueeze(-2), vectors], dim=-2)


@library("MatrixSolve", "BatchMatrixSolve")
@_in_float32
def matrix_solve(matrix: torch.Tensor, rhs: torch.Tensor, *, adjoint: bool) -> torch.Tensor:
    _check_solve(matrix, rhs)
    result, info = torch.linalg.solve_ex(matrix.mH if adjoint else matrix, rhs)
    if info.any():
        raise _invalid(_MATRIX_NOT_INVERTIBLE)
    return result


@library("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
@_in_float32
def matrix_triangular_solve(matrix: torch.Tensor, rhs: torch.Tensor, *, lower: bool, adjoint: bool) -> torch.Tensor:
    _check_solve(matrix, rhs)
    if (matrix.diagonal(dim1=-2, dim2=-1) == 0).any():
        raise _invalid(_MATRIX_NOT_INVERTIBLE)
    # Cut before the adjoint: LAPACK reads one triangle, whatever the other one holds.
    return torch.linalg.solve_triangular(matrix.mH if adjoint else matrix, rhs, upper=lower == adjoint)


@library("MatrixSolveLs", "BatchMatrixSolveLs")
@_in_float32
def matrix_solve_ls(
    matrix: torch.Tensor, rhs: torch.Tensor, l2_regularizer: torch.Tensor, *, fast: bool
) -> torch.Tensor:
    _check_solve(matrix, rhs, square=False)
    rows, columns = matrix.shape[-2:]
    if not matrix.numel() or not rhs.numel():
        return matrix.new_zeros((*matrix.shape[:-2], columns, rhs.shape[-1]))
    if not fast:
        # The complete orthogonal factorisation: of all solutions the one with the least norm.
        return torch.linalg.lstsq(matrix, rhs, driver="gelsy").solution
    tall = rows >= columns
    gram = matrix.mH @ matrix if tall else matrix @ matrix.mH
    gram = gram + float(l2_regularizer) * torch.eye(gram.shape[-1], dtype=gram.dtype)
    factor, info = torch.linalg.cholesky_ex(gram)
    if info.any():
        raise _invalid(
            "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger l2_regularizer > 0."
        )
    if tall:
        return torch.cholesky_solve(matrix.mH @ rhs, factor)
    return matrix.mH @ torch.cholesky_solve(rhs, factor)


def _by_matrix(function: Callable[..., np.ndarray]) -> Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]:
    """A kernel that applies a function of one numpy matrix to each matrix of a batch."""

    @_in_float32
    def apply(x: torch.Tensor) -> torch.Tensor:
        _check_square(x)
        size = x.shape[-1]
        array = x.resolve_conj().numpy()
        if not array.size:
            return x
        results = [_cast_like(function(m), array.dtype) for m in array.reshape(-1, size, size)]
        return torch.from_numpy(np.stack(results).reshape(array.shape))

    return apply


def _cast_like(result: np.ndarray, dtype: Value) -> np.ndarray:
    """A real matrix whose function is complex has no real answer: NaN, as TensorFlow gives."""
    if np.iscomplexobj(result) and not np.issubdtype(dtype, np.complexfloating):
        if np.abs(result.imag).max(initial=0) > 1e-6 * max(1.0, np.abs(result).max(initial=0)):
            return np.full(result.shape, np.nan, dtype)
        result = result.real
    return result.astype(dtype)


def _square_root(matrix: np.ndarray) -> np.ndarray:
    from scipy import linalg

    return linalg.sqrtm(matrix)


def _logarithm(matrix: np.ndarray) -> np.ndarray:
    from scipy import linalg

    if not matrix.any():
        return np.full_like(matrix, np.nan)
    with warnings.catch_warnings():
        # scipy remarks on accuracy in single precision, which is all that was asked for.
        warnings.simplefilter("ignore", RuntimeWarning)
        return linalg.logm(matrix)


library("MatrixSquareRoot")(_by_matrix(_square_root))
library("MatrixLogarithm")(_by_matrix(_logarithm))


@library("MatrixExponential")
@_in_float32
def matrix_exponential(x: torch.Tensor) -> torch.Tensor:
    _check_square(x)
    return torch.linalg.matrix_exp(x)


@fresh("Cross")
def cross(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.shape != b.shape:
        raise _invalid(f"Both inputs must be of same shape: {list(a.shape)} vs. {list(b.shape)}".replace(", ", ","))
    if a.dim() < 1:
        raise _invalid("Input must be at least 1D")
    if a.shape[-1] != 3:
        raise FailedPreconditionError(None, None, "Cross-products are only defined for 3-element vectors.")
    if a.dtype in (torch.uint16, torch.uint32, torch.uint64):
        # torch has no arithmetic on these; products wrap alike in the signed type of the same width.
        signed = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}[a.dtype]
        return cross(a.view(signed), b.view(signed)).view(a.dtype)
    (a0, a1, a2), (b0, b1, b2) = a.unbind(-1), b.unbind(-1)
    return torch.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], dim=-1)


@library("TridiagonalMatMul")
def tridiagonal_matmul(
    superdiag: torch.Tensor, maindiag: torch.Tensor, subdiag: torch.Tensor, rhs: torch.Tensor
) -> torch.Tensor:
    """Each diagonal is [..., 1, M]; the last of the upper and the first of the lower one are not used."""
    upper, middle, lower = (d.mT for d in (superdiag, maindiag, subdiag))
    result = middle * rhs
    result[..., :-1, :] += upper[..., :-1, :] * rhs[..., 1:, :]
    result[..., 1:, :] += lower[..., 1:, :] * rhs[..., :-1, :]
    return result


@fresh("TridiagonalSolve")
def tridiagonal_solve(diagonals: torch.Tensor, rhs: torch.Tensor, *, partial_pivoting: bool) -> torch.Tensor:
    """Diagonals are [..., 3, M] (upper, main, lower), the right-hand side [..., M, K]."""
    _check_rank(diagonals, rhs)
    size = diagonals.shape[-1]
    if diagonals.shape[-2] != 3:
        raise _invalid(f"Expected diagonals to have 3 rows, got {diagonals.shape[-2]}")
    if rhs.shape[-2] != size:
        raise _invalid(
            f"Expected the same number of left-hand sides and right-hand sides, got {size} and {rhs.shape[-2]}."
        )
    if not rhs.numel():
        return rhs.clone()
    upper, middle, lower = diagonals.resolve_conj().numpy().reshape(-1, 3, size).transpose(1, 2, 0).copy()
    right = rhs.resolve_conj().numpy().reshape(-1, size, rhs.shape[-1]).transpose(1, 0, 2).copy()
    eliminate = _eliminate_with_pivoting if partial_pivoting else _eliminate
    second = eliminate(upper, middle, lower, right)
    # Back substitution over rows [main, upper, second upper].
    right[-1] /= middle[-1][:, None]
    for i in range(size - 2, -1, -1):
        right[i] -= upper[i][:, None] * right[i + 1]
        if i + 2 < size:
            right[i] -= second[i][:, None] * right[i + 2]
        right[i] /= middle[i][:, None]
    return torch.from_numpy(np.ascontiguousarray(right.transpose(1, 0, 2)).reshape(rhs.shape))


def _eliminate(upper: np.ndarray, middle: np.ndarray, lower: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Thomas' algorithm, in place, for a whole batch."""
    for i in range(len(middle)):
        if (middle[i] == 0).any():
            raise _invalid(
                "The matrix is either not invertible, or requires pivoting. Try setting partial_pivoting = True."
            )
        if i + 1 < len(middle):
            factor = lower[i + 1] / middle[i]
            middle[i + 1] -= factor * upper[i]
            right[i + 1] -= factor[:, None] * right[i]
    return np.zeros_like(upper)


def _eliminate_with_pivoting(upper: np.ndarray, middle: np.ndarray, lower: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Elimination that may exchange neighbouring rows, in place, for a whole batch; returns the second upper diagonal."""
    second = np.zeros_like(upper)
    upper[-1] = 0
    for i in range(len(middle) - 1):
        swap = np.abs(middle[i]) < np.abs(lower[i + 1])
        first = (middle[i].copy(), upper[i].copy(), second[i].copy())
        next_row = (lower[i + 1].copy(), middle[i + 1].copy(), upper[i + 1].copy())
        middle[i], upper[i], second[i] = (np.where(swap, b, a) for a, b in zip(first, next_row))
        low, mid, up = (np.where(swap, a, b) for a, b in zip(first, next_row))
        if (middle[i] == 0).any():
            raise _invalid("The matrix is not invertible.")
        top, below = right[i].copy(), right[i + 1].copy()
        right[i] = np.where(swap[:, None], below, top)
        factor = low / middle[i]
        middle[i + 1] = mid - factor * upper[i]
        upper[i + 1] = up - factor * second[i]
        right[i + 1] = np.where(swap[:, None], top, below) - factor[:, None] * right[i]
    if (middle[-1] == 0).any():
        raise _invalid("The matrix is not invertible.")
    return second
