"""The LinearOperator class: what every kind can do, in terms of the few methods a kind defines."""

from __future__ import annotations

import abc
import contextlib

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import dimension_value
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.linalg.operators import broadcasting as broadcast
from everflow.ops.linalg.operators.registry import apply
from everflow.ops.variables.module import Module


class LinearOperator(Module, metaclass=abc.ABCMeta):
    """A batch of matrices that act on tensors, of shape [..., rows, columns].

    A kind defines `_shape`, `_shape_tensor` and `_matmul`; the rest has defaults through the dense matrix.

    Args:
        dtype: The type of the matrices.
        graph_parents: Deprecated: tensors it is made of.
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        name: What the operations' names start with.

    Example:
        >>> operator = tf.linalg.LinearOperatorDiag([1.0, 2.0])
        >>> sess.run(operator.matmul([[3.0], [4.0]])), sess.run(operator.determinant())
        (array([[3.],
               [8.]], dtype=float32), np.float32(2.0))
    """

    def __init__(
        self,
        dtype,
        graph_parents=None,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        if is_positive_definite:
            is_non_singular = broadcast.settled("A positive definite matrix", "is_non_singular", is_non_singular)
        if is_non_singular or is_self_adjoint:
            kind = "non-singular" if is_non_singular else "self-adjoint"
            is_square = broadcast.settled(f"A {kind} matrix", "is_square", is_square)
        self._is_square_set_or_implied_by_hints = is_square
        self._graph_parents = list(graph_parents or [])
        for i, parent in enumerate(self._graph_parents):
            if parent is None:
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._dtype = dtypes.as_dtype(dtype).base_dtype if dtype else dtype
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._name = name or type(self).__name__

    @contextlib.contextmanager
    def _name_scope(self, name=None):
        """The scope of a method: the operator's name and the method's."""
        with name_scope(self._name + ("/" + name if name else "")) as scope:
            yield scope

    # What is known of it

    dtype = property(lambda self: self._dtype)
    graph_parents = property(lambda self: self._graph_parents, doc="The tensors it is made of.")
    is_non_singular = property(lambda self: self._is_non_singular)
    is_self_adjoint = property(lambda self: self._is_self_adjoint)
    is_positive_definite = property(lambda self: self._is_positive_definite)

    @property
    def is_square(self):
        """True, False, or None where it is not known."""
        sizes = dimension_value(self.domain_dimension), dimension_value(self.range_dimension)
        found = None if None in sizes else sizes[0] == sizes[1]
        said = self._is_square_set_or_implied_by_hints
        if said is False and found:
            raise ValueError(f"{self.name} was said not to be square, but was square: its shape is {self.shape}")
        return found if said is None else said

    # Shapes

    @abc.abstractmethod
    def _shape(self):
        raise NotImplementedError("_shape is not implemented.")

    @abc.abstractmethod
    def _shape_tensor(self):
        raise NotImplementedError("_shape_tensor is not implemented.")

    @property
    def shape(self):
        return self._shape()

    @property
    def batch_shape(self):
        return self.shape[:-2]

    tensor_rank = property(lambda self: self.shape.rank)

    @property
    def domain_dimension(self):
        """The number of columns."""
        return self.shape[-1] if self.shape.rank is not None else None

    @property
    def range_dimension(self):
        """The number of rows."""
        return self.shape[-2] if self.shape.rank is not None else None

    def shape_tensor(self, name="shape_tensor"):
        """The shape as a tensor."""
        with self._name_scope(name):
            if self.shape.is_fully_defined():
                return convert_to_tensor(self.shape.as_list(), dtype=dtypes.int32)
            return self._shape_tensor()

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return convert_to_tensor(self.batch_shape.as_list(), dtype=dtypes.int32, name="batch_shape")
            return self.shape_tensor()[:-2]

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        with self._name_scope(name):
            if self.tensor_rank is not None:
                return convert_to_tensor(self.tensor_rank)
            return array.size(self.shape_tensor())

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        with self._name_scope(name):
            size = dimension_value(self.domain_dimension)
            return convert_to_tensor(size) if size is not None else self.shape_tensor()[-1]

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        with self._name_scope(name):
            size = dimension_value(self.range_dimension)
            return convert_to_tensor(size) if size is not None else self.shape_tensor()[-2]

    # Checks

    def assert_non_singular(self, name="assert_non_singular"):
        """An op that fails where a matrix is singular."""
        with self._name_scope(name):
            return self._assert_non_singular()

    def _assert_non_singular(self):
        """By the condition number: it must be less than what rounding makes of zero."""
        if self.is_positive_definite and self.is_self_adjoint:
            return self.assert_positive_definite()
        singular_values = linalg.svd(self.to_dense(), compute_uv=False)
        condition = math.reduce_max(singular_values, axis=-1) / math.reduce_min(singular_values, axis=-1)
        return check.assert_less(
            condition,
            self._max_condition_number_to_be_non_singular(),
            message="Singular matrix up to precision epsilon.",
        )

    def _max_condition_number_to_be_non_singular(self):
        with name_scope("max_nonsingular_condition_number"):
            epsilon = np.finfo(self.dtype.as_numpy_dtype).eps
            rows = math.cast(self.range_dimension_tensor(), self.dtype.real_dtype)
            columns = math.cast(self.domain_dimension_tensor(), self.dtype.real_dtype)
            return 1.0 / (math.reduce_max([100.0, rows, columns]) * epsilon)

    def assert_positive_definite(self, name="assert_positive_definite"):
        """An op that fails where a matrix is not positive definite."""
        with self._name_scope(name):
            return self._assert_positive_definite()

    def _assert_positive_definite(self):
        if self.is_self_adjoint:
            return check.assert_positive(
                array.matrix_diag_part(linalg.cholesky(self.to_dense())), message="Matrix was not positive definite."
            )
        raise NotImplementedError("assert_positive_definite is not implemented.")

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        """An op that fails where a matrix is not its own adjoint."""
        with self._name_scope(name):
            return self._assert_self_adjoint()

    def _assert_self_adjoint(self):
        dense = self.to_dense()
        return check.assert_equal(dense, linalg.adjoint(dense), message="Matrix was not equal to its adjoint.")

    def _check_input_dtype(self, arg):
        if arg.dtype.base_dtype != self.dtype:
            raise TypeError(f"{self.name} is of dtype {self.dtype.name}, so its argument must be, too; got {arg}")

    def _with_operator(self, what, argument, other, adjoint, adjoint_arg, name):
        """The operator that a product with another one, or a solution for it, is."""
        left = self.adjoint() if adjoint else self
        right = other.adjoint() if adjoint_arg else other
        wanted, found = dimension_value(left.domain_dimension), dimension_value(right.range_dimension)
        if None not in (wanted, found) and wanted != found:
            raise ValueError(
                f"Operators are incompatible. Expected `{argument}` to have dimension {wanted} but got {found}."
            )
        with self._name_scope(name):
            return apply(what, left, right)

    def _argument(self, value, name, own, arg):
        """What the operator is applied to: a tensor of its dtype, of which the size along `arg` fits its own along
        `own`.
        """
        tensor = convert_to_tensor(value, name=name)
        self._check_input_dtype(tensor)
        if self.shape.rank is not None and tensor.shape.rank is not None:
            _assert_same(self.shape[own], tensor.shape[arg])
        return tensor

    # Products

    @abc.abstractmethod
    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        raise NotImplementedError("_matmul is not implemented.")

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """This operator times a tensor of matrices, or another operator."""
        if isinstance(x, LinearOperator):
            return self._with_operator("matmul", "x", x, adjoint, adjoint_arg, name)
        with self._name_scope(name):
            x = self._argument(x, "x", -2 if adjoint else -1, -1 if adjoint_arg else -2)
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def matvec(self, x, adjoint=False, name="matvec"):
        """This operator times a tensor of vectors."""
        with self._name_scope(name):
            return self._matvec(self._argument(x, "x", -2 if adjoint else -1, -1), adjoint=adjoint)

    def _matvec(self, x, adjoint=False):
        return array.squeeze(self.matmul(array.expand_dims(x, axis=-1), adjoint=adjoint), axis=-1)

    # Determinants

    def _check_has(self, what, *hints, error=NotImplementedError):
        """Raise where a hint rules out what is asked for."""
        for hint in hints:
            if getattr(self, hint) is False:
                raise error(f"{self.name} has no {what}, as {hint} is False")

    def determinant(self, name="det"):
        self._check_has("determinant", "is_square")
        with self._name_scope(name):
            return self._determinant()

    def _determinant(self):
        if self._can_use_cholesky():
            return math.exp(self.log_abs_determinant())
        return linalg.matrix_determinant(self.to_dense())

    def log_abs_determinant(self, name="log_abs_det"):
        """log |det|."""
        self._check_has("determinant", "is_square")
        with self._name_scope(name):
            return self._log_abs_determinant()

    def _log_abs_determinant(self):
        if self._can_use_cholesky():
            diagonal = array.matrix_diag_part(linalg.cholesky(self.to_dense()))
            return 2 * math.reduce_sum(math.log(diagonal), axis=[-1])
        _, log_abs = linalg.slogdet(self.to_dense())
        return log_abs

    def _can_use_cholesky(self):
        return self.is_self_adjoint and self.is_positive_definite

    # Solving

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """x with this operator times x = rhs; another operator as `rhs` gives one."""
        self._check_has("exact solution", "is_non_singular", "is_square")
        if isinstance(rhs, LinearOperator):
            return self._with_operator("solve", "rhs", rhs, adjoint, adjoint_arg, name)
        with self._name_scope(name):
            rhs = self._argument(rhs, "rhs", -1 if adjoint else -2, -1 if adjoint_arg else -2)
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = linalg.adjoint(rhs) if adjoint_arg else rhs
        if self._can_use_cholesky():
            return broadcast.cholesky_solve(linalg.cholesky(self.to_dense()), rhs)
        return broadcast.matrix_solve(self.to_dense(), rhs, adjoint=adjoint)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """x with this operator times x = rhs, for vectors."""
        with self._name_scope(name):
            return self._solvevec(self._argument(rhs, "rhs", -1 if adjoint else -2, -1), adjoint=adjoint)

    def _solvevec(self, rhs, adjoint=False):
        return array.squeeze(self.solve(array.expand_dims(rhs, axis=-1), adjoint=adjoint), axis=-1)

    # Others

    def adjoint(self, name="adjoint"):
        """The operator of the conjugate transpose."""
        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return apply("adjoint", self)

    H = property(adjoint, None)

    def inverse(self, name="inverse"):
        """The operator of the inverse."""
        self._check_has("inverse", "is_square", "is_non_singular", error=ValueError)
        with self._name_scope(name):
            return apply("inverse", self)

    def cholesky(self, name="cholesky"):
        """The operator of the Cholesky factor."""
        if not self._can_use_cholesky():
            raise ValueError(
                f"Cannot take the Cholesky decomposition of {self.name}: is_positive_definite and is_self_adjoint must be True"
            )
        with self._name_scope(name):
            return apply("cholesky", self)

    def to_dense(self, name="to_dense"):
        """The matrices themselves."""
        with self._name_scope(name):
            return self._to_dense()

    def _to_dense(self):
        if self.batch_shape.is_fully_defined():
            batch_shape = self.batch_shape
        else:
            batch_shape = self.batch_shape_tensor()
        size = dimension_value(self.domain_dimension)
        size = self.domain_dimension_tensor() if size is None else size
        return self.matmul(linalg.eye(num_rows=size, batch_shape=batch_shape, dtype=self.dtype))

    def diag_part(self, name="diag_part"):
        """The diagonals."""
        with self._name_scope(name):
            return self._diag_part()

    def _diag_part(self):
        return array.matrix_diag_part(self.to_dense())

    def trace(self, name="trace"):
        """The sums of the diagonals."""
        with self._name_scope(name):
            return self._trace()

    def _trace(self):
        return math.reduce_sum(self.diag_part(), axis=-1)

    def add_to_tensor(self, x, name="add_to_tensor"):
        """The matrices plus a tensor."""
        with self._name_scope(name):
            x = convert_to_tensor(x, name="x")
            self._check_input_dtype(x)
            return self._add_to_tensor(x)

    def _add_to_tensor(self, x):
        return self.to_dense() + x


def _assert_same(own, other):
    own, other = (None if d is None else dimension_value(d) for d in (own, other))
    if own is not None and other is not None and own != other:
        raise ValueError(f"Dimensions {own} and {other} are not compatible")
