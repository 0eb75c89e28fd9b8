"""Matrices known by what they do rather than by their entries: `tf.linalg.LinearOperator` and its kinds."""

# They register how kinds combine, and what functions of matrices do with them.
from everflow.ops.linalg.operators import algebra, functions  # noqa: F401
from everflow.ops.linalg.operators.base import LinearOperator
from everflow.ops.linalg.operators.basic import (
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorHouseholder,
    LinearOperatorLowerTriangular,
)
from everflow.ops.linalg.operators.circulant import (
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
)
from everflow.ops.linalg.operators.combined import (
    LinearOperatorAdjoint,
    LinearOperatorBlockDiag,
    LinearOperatorComposition,
    LinearOperatorInversion,
)
from everflow.ops.linalg.operators.identity import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)
from everflow.ops.linalg.operators.kronecker import LinearOperatorKronecker
from everflow.ops.linalg.operators.low_rank import LinearOperatorLowRankUpdate
from everflow.ops.linalg.operators.toeplitz import LinearOperatorToeplitz

__all__ = [
    "LinearOperator",
    "LinearOperatorAdjoint",
    "LinearOperatorBlockDiag",
    "LinearOperatorCirculant",
    "LinearOperatorCirculant2D",
    "LinearOperatorCirculant3D",
    "LinearOperatorComposition",
    "LinearOperatorDiag",
    "LinearOperatorFullMatrix",
    "LinearOperatorHouseholder",
    "LinearOperatorIdentity",
    "LinearOperatorInversion",
    "LinearOperatorKronecker",
    "LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular",
    "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz",
    "LinearOperatorZeros",
]
