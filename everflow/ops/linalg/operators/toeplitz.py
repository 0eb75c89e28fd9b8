"""Toeplitz matrices, constant along diagonals: pieces of a circulant of twice the size."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import dimension_value
from everflow.ops import array, math
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.linalg.operators import broadcasting as broadcast
from everflow.ops.linalg.operators.base import LinearOperator
from everflow.ops.linalg.operators.circulant import LinearOperatorCirculant
from everflow.ops.math.fft import fft


class LinearOperatorToeplitz(LinearOperator):
    """Toeplitz matrices, by their first columns and rows [..., n].

    Args:
        col: The first columns.
        row: The first rows.
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]).to_dense())
        array([[1., 3.],
               [2., 1.]], dtype=float32)
    """

    def __init__(
        self,
        col,
        row,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorToeplitz",
    ):
        with name_scope(name, values=[row, col]):
            self._row = convert_to_tensor(row, name="row")
            self._col = convert_to_tensor(col, name="col")
            broadcast.check_dimensions(self._row, "row", 1)
            broadcast.check_dimensions(self._col, "col", 1)
            sizes = dimension_value(self._row.shape[-1]), dimension_value(self._col.shape[-1])
            if None not in sizes and sizes[0] != sizes[1]:
                raise ValueError(f"The first row and column must be equally long; they have {sizes[0]} and {sizes[1]}")
            is_square = broadcast.settled("A Toeplitz operator", "is_square", is_square)
            super().__init__(
                self._row.dtype,
                [self._row, self._col],
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                is_square,
                name,
            )
            # The column, a zero, and the row backwards are the first column of a circulant.
            zeros = array.zeros_like(self._col[..., 0:1])
            around = array.concat([self._col, zeros, array.reverse(self._row[..., 1:], axis=[-1])], axis=-1)
            complex_type = _complex_type(self.dtype)
            self._circulant = LinearOperatorCirculant(
                fft(math.cast(around, complex_type)), input_output_dtype=self._row.dtype
            )

    col = property(lambda self: self._col)
    row = property(lambda self: self._row)

    def _shape(self):
        shape = array.broadcast_static_shape(self._row.shape, self._col.shape)
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self):
        shape = array.broadcast_dynamic_shape(array.shape(self._row), array.shape(self._col))
        return array.concat((shape, [shape[-1]]), axis=0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        columns = linalg.adjoint(x) if adjoint_arg else x
        around = self._circulant.matmul(array.concat([columns, array.zeros_like(columns)], axis=-2), adjoint=adjoint)
        return math.cast(around[..., : self.domain_dimension_tensor(), :], self.dtype)

    def _trace(self):
        return math.cast(self.domain_dimension_tensor(), dtype=self.dtype) * self._col[..., 0]

    def _diag_part(self):
        return self._col[..., 0:1] * array.ones([self.domain_dimension_tensor()], dtype=self.dtype)


def _complex_type(dtype):
    return dtypes.complex128 if dtype in (dtypes.float64, dtypes.complex128) else dtypes.complex64
