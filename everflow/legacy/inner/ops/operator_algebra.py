"""tensorflow.python.ops.linalg.linear_operator_algebra: the tables of what operators give, and decorators that add to
them.
"""

from __future__ import annotations

import functools

from everflow.ops.linalg.operators import algebra  # noqa: F401  What it has is registered when it is loaded.
from everflow.ops.linalg.operators.registry import FUNCTIONS, apply, register

adjoint, cholesky, inverse, matmul, solve = (functools.partial(apply, operation) for operation in FUNCTIONS)
RegisterAdjoint, RegisterCholesky, RegisterInverse, RegisterMatmul, RegisterSolve = (
    functools.partial(register, operation) for operation in FUNCTIONS
)
_ADJOINTS, _CHOLESKY_DECOMPS, _INVERSES, _MATMUL, _SOLVE = FUNCTIONS.values()
