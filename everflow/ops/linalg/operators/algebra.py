"""How kinds of operators combine: adjoints, inverses, Cholesky factors, products and solutions that stay in a simple
kind.
"""

from __future__ import annotations

import functools

from everflow.ops import math
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.linalg.operators import hints as known_of_both
from everflow.ops.linalg.operators.base import LinearOperator
from everflow.ops.linalg.operators.basic import (
    LinearOperatorDiag,
    LinearOperatorHouseholder,
    LinearOperatorLowerTriangular,
)
from everflow.ops.linalg.operators.circulant import LinearOperatorCirculant
from everflow.ops.linalg.operators.combined import (
    LinearOperatorAdjoint,
    LinearOperatorBlockDiag,
    LinearOperatorComposition,
    LinearOperatorInversion,
)
from everflow.ops.linalg.operators.identity import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)
from everflow.ops.linalg.operators.kronecker import LinearOperatorKronecker
from everflow.ops.linalg.operators.registry import register

# Kinds that are given by a value for each row, or one for all: what they do, they do to each value.
_VALUES = {LinearOperatorDiag: "diag", LinearOperatorScaledIdentity: "multiplier", LinearOperatorCirculant: "spectrum"}

# Kinds made of parts, of which the adjoint (and so on) is made of those of the parts.
_OF_PARTS = (LinearOperatorBlockDiag, LinearOperatorKronecker)

_ALL_HINTS = {"is_non_singular": True, "is_self_adjoint": True, "is_positive_definite": True, "is_square": True}


def _hints(operator, **known):
    return {hint: getattr(operator, hint) for hint in _ALL_HINTS} | known


def _values(operator):
    return next(getattr(operator, name) for kind, name in _VALUES.items() if isinstance(operator, kind))


def _of_values(kind, operator, values, hints):
    """An operator of a kind with these values, and as many rows as another one."""
    rows = {"num_rows": operator._num_rows} if kind is LinearOperatorScaledIdentity else {}
    return kind(**rows, **{_VALUES[kind]: values}, **hints)


def _itself(operator):
    return operator


def _of_parts(kind, operation, hints, operator):
    return kind(operators=[getattr(part, operation)() for part in operator.operators], **hints(operator))


# Adjoints


@register("adjoint", LinearOperator)
def _adjoint(operator):
    return LinearOperatorAdjoint(operator, **_hints(operator))


def _adjoint_of_values(kind, operator):
    values = _values(operator)
    return _of_values(
        kind, operator, math.conj(values) if values.dtype.is_complex else values, _hints(operator, is_square=True)
    )


# Inverses


@register("inverse", LinearOperator)
def _inverse(operator):
    return LinearOperatorInversion(operator, **_hints(operator))


def _inverse_of_values(kind, operator):
    hints = _hints(operator, is_square=True)
    if kind is LinearOperatorScaledIdentity:
        hints["is_self_adjoint"] = True
    return _of_values(kind, operator, 1.0 / _values(operator), hints)


for _operation, _of_kind in (("adjoint", _adjoint_of_values), ("inverse", _inverse_of_values)):
    for _kind in _VALUES:
        register(_operation, _kind)(functools.partial(_of_kind, _kind))
    for _kind in _OF_PARTS:
        register(_operation, _kind)(
            functools.partial(_of_parts, _kind, _operation, functools.partial(_hints, is_square=True))
        )
    for _kind in (LinearOperatorIdentity, LinearOperatorHouseholder):
        register(_operation, _kind)(_itself)
register("adjoint", LinearOperatorAdjoint)(lambda adjoint: adjoint.operator)
register("inverse", LinearOperatorInversion)(lambda inversion: inversion.operator)


# Cholesky factors


@register("cholesky", LinearOperator)
def _cholesky(operator):
    return LinearOperatorLowerTriangular(
        linalg.cholesky(operator.to_dense()), is_non_singular=True, is_self_adjoint=False, is_square=True
    )


@register("cholesky", LinearOperatorIdentity)
def _cholesky_identity(operator):
    return LinearOperatorIdentity(
        num_rows=operator._num_rows, batch_shape=operator.batch_shape, dtype=operator.dtype, **_ALL_HINTS
    )


def _cholesky_of_values(kind, operator):
    return _of_values(kind, operator, math.sqrt(_values(operator)), _ALL_HINTS)


