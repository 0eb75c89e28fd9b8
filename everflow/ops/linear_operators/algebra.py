"""How kinds of operators combine: adjoints, inverses, Cholesky factors, products and solutions that stay in a simple kind."""

from __future__ import annotations

from everflow.ops import linalg, math
from everflow.ops.linear_operators.base import LinearOperator
from everflow.ops.linear_operators.basic import (
    LinearOperatorDiag,
    LinearOperatorHouseholder,
    LinearOperatorLowerTriangular,
)
from everflow.ops.linear_operators.circulant import LinearOperatorCirculant
from everflow.ops.linear_operators.combined import (
    LinearOperatorAdjoint,
    LinearOperatorBlockDiag,
    LinearOperatorComposition,
    LinearOperatorInversion,
)
from everflow.ops.linear_operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorZeros
from everflow.ops.linear_operators.kronecker import LinearOperatorKronecker
from everflow.ops.linear_operators.registry import register


def _hints(operator):
    return {
        "is_non_singular": operator.is_non_singular,
        "is_self_adjoint": operator.is_self_adjoint,
        "is_positive_definite": operator.is_positive_definite,
        "is_square": True,
    }


# Adjoints


@register("adjoint", LinearOperator)
def _adjoint(operator):
    return LinearOperatorAdjoint(
        operator,
        is_non_singular=operator.is_non_singular,
        is_self_adjoint=operator.is_self_adjoint,
        is_positive_definite=operator.is_positive_definite,
        is_square=operator.is_square,
    )


@register("adjoint", LinearOperatorAdjoint)
def _adjoint_adjoint(operator):
    return operator.operator


@register("adjoint", LinearOperatorIdentity)
def _adjoint_identity(operator):
    return operator


@register("adjoint", LinearOperatorScaledIdentity)
def _adjoint_scaled_identity(operator):
    multiplier = math.conj(operator.multiplier) if operator.multiplier.dtype.is_complex else operator.multiplier
    return LinearOperatorScaledIdentity(num_rows=operator._num_rows, multiplier=multiplier, **_hints(operator))


@register("adjoint", LinearOperatorDiag)
def _adjoint_diag(operator):
    diag = math.conj(operator.diag) if operator.diag.dtype.is_complex else operator.diag
    return LinearOperatorDiag(diag=diag, **_hints(operator))


@register("adjoint", LinearOperatorBlockDiag)
def _adjoint_block_diag(operator):
    return LinearOperatorBlockDiag(operators=[o.adjoint() for o in operator.operators], **_hints(operator))


@register("adjoint", LinearOperatorKronecker)
def _adjoint_kronecker(operator):
    return LinearOperatorKronecker(operators=[o.adjoint() for o in operator.operators], **_hints(operator))


@register("adjoint", LinearOperatorCirculant)
def _adjoint_circulant(operator):
    spectrum = math.conj(operator.spectrum) if operator.spectrum.dtype.is_complex else operator.spectrum
    return LinearOperatorCirculant(spectrum=spectrum, **_hints(operator))


@register("adjoint", LinearOperatorHouseholder)
def _adjoint_householder(operator):
    return operator


# Inverses


@register("inverse", LinearOperator)
def _inverse(operator):
    return LinearOperatorInversion(
        operator,
        is_non_singular=operator.is_non_singular,
        is_self_adjoint=operator.is_self_adjoint,
        is_positive_definite=operator.is_positive_definite,
        is_square=operator.is_square,
    )


@register("inverse", LinearOperatorInversion)
def _inverse_inversion(operator):
    return operator.operator


@register("inverse", LinearOperatorDiag)
def _inverse_diag(operator):
    return LinearOperatorDiag(1.0 / operator.diag, **_hints(operator))


@register("inverse", LinearOperatorIdentity)
def _inverse_identity(operator):
    return operator


@register("inverse", LinearOperatorScaledIdentity)
def _inverse_scaled_identity(operator):
    return LinearOperatorScaledIdentity(
        num_rows=operator._num_rows,
        multiplier=1.0 / operator.multiplier,
        is_non_singular=operator.is_non_singular,
        is_self_adjoint=True,
        is_positive_definite=operator.is_positive_definite,
        is_square=True,
    )


