"""Names that programs take from inside TensorFlow's `linear_operator_util`: solving with batches that broadcast."""

from everflow.ops.linalg.operators.broadcasting import cholesky_solve as cholesky_solve_with_broadcast
from everflow.ops.linalg.operators.broadcasting import matrix_solve as matrix_solve_with_broadcast
from everflow.ops.linalg.operators.broadcasting import matrix_triangular_solve as matrix_triangular_solve_with_broadcast

__all__ = [
    "cholesky_solve_with_broadcast",
    "matrix_solve_with_broadcast",
    "matrix_triangular_solve_with_broadcast",
]
