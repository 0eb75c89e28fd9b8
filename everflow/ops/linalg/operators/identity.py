"""The identity, multiples of it, and zeros: operators that hold almost nothing."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.checks import shapes
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import no_op, with_dependencies
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.linalg.operators import broadcasting as broadcast
from everflow.ops.linalg.operators.base import LinearOperator
from everflow.ops.variables.variable import Variable


def _size_tensor(value, name):
    if isinstance(value, Variable):
        raise TypeError(f"{name} is a variable, but a shape must not change: give its value")
    empty = isinstance(value, (list, tuple)) and not value
    return convert_to_tensor(value, dtype=dtypes.int32 if empty else None, name=name)


def _sizes(value, name, rank=0, asserted=False):
    """A size, or a vector of them, as a tensor and where it is known as its value; raises unless these are integers
    from zero on. `asserted` has the graph check that, too.
    """
    given = tensor = _size_tensor(value, name)
    if asserted:
        fits = [
            shapes.assert_rank(tensor, rank, message=f"{name} must have rank {rank}."),
            check.assert_non_negative(tensor, message=f"{name} must not be below zero."),
        ]
        tensor = with_dependencies(fits, tensor)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be of integer type, not {tensor.dtype.name}")
    static = constant_value(given)
    if static is not None and (static.ndim != rank or np.any(static < 0)):
        raise ValueError(f"{name} must have rank {rank} and not be below zero; got {static}")
    return tensor, static


def _fitting(operator, x):
    """`x`, checked when it runs to have the rows that an operator takes, if that was asked for."""
    if not operator._assert_proper_shapes:
        return x
    return with_dependencies([broadcast.assert_compatible_matrix_dimensions(operator, x)], x)


def _with_batches(operator, x):
    """`x` with an operator's batch dimensions, where it might lack them."""
    if operator._batch_shape_arg is None:
        return x
    special = operator.batch_shape.concatenate([1, 1])
    together = array.broadcast_static_shape(x.shape, special)
    if special.is_fully_defined():
        if together.is_fully_defined() and x.shape == together:
            return x
    else:
        special = array.concat((operator.batch_shape_tensor(), [1, 1]), axis=0)
    return x + array.zeros(shape=special, dtype=operator.dtype)


class BaseLinearOperatorIdentity(LinearOperator):
    """What the identity and its multiples share: a number of rows."""

    def _ones_of_batches(self):
        shape = self.batch_shape if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        return array.ones(shape=shape, dtype=self.dtype)

    def _ones_diag(self):
        if self.shape.is_fully_defined():
            shape = self.batch_shape.concatenate([min(self.shape.as_list()[-2:])])
        else:
            shape = array.concat([self.batch_shape_tensor(), [self.domain_dimension_tensor()]], axis=0)
        return array.ones(shape=shape, dtype=self.dtype)


