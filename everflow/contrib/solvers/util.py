"""Operators that solvers multiply by, and inner products of vectors that may be columns."""

from __future__ import annotations

import collections

from everflow.ops import array
from everflow.ops import math as math_ops
from everflow.ops.nn.losses import l2_loss

_Operator = collections.namedtuple("_Operator", "shape,dtype,apply,apply_adjoint")


def create_operator(matrix):
    """The operator that multiplies by `matrix`: its `shape` and `dtype`, `apply(x)` and `apply_adjoint(x)`."""
    known = matrix.shape.is_fully_defined()
    return _Operator(
        shape=matrix.shape.as_list() if known else array.shape(matrix),
        dtype=matrix.dtype,
        apply=lambda v: math_ops.matmul(matrix, v, adjoint_a=False),
        apply_adjoint=lambda v: math_ops.matmul(matrix, v, adjoint_a=True),
    )


def identity_operator(matrix):
    """The operator that leaves vectors as they are, of the shape and type of `matrix`."""
    return create_operator(matrix)._replace(apply=lambda v: v, apply_adjoint=lambda v: v)


def dot(x, y):
    """The sum of the products of all elements of `x`, conjugated, and `y`."""
    return math_ops.reduce_sum(math_ops.conj(x) * y)


def l2norm_squared(v):
    """The sum of the squares of all elements."""
    return array.constant(2, dtype=v.dtype.base_dtype) * l2_loss(v)


def l2norm(v):
    """The Euclidean length of `v`."""
    return math_ops.sqrt(l2norm_squared(v))


def l2normalize(v):
    """`v` divided by its length, and the length."""
    norm = l2norm(v)
    return v / norm, norm
