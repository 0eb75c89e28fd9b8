"""tf.linalg: matrices, factorized, solved, normed, and as linear operators."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.ops.array import diag as tensor_diag
from everflow.ops.array import diag_part as tensor_diag_part
from everflow.ops.array import matrix_band_part as band_part
from everflow.ops.array import matrix_diag as diag
from everflow.ops.array import matrix_diag_part as diag_part
from everflow.ops.array import matrix_set_diag as set_diag
from everflow.ops.array import matrix_transpose
from everflow.ops.array import matrix_transpose as transpose
from everflow.ops.linalg.decompositions import (
    adjoint,
    cholesky,
    cholesky_solve,
    eye,
    logdet,
    lu,
    matvec,
    qr,
    slogdet,
    svd,
    trace,
)
from everflow.ops.linalg.decompositions import matrix_determinant as det
from everflow.ops.linalg.decompositions import matrix_inverse as inv
from everflow.ops.linalg.decompositions import matrix_solve as solve
from everflow.ops.linalg.decompositions import matrix_solve_ls as lstsq
from everflow.ops.linalg.decompositions import matrix_triangular_solve as triangular_solve
from everflow.ops.linalg.decompositions import self_adjoint_eig as eigh
from everflow.ops.linalg.decompositions import self_adjoint_eigvals as eigvalsh
from everflow.ops.linalg.functions import logm
from everflow.ops.linalg.functions import matrix_exponential as expm
from everflow.ops.linalg.functions import matrix_square_root as sqrtm
from everflow.ops.linalg.norms import matrix_rank, norm, normalize, pinv
from everflow.ops.linalg.operators import (
    LinearOperator,
    LinearOperatorAdjoint,
    LinearOperatorBlockDiag,
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
    LinearOperatorComposition,
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorHouseholder,
    LinearOperatorIdentity,
    LinearOperatorInversion,
    LinearOperatorKronecker,
    LinearOperatorLowerTriangular,
    LinearOperatorLowRankUpdate,
    LinearOperatorScaledIdentity,
    LinearOperatorToeplitz,
    LinearOperatorZeros,
)
from everflow.ops.linalg.tridiagonal import tridiagonal_matmul, tridiagonal_solve
from everflow.ops.math import cross, einsum, matmul, tensordot
from everflow.ops.math.clip import global_norm
from everflow.ops.nn.normalization import l2_normalize
