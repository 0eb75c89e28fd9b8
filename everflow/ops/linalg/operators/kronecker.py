"""Kronecker products of operators: applied factor by factor, never formed."""

from __future__ import annotations

from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, dimension_value
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import group
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.linalg.operators.base import LinearOperator
from everflow.ops.linalg.operators.combined import checked_parts, implied, parents_of


def _vec(x):
    """The columns of matrices one after another."""
    columns = array.matrix_transpose(x)
    return array.reshape(columns, array.concat([array.shape(x)[:-2], [-1]], axis=0))


def _unvec_by(y, columns):
    """Vectors as matrices with this many columns."""
    shape = array.shape(y)
    return array.matrix_transpose(array.reshape(y, array.concat([shape[:-1], [columns, -1]], axis=0)))


def _last_dimension_first(x):
    rank = array.rank(x)
    return array.transpose(x, array.concat([[rank - 1], math.range(0, rank - 1)], axis=0))


def _first_dimension_last(x):
    rank = array.rank(x)
    return array.transpose(x, array.concat([math.range(1, rank), [0]], axis=0))


class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of operators.

    Args:
        operators: The operators.
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        name: What the operations' names start with.

    Example:
        >>> diagonal = tf.linalg.LinearOperatorDiag([1.0, 2.0])
        >>> sess.run(tf.linalg.LinearOperatorKronecker([diagonal, diagonal]).diag_part())
        array([1., 2., 2., 4.], dtype=float32)
    """

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        self._operators, dtype = checked_parts(operators)
        _, *hints = implied(
            "A Kronecker product",
            self._operators,
            is_square=is_square,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
        )
        name = "_x_".join(o.name for o in self._operators) if name is None else name
        with name_scope(name):
            super().__init__(dtype, parents_of(self._operators), *(hint or None for hint in hints), is_square, name)

    operators = property(lambda self: self._operators)

    def _shape(self):
        def product(dimensions):
            result = 1
            for size in (None if d is None else dimension_value(d) for d in dimensions):
                result = None if size is None or result is None else result * size
            return result

        rows = product(o.range_dimension for o in self._operators)
        columns = product(o.domain_dimension for o in self._operators)
        batch = self._operators[0].batch_shape
        for operator in self._operators[1:]:
            batch = array.broadcast_static_shape(batch, operator.batch_shape)
        return batch.concatenate([rows, columns])

    def _shape_tensor(self):
        columns = self._operators[0].domain_dimension_tensor()
        rows = self._operators[0].range_dimension_tensor()
        for operator in self._operators[1:]:
            columns = columns * operator.domain_dimension_tensor()
            rows = rows * operator.range_dimension_tensor()
        batch = self._operators[0].batch_shape_tensor()
        for operator in self._operators[1:]:
            batch = array.broadcast_dynamic_shape(batch, operator.batch_shape_tensor())
        return array.concat((batch, [rows, columns]), 0)

    def _transform(self, x, adjoint, adjoint_arg, on_matrix, on_vector):
        """Apply each factor in turn: vec(B X Aᵀ) = (A ⊗ B) vec(X), repeatedly."""
        if adjoint_arg:
            x = linalg.adjoint(x)
        batch = array.concat([array.ones_like(self.batch_shape_tensor()), [1, 1]], axis=0)
        x = x + array.zeros(batch, dtype=x.dtype.base_dtype)
        output = _last_dimension_first(x)[None, ...]
        for operator in self._operators[:-1]:
            size = operator.range_dimension_tensor() if adjoint else operator.domain_dimension_tensor()
            output = _unvec_by(output, size)
            output = array.matrix_transpose(output)
            output = getattr(operator, on_matrix)(output, adjoint=adjoint)
            output = array.matrix_transpose(output)
            output = _first_dimension_last(output)
            output = _vec(output)
            output = _last_dimension_first(output)
        output = getattr(self._operators[-1], on_vector)(output, adjoint=adjoint)
        output = _first_dimension_last(output)
        output = _vec(output)
        return _first_dimension_last(output)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        columns = x.shape[-2 if adjoint_arg else -1]
        output = self._transform(x, adjoint, adjoint_arg, "matmul", "matvec")
        self._set_result_shape(output, x, columns, self.domain_dimension if adjoint else self.range_dimension)
        return output

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        columns = rhs.shape[-2 if adjoint_arg else -1]
        output = self._transform(rhs, adjoint, adjoint_arg, "solve", "solvevec")
        self._set_result_shape(output, rhs, columns, self.range_dimension if adjoint else self.domain_dimension)
        return output

    def _set_result_shape(self, output, x, columns, rows):
        if x.shape.is_fully_defined():
            batch = array.broadcast_static_shape(x.shape[:-2], self.batch_shape)
            output.set_shape(batch.concatenate(TensorShape([rows, columns])))

    def _determinant(self):
        total = self.domain_dimension_tensor()
        result = 1.0
        for operator in self._operators:
            power = operator.determinant() ** math.cast(
                total / operator.domain_dimension_tensor(), dtype=operator.dtype
            )
            result = result * power
        return result

    def _log_abs_determinant(self):
        total = self.domain_dimension_tensor()
        result = 0.0
        for operator in self._operators:
            part = operator.log_abs_determinant() * math.cast(
                total / operator.domain_dimension_tensor(), dtype=operator.dtype
            )
            result = result + part
        return result

    def _trace(self):
        result = 1.0
        for operator in self._operators:
            result = result * operator.trace()
        return result

    def _diag_part(self):
        diagonal = self._operators[0].diag_part()
        for operator in self._operators[1:]:
            diagonal = diagonal[..., :, None] * operator.diag_part()[..., None, :]
            diagonal = array.reshape(diagonal, shape=array.concat((array.shape(diagonal)[:-2], [-1]), axis=0))
        if self.range_dimension is not None and self.domain_dimension is not None:
            size = None
            if None not in (dimension_value(self.range_dimension), dimension_value(self.domain_dimension)):
                size = min(dimension_value(self.range_dimension), dimension_value(self.domain_dimension))
            diagonal.set_shape(self.batch_shape.concatenate([size]))
        return diagonal

    def _to_dense(self):
        product = self._operators[0].to_dense()
        for operator in self._operators[1:]:
            product = product[..., :, None, :, None] * operator.to_dense()[..., None, :, None, :]
            batch = array.shape(product)[:-4]
            rows = array.shape(product)[-4] * array.shape(product)[-3]
            columns = array.shape(product)[-2] * array.shape(product)[-1]
            product = array.reshape(product, shape=array.concat((batch, [rows, columns]), axis=0))
        product.set_shape(self.shape)
        return product

    def _assert_non_singular(self):
        if all(operator.is_square for operator in self._operators):
            return group([operator.assert_non_singular() for operator in self._operators])
        raise NotImplementedError("assert_non_singular not implemented for product of non-square matrices")
