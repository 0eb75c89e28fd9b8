"""Systems of linear equations with a matrix that is Hermitian and positive definite."""

from __future__ import annotations

import collections

from everflow.contrib.solvers.util import dot
from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.ops import array, control_flow
from everflow.ops import math as math_ops
from everflow.ops.linalg.norms import norm

CGState = collections.namedtuple("CGState", ["i", "x", "r", "p", "gamma"])


def conjugate_gradient(operator, rhs, preconditioner=None, x=None, tol=1e-4, max_iter=20, name="conjugate_gradient"):
    """Solves `A x = rhs` by conjugate gradients, for a Hermitian, positive definite `A`.

    Args:
      operator: `A`, as `util.create_operator` makes it.
      rhs: The right-hand side, a vector.
      preconditioner: An operator near to the inverse of `A`.
      x: Where to begin; zeros where None.
      tol: The residual, relative to the first one, at which to stop.
      max_iter: How many steps to take at most.
      name: The name of the scope.

    Returns:
      A namedtuple: the steps taken `i`, the solution `x`, the residual `r`, the last direction `p`, and `gamma`, the
      product of the residual with its preconditioned form.

    Example:
      >>> from everflow.contrib.solvers.util import create_operator
      >>> a = create_operator(tf.constant([[4.0, 1.0], [1.0, 3.0]]))
      >>> conjugate_gradient(a, tf.constant([1.0, 2.0])).x.eval().round(3)
      array([0.091, 0.636], dtype=float32)
    """

    def scaled(residual):
        """The residual as the preconditioner sees it, and the product of the two."""
        if preconditioner is None:
            return residual, dot(residual, residual)
        z = preconditioner.apply(residual)
        return z, dot(residual, z)

    def goes_on(i, state):
        return math_ops.logical_and(i < max_iter, norm(state.r) > tolerance)

    def step(i, state):
        z = operator.apply(state.p)
        alpha = state.gamma / dot(state.p, z)
        x = state.x + alpha * state.p
        r = state.r - alpha * z
        q, gamma = scaled(r)
        p = q + (gamma / state.gamma) * state.p
        return i + 1, CGState(i + 1, x, r, p, gamma)

    with name_scope(name):
        rhs = array.expand_dims(rhs, -1)
        if x is None:
            x = array.expand_dims(array.zeros(operator.shape[-1:], dtype=rhs.dtype.base_dtype), -1)
            r = rhs
        else:
            x = array.expand_dims(x, -1)
            r = rhs - operator.apply(x)
        p, gamma = scaled(r)
        tolerance = tol * norm(r)
        i = array.constant(0, dtype=dtypes.int32)
        _, state = control_flow.while_loop(goes_on, step, [i, CGState(i=i, x=x, r=r, p=p, gamma=gamma)])
        return CGState(state.i, array.squeeze(state.x), array.squeeze(state.r), array.squeeze(state.p), state.gamma)