def _hints_of_cholesky(operator):
    return {"is_non_singular": True, "is_self_adjoint": None, "is_square": True}


for _kind in (LinearOperatorDiag, LinearOperatorScaledIdentity):
    register("cholesky", _kind)(functools.partial(_cholesky_of_values, _kind))
for _kind in _OF_PARTS:
    register("cholesky", _kind)(functools.partial(_of_parts, _kind, "cholesky", _hints_of_cholesky))


# Products


def _product_hints(a, b):
    """What is known of a product of operators that commute."""
    return {
        "is_non_singular": known_of_both.combined_non_singular_hint(a, b),
        "is_self_adjoint": known_of_both.combined_commuting_self_adjoint_hint(a, b),
        "is_positive_definite": known_of_both.combined_commuting_positive_definite_hint(a, b),
        "is_square": True,
    }


@register("matmul", LinearOperator, LinearOperator)
def _matmul(a, b):
    hints = dict.fromkeys(_ALL_HINTS, False)  # of a product that isn't square
    if (is_square := known_of_both.is_square(a, b)) is not False:
        # Only a product of square ones can have the inverses of both.
        of_squares = known_of_both.combined_non_singular_hint(a, b) if a.is_square and b.is_square else None
        hints = {"is_non_singular": of_squares, "is_square": is_square}
    return LinearOperatorComposition([a, b], **hints)


register("matmul", LinearOperatorIdentity, LinearOperator)(lambda identity, operator: operator)
register("matmul", LinearOperator, LinearOperatorIdentity)(lambda operator, identity: operator)


def _matmul_zeros_left(zeros, operator):
    if not zeros.is_square or not operator.is_square:
        raise ValueError(
            f"A product with zeros is an operator only of square ones; got {zeros.shape} by {operator.shape}"
        )
    return zeros


def _matmul_zeros_right(operator, zeros):
    return _matmul_zeros_left(zeros, operator)


register("matmul", LinearOperatorZeros, LinearOperator)(_matmul_zeros_left)
register("matmul", LinearOperator, LinearOperatorZeros)(_matmul_zeros_right)


def _matmul_of_values(kind, a, b):
    return _of_values(kind, a, _values(a) * _values(b), _product_hints(a, b))


def _solve_of_values(kind, a, b):
    return _of_values(kind, a, _values(b) / _values(a), _product_hints(a, b))


for _operation, _of_kind in (("matmul", _matmul_of_values), ("solve", _solve_of_values)):
    for _kind in (LinearOperatorDiag, LinearOperatorCirculant):
        register(_operation, _kind, _kind)(functools.partial(_of_kind, _kind))
    register(_operation, LinearOperatorDiag, LinearOperatorScaledIdentity)(
        functools.partial(_of_kind, LinearOperatorDiag)
    )
register("solve", LinearOperatorScaledIdentity, LinearOperatorDiag)(
    functools.partial(_solve_of_values, LinearOperatorDiag)
)


@register("matmul", LinearOperatorScaledIdentity, LinearOperatorDiag)
def _matmul_scaled_identity_diag(identity, diag):
    return _matmul_of_values(LinearOperatorDiag, diag, identity)


def _triangular(values, diag, tril):
    """A triangular matrix of these values, made of a diagonal one and a triangular one."""
    return LinearOperatorLowerTriangular(
        tril=values,
        is_non_singular=known_of_both.combined_non_singular_hint(diag, tril),
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
    )


@register("matmul", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _matmul_diag_tril(diag, tril):
    return _triangular(diag.diag[..., None] * tril.to_dense(), diag, tril)


@register("matmul", LinearOperatorLowerTriangular, LinearOperatorDiag)
def _matmul_tril_diag(tril, diag):
    return _triangular(tril.to_dense() * diag.diag, diag, tril)


@register("solve", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _solve_diag_tril(diag, tril):
    return _triangular(tril.to_dense() / diag.diag[..., None], diag, tril)


# Solutions


@register("solve", LinearOperator, LinearOperator)
def _solve(a, b):
    return _matmul(LinearOperatorInversion(a), b)


@register("solve", LinearOperatorInversion, LinearOperator)
def _solve_inversion(inversion, operator):
    return inversion.operator.matmul(operator)


register("solve", LinearOperatorIdentity, LinearOperator)(lambda identity, operator: operator)
