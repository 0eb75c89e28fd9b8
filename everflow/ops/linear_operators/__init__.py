"""Matrices known by what they do rather than by their entries: `tf.linalg.LinearOperator` and its kinds."""

from everflow.ops.linear_operators import algebra  # noqa: F401  it registers how kinds combine
from everflow.ops.linear_operators.base import LinearOperator
from everflow.ops.linear_operators.basic import (
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorHouseholder,
    LinearOperatorLowerTriangular,
)
from everflow.ops.linear_operators.circulant import LinearOperatorCirculant, LinearOperatorCirculant2D, LinearOperatorCirculant3D
from everflow.ops.linear_operators.combined import (
    LinearOperatorAdjoint,
    LinearOperatorBlockDiag,
    LinearOperatorComposition,
    LinearOperatorInversion,
)
from everflow.ops.linear_operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorZeros
from everflow.ops.linear_operators.kronecker import LinearOperatorKronecker
from everflow.ops.linear_operators.low_rank import LinearOperatorLowRankUpdate
from everflow.ops.linear_operators.toeplitz import LinearOperatorToeplitz

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
