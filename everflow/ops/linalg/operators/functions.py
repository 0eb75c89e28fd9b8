"""Functions of matrices for linear operators: `tf.matmul`, `tf.linalg.inv` and others call the operator's method."""

from __future__ import annotations

from everflow.ops.array.operator_forms import register_operator_forms
from everflow.ops.linalg.decompositions import adjoint as adjoint_of_tensor
from everflow.ops.linalg.operators.base import LinearOperator


def _matmul(
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
    if transpose_a or transpose_b:
        raise ValueError("A product with a LinearOperator can't be transposed: adjoint_a and adjoint_b can be set")
    if a_is_sparse or b_is_sparse:
        raise ValueError("A product with a LinearOperator takes no hints of sparse matrices")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, name=name)
    return adjoint_of_tensor(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, name=name))


def _solve(matrix, rhs, adjoint=False, name=None):
    if not isinstance(matrix, LinearOperator):
        raise ValueError("The matrix must be a LinearOperator where the right side is one")
    return matrix.solve(rhs, adjoint=adjoint, name=name)


def _diag_part(input, name="diag_part", k=0, padding_value=0):
    if (k, padding_value) != (0, 0):
        raise ValueError(f"A LinearOperator gives its main diagonal only; k={k} and {padding_value=} were given")
    return input.diag_part(name)


def _inverse(input, adjoint=False, name=None):
    inverse = input.inverse(name)
    return inverse.adjoint() if adjoint else inverse


register_operator_forms(
    LinearOperator,
    {
        "adjoint": lambda matrix, name=None: matrix.adjoint(name),
        "cholesky": lambda input, name=None: input.cholesky(name),
        "matmul": _matmul,
        "matrix_determinant": lambda input, name=None: input.determinant(name),
        "matrix_diag_part": _diag_part,
        "matrix_inverse": _inverse,
        "matrix_solve": _solve,
        "trace": lambda x, name=None: x.trace(name),
    },
)
