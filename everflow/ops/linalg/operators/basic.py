"""Operators given by a tensor: diagonal, full, lower triangular, and reflections."""

from __future__ import annotations

import functools

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import no_op
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.linalg.norms import norm
from everflow.ops.linalg.operators import broadcasting as broadcast
from everflow.ops.linalg.operators.base import LinearOperator

_ALLOWED = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


# What graphs say of a diagonal, by whether it is complex.
_NOT_POSITIVE = {
    True: "Diagonal operator had diagonal entries with non-positive real part, thus was not positive definite.",
    False: "Real diagonal operator had non-positive diagonal entries, thus was not positive definite.",
}


class LinearOperatorDiag(LinearOperator):
    """Diagonal matrices, by their diagonals [..., n].

    Args:
        diag: The diagonals [..., n].
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.linalg.LinearOperatorDiag([2.0, 4.0]).solve([[2.0], [2.0]]))
        array([[1. ],
               [0.5]], dtype=float32)
    """

    def __init__(
        self,
        diag,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorDiag",
    ):
        with name_scope(name, values=[diag]):
            self._diag = broadcast.keep_variable(diag, "diag")
            broadcast.check_dimensions(self._diag, "diag", 1)
            if not self._diag.dtype.is_complex:
                is_self_adjoint = broadcast.settled("A real diagonal operator", "is_self_adjoint", is_self_adjoint)
            is_square = broadcast.settled("A diagonal operator", "is_square", is_square)
            super().__init__(
                self._diag.dtype, [self._diag], is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
            )

    diag = property(lambda self: self._diag)

    def _shape(self):
        return self._diag.shape.concatenate(self._diag.shape[-1:])

    def _shape_tensor(self):
        shape = array.shape(self._diag)
        return array.concat((shape, [shape[-1]]), axis=0)

    def _assert_non_singular(self):
        return broadcast.assert_no_entries_with_modulus_zero(
            self._diag, message="Singular operator:  Diagonal contained zero values."
        )

    def _assert_positive_definite(self):
        return check.assert_positive(math.real(self._diag), message=_NOT_POSITIVE[self.dtype.is_complex])

    def _assert_self_adjoint(self):
        return broadcast.assert_zero_imag_part(
            self._diag,
            message="This diagonal operator contained non-zero imaginary values.  Thus it was not self-adjoint.",
        )

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        diag = math.conj(self._diag) if adjoint else self._diag
        x = linalg.adjoint(x) if adjoint_arg else x
        return array.expand_dims(diag, -1) * x

    def _matvec(self, x, adjoint=False):
        diag = math.conj(self._diag) if adjoint else self._diag
        return diag * x

    def _determinant(self):
        return math.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self):
        result = math.reduce_sum(math.log(math.abs(self._diag)), axis=[-1])
        return math.cast(result, dtype=self.dtype) if self.dtype.is_complex else result

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        diag = math.conj(self._diag) if adjoint else self._diag
        rhs = linalg.adjoint(rhs) if adjoint_arg else rhs
        inverse = 1.0 / diag
        return rhs * array.expand_dims(inverse, -1)

    def _to_dense(self):
        return array.matrix_diag(self._diag)

    def _diag_part(self):
        return self._diag

    def _add_to_tensor(self, x):
        own = array.matrix_diag_part(x)
        return array.matrix_set_diag(x, self._diag + own)


class LinearOperatorFullMatrix(LinearOperator):
    """Matrices given in full, [..., rows, columns].

    Args:
        matrix: The matrices.
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]]).trace())
        np.float32(5.0)
    """

    def __init__(
        self,
        matrix,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorFullMatrix",
    ):
        with name_scope(name, values=[matrix]):
            self._matrix = broadcast.keep_variable(matrix, "matrix")
            _check_matrix(convert_to_tensor(self._matrix, name="matrix"), "matrix")
            super().__init__(
                self._matrix.dtype,
                [self._matrix],
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                is_square,
                name,
            )

    def _shape(self):
        return self._matrix.shape

    def _shape_tensor(self):
        return array.shape(self._matrix)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return math.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self):
        return self._matrix


def _check_matrix(matrix, name):
    if matrix.dtype.base_dtype not in _ALLOWED:
        raise TypeError(f"Argument {name} must have dtype in {list(_ALLOWED)}.  Found: {matrix.dtype}")
    broadcast.check_dimensions(matrix, name, 2)