@register("inverse", LinearOperatorBlockDiag)
def _inverse_block_diag(operator):
    return LinearOperatorBlockDiag(operators=[o.inverse() for o in operator.operators], **_hints(operator))


@register("inverse", LinearOperatorKronecker)
def _inverse_kronecker(operator):
    return LinearOperatorKronecker(operators=[o.inverse() for o in operator.operators], **_hints(operator))


@register("inverse", LinearOperatorCirculant)
def _inverse_circulant(operator):
    return LinearOperatorCirculant(spectrum=1.0 / operator.spectrum, **_hints(operator))


@register("inverse", LinearOperatorHouseholder)
def _inverse_householder(operator):
    return operator


# Cholesky factors


@register("cholesky", LinearOperator)
def _cholesky(operator):
    return LinearOperatorLowerTriangular(linalg.cholesky(operator.to_dense()), is_non_singular=True, is_self_adjoint=False, is_square=True)


@register("cholesky", LinearOperatorDiag)
def _cholesky_diag(operator):
    return LinearOperatorDiag(
        math.sqrt(operator.diag), is_non_singular=True, is_self_adjoint=True, is_positive_definite=True, is_square=True
    )


@register("cholesky", LinearOperatorIdentity)
def _cholesky_identity(operator):
    return LinearOperatorIdentity(
        num_rows=operator._num_rows,
        batch_shape=operator.batch_shape,
        dtype=operator.dtype,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
    )


@register("cholesky", LinearOperatorScaledIdentity)
def _cholesky_scaled_identity(operator):
    return LinearOperatorScaledIdentity(
        num_rows=operator._num_rows,
        multiplier=math.sqrt(operator.multiplier),
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
    )


@register("cholesky", LinearOperatorBlockDiag)
def _cholesky_block_diag(operator):
    return LinearOperatorBlockDiag(
        operators=[o.cholesky() for o in operator.operators], is_non_singular=True, is_self_adjoint=None, is_square=True
    )


@register("cholesky", LinearOperatorKronecker)
def _cholesky_kronecker(operator):
    return LinearOperatorKronecker(
        operators=[o.cholesky() for o in operator.operators], is_non_singular=True, is_self_adjoint=None, is_square=True
    )


# Products


def _both(a, b, attribute):
    """A hint of a product of diagonal kinds: true where it is true of both."""
    return True if getattr(a, attribute) and getattr(b, attribute) else None


def _product_hints(a, b):
    return {
        "is_non_singular": _product_non_singular(a, b),
        "is_self_adjoint": _product_self_adjoint(a, b),
        "is_positive_definite": _product_positive_definite(a, b),
        "is_square": True,
    }


def _product_non_singular(a, b):
    if a.is_non_singular is False or b.is_non_singular is False:
        return False
    return _both(a, b, "is_non_singular")


def _product_self_adjoint(a, b):
    return True if a.is_self_adjoint and b.is_self_adjoint else None


def _product_positive_definite(a, b):
    return True if a.is_positive_definite and b.is_positive_definite else None


@register("matmul", LinearOperator, LinearOperator)
def _matmul(a, b):
    if a.is_square is False or b.is_square is False:
        is_square = a.is_square and b.is_square
    else:
        is_square = None
    is_non_singular = _product_non_singular(a, b) if is_square is not False else None
    return LinearOperatorComposition([a, b], is_non_singular=is_non_singular, is_square=is_square)


@register("matmul", LinearOperatorIdentity, LinearOperator)
def _matmul_identity_left(identity, operator):
    return operator


@register("matmul", LinearOperator, LinearOperatorIdentity)
def _matmul_identity_right(operator, identity):
    return operator


@register("matmul", LinearOperatorIdentity, LinearOperatorIdentity)
def _matmul_identities(a, b):
    return b


@register("matmul", LinearOperatorScaledIdentity, LinearOperatorScaledIdentity)
def _matmul_scaled_identities(a, b):
    return LinearOperatorScaledIdentity(num_rows=a._num_rows, multiplier=a.multiplier * b.multiplier, **_product_hints(a, b))


@register("matmul", LinearOperatorZeros, LinearOperator)
def _matmul_zeros_left(zeros, operator):
    if not zeros.is_square or not operator.is_square:
        raise ValueError(f"A product with zeros is an operator only of square ones; got {zeros.shape} by {operator.shape}")
    return zeros


