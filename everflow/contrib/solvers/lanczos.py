"""Golub and Kahan's iteration: a matrix as `U B V^H` with a bidiagonal `B`, from products with the matrix alone."""

from __future__ import annotations

import collections

from everflow.contrib.solvers.util import l2norm, l2normalize
from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.ops import array, control_flow
from everflow.ops import math as math_ops
from everflow.ops.random.distributions import random_uniform
from everflow.ops.tensor_arrays.tensor_array import TensorArray

LanczosBidiagState = collections.namedtuple("LanczosBidiagState", ["u", "v", "alpha", "beta"])


def lanczos_bidiag(operator, k, orthogonalize=True, starting_vector=None, name="lanczos_bidiag"):
    """`k` steps of Lanczos' bidiagonalization: `A V = U B`, with orthonormal columns in `U` and `V`.

    Args:
      operator: `A`, as `util.create_operator` makes it.
      k: How many steps, a number or a scalar tensor.
      orthogonalize: Whether columns are made orthogonal to all before them, which rounding spoils otherwise.
      starting_vector: The first column of `U`, of any length; random numbers where None.
      name: The name of the scope.

    Returns:
      A namedtuple: `u` with k + 1 columns, `v` with k, the diagonal `alpha` and the subdiagonal `beta` of `B`.
    """

    def step(i, state):
        u = _column(state.u, i)
        r = operator.apply_adjoint(u)
        shape = r.shape  # an array that is empty so far says nothing of what is read from it
        r = control_flow.cond(i > 0, lambda: r - state.beta.read(i - 1) * _column(state.v, i - 1), lambda: r)
        r.set_shape(shape)
        v, alpha = _orthonormal(i - 1, state.v, r) if orthogonalize else l2normalize(r)
        p = operator.apply(v) - alpha * u
        u, beta = _orthonormal(i, state.u, p) if orthogonalize else l2normalize(p)
        return i + 1, LanczosBidiagState(
            u=_write(state.u, u, i + 1),
            v=_write(state.v, v, i),
            alpha=state.alpha.write(i, alpha),
            beta=state.beta.write(i, beta),
        )

    with name_scope(name):
        dtype = operator.dtype
        if starting_vector is None:
            starting_vector = random_uniform(operator.shape[:1], -1, 1, dtype=dtype)
        u0, _ = l2normalize(starting_vector)
        u = _write(TensorArray(dtype, size=k + 1, clear_after_read=False), u0, 0)
        v, alpha, beta = (TensorArray(dtype, size=k, clear_after_read=False) for _ in range(3))
        start = [array.constant(0, dtype=dtypes.int32), LanczosBidiagState(u, v, alpha, beta)]
        _, state = control_flow.while_loop(lambda i, _: i < k, step, start)
        return LanczosBidiagState(
            array.matrix_transpose(state.u.stack()),
            array.matrix_transpose(state.v.stack()),
            state.alpha.stack(),
            state.beta.stack(),
        )


def _column(vectors, i):
    return array.expand_dims(vectors.read(i), -1)


def _write(vectors, vector, i):
    return vectors.write(i, array.squeeze(vector))


def _orthonormal(i, basis, v):
    """`v` made orthogonal to the first `i` columns, with length 1, and the length it had; anew where little was left."""
    length = l2norm(v)
    once = l2normalize(_without(i, basis, v))
    # Kahan and Parlett: where a vector lost more than this, rounding errors may be most of what is left of it.
    return control_flow.cond(once[1] < 0.717 * length, lambda: l2normalize(_without(i, basis, v)), lambda: once)


def _without(i, basis, vector):
    """The part of a vector that is orthogonal to the first `i` columns."""

    def step(j, basis, v):
        beside = _column(basis, j)
        shape = v.shape
        v = v - math_ops.matmul(beside, v, adjoint_a=True) * beside
        v.set_shape(shape)
        return j + 1, basis, v

    start = array.constant(0, dtype=dtypes.int32)
    return control_flow.while_loop(lambda j, *_: j < i, step, [start, basis, vector])[2]


def bidiag_matmul(matrix, alpha, beta, adjoint_b=False, name="bidiag_matmul"):
    """`matrix` times the lower bidiagonal matrix of k + 1 rows and k columns with `alpha` and `beta` below it.

    Args:
      matrix: A matrix of k + 1 columns, or of k with `adjoint_b`.
      alpha: The diagonal, k numbers.
      beta: The subdiagonal, k numbers.
      adjoint_b: Whether to multiply by the adjoint instead.
      name: The name of the scope.

    Returns:
      The product; its last column is left out with `adjoint_b`.
    """
    with name_scope(name):
        alpha = array.expand_dims(alpha, 0)
        if not adjoint_b:
            beta = array.expand_dims(beta, 0)
            return matrix[:, :-1] * alpha + matrix[:, 1:] * beta
        beta = array.expand_dims(beta[:-1], 0)
        shape = array.shape(matrix)
        zero_column = array.expand_dims(array.zeros(shape[:1], dtype=matrix.dtype), 1)
        return matrix * alpha + array.concat([zero_column, matrix[:, :-1] * beta], axis=1)
