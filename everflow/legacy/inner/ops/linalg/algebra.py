"""tensorflow.python.ops.linalg.linear_operator_algebra: the tables of what operators give, and decorators that add to
them.
"""

from __future__ import annotations

from everflow.ops.linalg.operators import algebra  # noqa: F401  What it has is registered when it is loaded.
from everflow.ops.linalg.operators.registry import FUNCTIONS, apply, register, registered

_ADJOINTS, _CHOLESKY_DECOMPS, _INVERSES, _MATMUL, _SOLVE = FUNCTIONS.values()


def _of_one(operation):
    def result(lin_op_a, name=None):
        return apply(operation, lin_op_a, name=name)

    def lookup(type_a):
        return registered(operation, type_a)

    class Register:
        def __init__(self, lin_op_cls_a):
            self._key = (lin_op_cls_a,)

        def __call__(self, function):
            return register(operation, *self._key)(function)

    return result, lookup, Register


def _of_two(operation):
    def result(lin_op_a, lin_op_b, name=None):
        return apply(operation, lin_op_a, lin_op_b, name=name)

    def lookup(type_a, type_b):
        return registered(operation, type_a, type_b)

    class Register:
        def __init__(self, lin_op_cls_a, lin_op_cls_b):
            self._key = (lin_op_cls_a, lin_op_cls_b)

        def __call__(self, function):
            return register(operation, *self._key)(function)

    return result, lookup, Register


adjoint, _registered_adjoint, RegisterAdjoint = _of_one("adjoint")
cholesky, _registered_cholesky, RegisterCholesky = _of_one("cholesky")
inverse, _registered_inverse, RegisterInverse = _of_one("inverse")
matmul, _registered_matmul, RegisterMatmul = _of_two("matmul")
solve, _registered_solve, RegisterSolve = _of_two("solve")
