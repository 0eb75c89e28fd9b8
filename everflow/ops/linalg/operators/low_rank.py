"""An operator plus a product of thin matrices: L + U D Vᴴ, solved by Woodbury's identity through a small capacitance
matrix.
"""

from __future__ import annotations

from everflow.framework.scopes import name_scope
from everflow.framework.shapes import dimension_value
from everflow.ops import array, math
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.linalg.operators import broadcasting as broadcast
from everflow.ops.linalg.operators.base import LinearOperator
from everflow.ops.linalg.operators.basic import LinearOperatorDiag
from everflow.ops.linalg.operators.identity import LinearOperatorIdentity


class LinearOperatorLowRankUpdate(LinearOperator):
    """`base_operator` + u diag(diag_update) vᴴ, where u and v have few columns; v is u where it is not given.

    Args:
        base_operator: The operator that is updated.
        u: A matrix [..., rows, few].
        diag_update: The diagonal between u and v; ones if None.
        v: A matrix [..., columns, few]; u if None.
        is_diag_update_positive: A promise that the diagonal is positive; None leaves it open.
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        name: What the operations' names start with.

    Example:
        >>> base = tf.linalg.LinearOperatorDiag([1.0, 1.0], is_positive_definite=True)
        >>> sess.run(tf.linalg.LinearOperatorLowRankUpdate(base, [[1.0], [1.0]]).to_dense())
        array([[2., 1.],
               [1., 2.]], dtype=float32)
    """

    def __init__(
        self,
        base_operator,
        u,
        diag_update=None,
        v=None,
        is_diag_update_positive=None,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowRankUpdate",
    ):
        dtype = base_operator.dtype
        if diag_update is None:  # ones
            is_diag_update_positive = broadcast.settled(
                "An update without a diagonal", "is_diag_update_positive", is_diag_update_positive
            )
        self._is_diag_update_positive = is_diag_update_positive
        with name_scope(name, values=[*base_operator.graph_parents, u, diag_update, v]):
            self._u = broadcast.keep_variable(u, "u")
            self._v = self._u if v is None else broadcast.keep_variable(v, "v")
            self._diag_update = None if diag_update is None else broadcast.keep_variable(diag_update, "diag_update")
            self._base_operator = base_operator
            self._check_shapes()
            # What follows for the sum where the update is u d uᴴ: with positive d, and where that is real.
            same_sides = v is None and bool(base_operator.is_self_adjoint)
            positive = bool(same_sides and base_operator.is_positive_definite and is_diag_update_positive)
            kind = "A sum of an operator that has it and an update that keeps it"
            if positive:
                is_positive_definite = broadcast.settled(kind, "is_positive_definite", is_positive_definite)
            if positive or (same_sides and not dtype.is_complex):
                is_self_adjoint = broadcast.settled(kind, "is_self_adjoint", is_self_adjoint)
            graph_parents = [*base_operator.graph_parents, self._u]
            if self._diag_update is not None:
                graph_parents.append(self._diag_update)
            graph_parents.append(self._v)
            super().__init__(
                dtype, graph_parents, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
            )
            self._set_diag_operators()
            self._use_cholesky = positive

    def _check_shapes(self):
        """ValueError where the shapes of the parts are known not to fit."""
        sides = array.broadcast_static_shape(self._u.shape, self._v.shape)
        batch = array.broadcast_static_shape(self._base_operator.batch_shape, sides[:-2])
        if sides.rank is not None and self._base_operator.shape.rank is not None:
            self._base_operator.shape[-1:].assert_is_compatible_with(sides[-2:-1])
        if self._diag_update is not None:
            sides[-1:].assert_is_compatible_with(self._diag_update.shape[-1:])
            array.broadcast_static_shape(batch, self._diag_update.shape[:-1])

    def _set_diag_operators(self):
        if self._diag_update is not None:
            self._diag_operator = LinearOperatorDiag(
                self._diag_update, is_positive_definite=self._is_diag_update_positive
            )
            return
        size = dimension_value(self._u.shape[-1])
        self._diag_operator = LinearOperatorIdentity(
            num_rows=array.shape(self._u)[-1] if size is None else size, dtype=self.dtype
        )

    u = property(lambda self: self._u)
    v = property(lambda self: self._v)
    is_diag_update_positive = property(lambda self: self._is_diag_update_positive)
    diag_update = property(lambda self: self._diag_update)
    diag_operator = property(lambda self: self._diag_operator)
    base_operator = property(lambda self: self._base_operator)

    def _shape(self):
        batch = array.broadcast_static_shape(self._base_operator.batch_shape, self._diag_operator.batch_shape)
        batch = array.broadcast_static_shape(batch, self._u.shape[:-2])
        batch = array.broadcast_static_shape(batch, self._v.shape[:-2])
        return batch.concatenate(self._base_operator.shape[-2:])

    def _shape_tensor(self):
        batch = array.broadcast_dynamic_shape(
            self._base_operator.batch_shape_tensor(), self._diag_operator.batch_shape_tensor()
        )
        batch = array.broadcast_dynamic_shape(batch, array.shape(self._u)[:-2])
        batch = array.broadcast_dynamic_shape(batch, array.shape(self._v)[:-2])
        return array.concat([batch, self._base_operator.shape_tensor()[-2:]], axis=0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        own = self._base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        first, last = (self._u, self._v) if adjoint else (self._v, self._u)
        inner = math.matmul(first, x, adjoint_a=True, adjoint_b=adjoint_arg)
        inner = self._diag_operator.matmul(inner, adjoint=adjoint)
        return own + math.matmul(last, inner)

    def _determinant(self):
        if self.is_positive_definite:
            return math.exp(self.log_abs_determinant())
        capacitance = linalg.matrix_determinant(self._make_capacitance())
        inner = self._diag_operator.determinant()
        base = self._base_operator.determinant()
        return capacitance * inner * base

    def _log_abs_determinant(self):
        inner = self._diag_operator.log_abs_determinant()
        base = self._base_operator.log_abs_determinant()
        if self._use_cholesky:
            diagonal = array.matrix_diag_part(linalg.cholesky(self._make_capacitance()))
            capacitance = 2 * math.reduce_sum(math.log(diagonal), axis=[-1])
        else:
            capacitance = math.log(math.abs(linalg.matrix_determinant(self._make_capacitance())))
            if self.dtype.is_complex:
                capacitance = math.cast(capacitance, dtype=self.dtype)
        return capacitance + inner + base

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        first, last = (self._u, self._v) if adjoint else (self._v, self._u)
        solved = self._base_operator.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        projected = math.matmul(first, solved, adjoint_a=True)
        capacitance = self._make_capacitance()
        if self._use_cholesky:
            small = broadcast.cholesky_solve(linalg.cholesky(capacitance), projected)
        else:
            small = broadcast.matrix_solve(capacitance, projected, adjoint=adjoint)
        back = self._base_operator.solve(math.matmul(last, small), adjoint=adjoint)
        return solved - back

    def _make_capacitance(self):
        """D⁻¹ + Vᴴ L⁻¹ U."""
        solved = self._base_operator.solve(self._u)
        inner = math.matmul(self._v, solved, adjoint_a=True)
        return self._diag_operator.inverse().add_to_tensor(inner)