@register("matmul", LinearOperator, LinearOperatorZeros)
def _matmul_zeros_right(operator, zeros):
    return _matmul_zeros_left(zeros, operator)


register("matmul", LinearOperatorZeros, LinearOperatorZeros)(_matmul_zeros_left)
register("matmul", LinearOperatorZeros, LinearOperatorIdentity)(_matmul_zeros_left)
register("matmul", LinearOperatorIdentity, LinearOperatorZeros)(_matmul_zeros_right)


@register("matmul", LinearOperatorDiag, LinearOperatorDiag)
def _matmul_diags(a, b):
    return LinearOperatorDiag(diag=a.diag * b.diag, **_product_hints(a, b))


@register("matmul", LinearOperatorDiag, LinearOperatorScaledIdentity)
def _matmul_diag_scaled_identity(diag, identity):
    return LinearOperatorDiag(diag=diag.diag * identity.multiplier, **_product_hints(diag, identity))


@register("matmul", LinearOperatorScaledIdentity, LinearOperatorDiag)
def _matmul_scaled_identity_diag(identity, diag):
    return LinearOperatorDiag(diag=diag.diag * identity.multiplier, **_product_hints(diag, identity))


@register("matmul", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _matmul_diag_tril(diag, tril):
    return LinearOperatorLowerTriangular(
        tril=diag.diag[..., None] * tril.to_dense(), is_non_singular=_product_non_singular(diag, tril), is_self_adjoint=None,
        is_positive_definite=None, is_square=True,
    )  # fmt: skip


@register("matmul", LinearOperatorLowerTriangular, LinearOperatorDiag)
def _matmul_tril_diag(tril, diag):
    return LinearOperatorLowerTriangular(
        tril=tril.to_dense() * diag.diag, is_non_singular=_product_non_singular(diag, tril), is_self_adjoint=None,
        is_positive_definite=None, is_square=True,
    )  # fmt: skip


@register("matmul", LinearOperatorCirculant, LinearOperatorCirculant)
def _matmul_circulants(a, b):
    return LinearOperatorCirculant(spectrum=a.spectrum * b.spectrum, **_product_hints(a, b))


# Solutions


@register("solve", LinearOperator, LinearOperator)
def _solve(a, b):
    return a.inverse().matmul(b)


@register("solve", LinearOperatorInversion, LinearOperator)
def _solve_inversion(inversion, operator):
    return inversion.operator.matmul(operator)


@register("solve", LinearOperatorIdentity, LinearOperator)
def _solve_identity(identity, operator):
    return operator


@register("solve", LinearOperatorScaledIdentity, LinearOperatorScaledIdentity)
def _solve_scaled_identities(a, b):
    return LinearOperatorScaledIdentity(num_rows=a._num_rows, multiplier=b.multiplier / a.multiplier, **_product_hints(a, b))


@register("solve", LinearOperatorDiag, LinearOperatorDiag)
def _solve_diags(a, b):
    return LinearOperatorDiag(diag=b.diag / a.diag, **_product_hints(a, b))


@register("solve", LinearOperatorDiag, LinearOperatorScaledIdentity)
def _solve_diag_scaled_identity(diag, identity):
    return LinearOperatorDiag(diag=identity.multiplier / diag.diag, **_product_hints(diag, identity))


@register("solve", LinearOperatorScaledIdentity, LinearOperatorDiag)
def _solve_scaled_identity_diag(identity, diag):
    return LinearOperatorDiag(diag=diag.diag / identity.multiplier, **_product_hints(diag, identity))


@register("solve", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _solve_diag_tril(diag, tril):
    return LinearOperatorLowerTriangular(
        tril=tril.to_dense() / diag.diag[..., None], is_non_singular=_product_non_singular(diag, tril), is_self_adjoint=None,
        is_positive_definite=None, is_square=True,
    )  # fmt: skip


@register("solve", LinearOperatorCirculant, LinearOperatorCirculant)
def _solve_circulants(a, b):
    return LinearOperatorCirculant(spectrum=b.spectrum / a.spectrum, **_product_hints(a, b))
