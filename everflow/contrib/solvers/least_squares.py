"""Linear least squares by conjugate gradients."""

from __future__ import annotations

import collections

from everflow.contrib.solvers.util import l2norm_squared
from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.ops import array, control_flow
from everflow.ops import math as math_ops

CGLSState = collections.namedtuple("CGLSState", ["i", "x", "r", "p", "gamma"])


def cgls(operator, rhs, tol=1e-6, max_iter=20, name="cgls"):
    """The `x` for which `A x` is nearest to `rhs`.

    Args:
      operator: `A`, as `util.create_operator` makes it.
      rhs: The right-hand side, a vector.
      tol: How small the length of `A^H (rhs - A x)`, relative to `A^H rhs`, becomes before it stops.
      max_iter: How many steps to take at most.
      name: The name of the scope.

    Returns:
      A namedtuple: the steps taken `i`, the solution `x`, the residual `r`, the last direction `p`, and `gamma`, the
      square of the length of `A^H r`.
    """

    def goes_on(i, state):
        return math_ops.logical_and(i < max_iter, state.gamma > tolerance)

    def step(i, state):
        q = operator.apply(state.p)
        alpha = state.gamma / l2norm_squared(q)
        x = state.x + alpha * state.p
        r = state.r - alpha * q
        s = operator.apply_adjoint(r)
        gamma = l2norm_squared(s)
        p = s + (gamma / state.gamma) * state.p
        return i + 1, CGLSState(i + 1, x, r, p, gamma)

    with name_scope(name):
        rhs = array.expand_dims(rhs, -1)
        s = operator.apply_adjoint(rhs)
        gamma = l2norm_squared(s)
        tolerance = tol * tol * gamma
        x = array.expand_dims(array.zeros(operator.shape[1:], dtype=rhs.dtype.base_dtype), -1)
        i = array.constant(0, dtype=dtypes.int32)
        _, state = control_flow.while_loop(goes_on, step, [i, CGLSState(i=i, x=x, r=rhs, p=s, gamma=gamma)])
        return CGLSState(state.i, array.squeeze(state.x), array.squeeze(state.r), array.squeeze(state.p), state.gamma)