class LinearOperatorLowerTriangular(LinearOperator):
    """Lower triangular matrices [..., n, n]; what is above the diagonal is not read.

    Args:
        tril: The matrices.
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 1.0]]).to_dense())
        array([[2., 0.],
               [1., 1.]], dtype=float32)
    """

    def __init__(
        self,
        tril,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowerTriangular",
    ):
        is_square = broadcast.settled("A lower triangular operator", "is_square", is_square)
        with name_scope(name, values=[tril]):
            self._tril = broadcast.keep_variable(tril, "tril")
            broadcast.check_dimensions(self._tril, "tril", 2)
            super().__init__(
                self._tril.dtype, [self._tril], is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
            )

    def _lower(self):
        return array.matrix_band_part(self._tril, -1, 0)

    def _shape(self):
        return self._tril.shape

    def _shape_tensor(self):
        return array.shape(self._tril)

    def _assert_non_singular(self):
        return broadcast.assert_no_entries_with_modulus_zero(
            array.matrix_diag_part(self._tril), message="Singular operator:  Diagonal contained zero values."
        )

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return math.matmul(self._lower(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _determinant(self):
        return math.reduce_prod(array.matrix_diag_part(self._tril), axis=[-1])

    def _log_abs_determinant(self):
        return math.reduce_sum(math.log(math.abs(array.matrix_diag_part(self._tril))), axis=[-1])

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = linalg.adjoint(rhs) if adjoint_arg else rhs
        return broadcast.matrix_triangular_solve(self._lower(), rhs, lower=True, adjoint=adjoint)

    def _to_dense(self):
        return self._lower()


class LinearOperatorHouseholder(LinearOperator):
    """Reflections I - 2 v vᵀ / |v|² at the plane orthogonal to v, `reflection_axis`.

    Args:
        reflection_axis: The vectors v [..., n].
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.linalg.LinearOperatorHouseholder([1.0, 0.0]).to_dense())
        array([[-1., -0.],
               [-0.,  1.]], dtype=float32)
    """

    def __init__(
        self,
        reflection_axis,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorHouseholder",
    ):
        with name_scope(name, values=[reflection_axis]):
            self._reflection_axis = broadcast.keep_variable(reflection_axis, "reflection_axis")
            broadcast.check_dimensions(self._reflection_axis, "reflection_axis", 1)
            always = functools.partial(broadcast.settled, "A Householder operator")
            super().__init__(
                self._reflection_axis.dtype,
                [self._reflection_axis],
                is_non_singular,
                always("is_self_adjoint", is_self_adjoint),
                always("is_positive_definite", is_positive_definite, False),
                always("is_square", is_square),
                name,
            )

    reflection_axis = property(lambda self: self._reflection_axis)

    def _unit(self):
        return self._reflection_axis / norm(self._reflection_axis, axis=-1, keepdims=True)

    def _shape(self):
        shape = self._reflection_axis.shape
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self):
        shape = array.shape(self._reflection_axis)
        return array.concat((shape, [shape[-1]]), axis=0)

    def _assert_non_singular(self):
        return no_op("assert_non_singular")

    def _assert_positive_definite(self):
        raise InvalidArgumentError(None, None, "Householder operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        return no_op("assert_self_adjoint")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        # It is symmetric: the adjoint is the operator.
        x = linalg.adjoint(x) if adjoint_arg else x
        axis = convert_to_tensor(self._reflection_axis)
        unit = (axis / norm(axis, axis=-1, keepdims=True))[..., None]
        along = math.matmul(unit, x, adjoint_a=True)
        return x - 2 * unit * along

    def _trace(self):
        shape = self.domain_dimension_tensor() - 2
        return math.cast(shape, self.dtype) * array.ones(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _determinant(self):
        return -array.ones(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self):
        return array.zeros(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _to_dense(self):
        unit = self._unit()[..., None]
        matrix = -2 * math.matmul(unit, unit, adjoint_b=True)
        return array.matrix_set_diag(matrix, 1.0 + array.matrix_diag_part(matrix))

    def _diag_part(self):
        unit = self._unit()
        return 1.0 - 2 * unit * math.conj(unit)