class LinearOperatorIdentity(BaseLinearOperatorIdentity):
    """Identity matrices, `num_rows` square, for each place of `batch_shape`.

    Args:
        num_rows: How many rows, and columns, it has.
        batch_shape: The shape of the batch, if there is one.
        dtype: The type of the matrices; float32 if None.
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        assert_proper_shapes: Whether shapes are checked while the graph runs.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.linalg.LinearOperatorIdentity(2).to_dense())
        array([[1., 0.],
               [0., 1.]], dtype=float32)
    """

    def __init__(
        self,
        num_rows,
        batch_shape=None,
        dtype=None,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorIdentity",
    ):
        dtype = dtype or dtypes.float32
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            for value, what in (
                (is_self_adjoint, "self adjoint"),
                (is_non_singular, "non-singular"),
                (is_positive_definite, "positive-definite"),
            ):
                if not value:
                    raise ValueError(f"An identity operator is always {what}.")
            super().__init__(
                dtypes.as_dtype(dtype), None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
            )
            self._num_rows, self._num_rows_static = _sizes(num_rows, "num_rows", 0, assert_proper_shapes)
            self._batch_shape_arg = None
            if batch_shape is not None:
                self._batch_shape_arg, self._batch_shape_static = _sizes(
                    batch_shape, "batch_shape_arg", 1, assert_proper_shapes
                )

    def _shape(self):
        matrix = TensorShape([None if self._num_rows_static is None else int(self._num_rows_static)] * 2)
        if self._batch_shape_arg is None:
            return matrix
        if self._batch_shape_static is None:
            return TensorShape(None)
        return TensorShape(self._batch_shape_static.tolist()).concatenate(matrix)

    def _shape_tensor(self):
        matrix = array.stack((self._num_rows, self._num_rows), axis=0)
        return matrix if self._batch_shape_arg is None else array.concat((self._batch_shape_arg, matrix), 0)

    def _assert_non_singular(self):
        return no_op("assert_non_singular")

    def _assert_positive_definite(self):
        return no_op("assert_positive_definite")

    def _assert_self_adjoint(self):
        return no_op("assert_self_adjoint")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = linalg.adjoint(x) if adjoint_arg else x
        return _with_batches(self, _fitting(self, x))

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return array.ones(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self):
        return array.zeros(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _trace(self):
        ones = self._ones_of_batches()
        if self._num_rows_static is not None:
            return int(self._num_rows_static) * ones
        return math.cast(self.domain_dimension_tensor(), self.dtype) * ones

    def _diag_part(self):
        return self._ones_diag()

    def _to_dense(self):
        static = self._num_rows_static
        size = int(static) if static is not None else self.domain_dimension_tensor()
        batch_shape = self.batch_shape if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        return linalg.eye(num_rows=size, batch_shape=batch_shape, dtype=self.dtype)

    def _add_to_tensor(self, x):
        diagonal = array.matrix_diag_part(x)
        return array.matrix_set_diag(x, 1 + diagonal)

    def add_to_tensor(self, mat, name="add_to_tensor"):
        """The identity plus a tensor."""
        with self._name_scope(name):
            mat = convert_to_tensor(mat, name="mat")
            return self._add_to_tensor(mat)


class LinearOperatorScaledIdentity(BaseLinearOperatorIdentity):
    """Identity matrices times a number each, `multiplier`.

    Args:
        num_rows: How many rows, and columns, it has.
        multiplier: The numbers [...].
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        assert_proper_shapes: Whether shapes are checked while the graph runs.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.linalg.LinearOperatorScaledIdentity(2, 3.0).to_dense())
        array([[3., 0.],
               [0., 3.]], dtype=float32)
    """

    def __init__(
        self,
        num_rows,
        multiplier,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorScaledIdentity",
    ):
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name, values=[multiplier, num_rows]):
            self._multiplier = broadcast.keep_variable(multiplier, "multiplier")
            if not self._multiplier.dtype.is_complex:
                is_self_adjoint = broadcast.settled(
                    "A real multiple of the identity", "is_self_adjoint", is_self_adjoint
                )
            if not is_square:
                raise ValueError("A ScaledIdentity operator is always square.")
            super().__init__(
                self._multiplier.dtype.base_dtype,
                None,
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                is_square,
                name,
            )
            self._num_rows, self._num_rows_static = _sizes(num_rows, "num_rows", 0, assert_proper_shapes)
            self._num_rows_cast_to_dtype = math.cast(self._num_rows, self.dtype)
            self._num_rows_cast_to_real_dtype = math.cast(self._num_rows, self.dtype.real_dtype)

    multiplier = property(lambda self: self._multiplier)

    def _shape(self):
        size = None if self._num_rows_static is None else int(self._num_rows_static)
        return self._multiplier.shape.concatenate([size, size])

    def _shape_tensor(self):
        matrix = array.stack((self._num_rows, self._num_rows), axis=0)
        return array.concat((array.shape(self._multiplier), matrix), axis=0)

    def _assert_non_singular(self):
        return check.assert_positive(math.abs(self._multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self):
        return check.assert_positive(math.real(self._multiplier), message="LinearOperator was not positive definite.")

    def _assert_self_adjoint(self):
        imaginary = math.imag(self._multiplier)
        return check.assert_equal(array.zeros_like(imaginary), imaginary, message="LinearOperator was not self-adjoint")

    def _multiplier_matrix(self, conjugate=False):
        matrix = array.expand_dims(array.expand_dims(self._multiplier, -1), -1)
        return math.conj(matrix) if conjugate else matrix

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = linalg.adjoint(x) if adjoint_arg else x
        return _fitting(self, x) * self._multiplier_matrix(conjugate=adjoint)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = linalg.adjoint(rhs) if adjoint_arg else rhs
        return _fitting(self, rhs) / self._multiplier_matrix(conjugate=adjoint)

    def _determinant(self):
        return self._multiplier**self._num_rows_cast_to_dtype

    def _log_abs_determinant(self):
        return self._num_rows_cast_to_real_dtype * math.log(math.abs(self._multiplier))

    def _trace(self):
        ones = self._ones_of_batches()
        if self._num_rows_static is not None:
            return self._multiplier * int(self._num_rows_static) * ones
        return self._multiplier * math.cast(self.domain_dimension_tensor(), self.dtype) * ones

    def _diag_part(self):
        return self._ones_diag() * self._multiplier[..., None]

    def _add_to_tensor(self, x):
        multiplier = array.expand_dims(self._multiplier, -1)
        own = array.matrix_diag_part(x)
        return array.matrix_set_diag(x, multiplier + own)

    def add_to_tensor(self, mat, name="add_to_tensor"):
        """The multiple of the identity plus a tensor."""
        with self._name_scope(name):
            multiplier = array.expand_dims(self._multiplier, -1)
            mat = convert_to_tensor(mat, name="mat")
            own = array.matrix_diag_part(mat)
            return array.matrix_set_diag(mat, multiplier + own)


class LinearOperatorZeros(LinearOperator):
    """Matrices of zeros.

    Args:
        num_rows: How many rows, and columns, it has.
        num_columns: How many columns it has; as many as rows if None.
        batch_shape: The shape of the batch, if there is one.
        dtype: The type of the matrices; float32 if None.
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        assert_proper_shapes: Whether shapes are checked while the graph runs.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.linalg.LinearOperatorZeros(2).matmul([[1.0], [2.0]]))
        array([[0.],
               [0.]], dtype=float32)
    """

    def __init__(
        self,
        num_rows,
        num_columns=None,
        batch_shape=None,
        dtype=None,
        is_non_singular=False,
        is_self_adjoint=True,
        is_positive_definite=False,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorZeros",
    ):
        dtype = dtype or dtypes.float32
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            if is_square:
                broadcast.settled("A square zero operator", "is_self_adjoint", is_self_adjoint)
            broadcast.settled("A zero operator", "is_non_singular", is_non_singular, False)
            broadcast.settled("A zero operator", "is_positive_definite", is_positive_definite, False)
            super().__init__(
                dtypes.as_dtype(dtype), None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
            )
            rows = _size_tensor(num_rows, "num_rows")
            columns = _size_tensor(num_rows if num_columns is None else num_columns, "num_columns")
            self._num_rows, self._num_rows_static = _sizes(rows, "num_rows", 0, assert_proper_shapes)
            self._num_columns, self._num_columns_static = _sizes(columns, "num_columns", 0, assert_proper_shapes)
            sizes = self._num_rows_static, self._num_columns_static
            if is_square and None not in sizes and sizes[0] != sizes[1]:
                raise ValueError(f"A square operator has as many rows as columns, not {sizes[0]} and {sizes[1]}")
            self._batch_shape_arg = None
            if batch_shape is not None:
                self._batch_shape_arg, self._batch_shape_static = _sizes(
                    batch_shape, "batch_shape_arg", 1, assert_proper_shapes
                )

    def _shape(self):
        sizes = [None if s is None else int(s) for s in (self._num_rows_static, self._num_columns_static)]
        if self._batch_shape_arg is None:
            return TensorShape(sizes)
        if self._batch_shape_static is None:
            return TensorShape(None)
        return TensorShape(self._batch_shape_static.tolist()).concatenate(sizes)

    def _shape_tensor(self):
        matrix = array.stack((self._num_rows, self._num_columns), axis=0)
        return matrix if self._batch_shape_arg is None else array.concat((self._batch_shape_arg, matrix), 0)

    def _assert_non_singular(self):
        raise InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self):
        raise InvalidArgumentError(None, None, "Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        return no_op("assert_self_adjoint")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        if self._assert_proper_shapes:
            x = _fitting(self, linalg.adjoint(x) if adjoint_arg else x)
            adjoint_arg = False
        if self.is_square:
            # The result has the shape of x.
            if adjoint_arg:
                shape = array.concat([array.shape(x)[:-2], [array.shape(x)[-1], array.shape(x)[-2]]], axis=0)
            else:
                shape = array.shape(x)
            return _with_batches(self, array.zeros(shape=shape, dtype=x.dtype))
        shape = array.shape(x)
        columns = shape[-2] if adjoint_arg else shape[-1]
        rows = self._num_columns if adjoint else self._num_rows
        shape = array.concat([shape[:-2], [rows, columns]], axis=0)
        zeros = array.zeros(shape=shape, dtype=x.dtype)
        return _with_batches(self, zeros)

    def _batch_zeros(self):
        if self.batch_shape.is_fully_defined():
            return array.zeros(shape=self.batch_shape, dtype=self.dtype)
        return array.zeros(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _determinant(self):
        return self._batch_zeros()

    def _trace(self):
        return self._batch_zeros()

    def _diag_part(self):
        if self.shape.is_fully_defined():
            shape = self.batch_shape.concatenate([min(self.shape.as_list()[-2:])])
        else:
            smaller = math.minimum(self.domain_dimension_tensor(), self.range_dimension_tensor())
            shape = array.concat([self.batch_shape_tensor(), [smaller]], axis=0)
        return array.zeros(shape=shape, dtype=self.dtype)

    def _add_to_tensor(self, x):
        return _with_batches(self, x)

    def add_to_tensor(self, mat, name="add_to_tensor"):
        """The tensor itself."""
        with self._name_scope(name):
            return _with_batches(self, mat)
