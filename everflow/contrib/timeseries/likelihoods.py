"""Logarithms of densities that models of series score values with."""

from __future__ import annotations

import math as numbers

from everflow.ops import array, math
from everflow.ops.array.diagonals import matrix_diag_part
from everflow.ops.linalg.decompositions import matrix_triangular_solve

# Of the variance of a normal distribution, the square of the scale of the Cauchy distribution that is as uncertain:
# entropies log(4 pi scale) and log(2 pi e variance) / 2.
_CAUCHY_OF_VARIANCE = numbers.exp(1.0) / (8.0 * numbers.pi)


def normal_log_prob(loc, scale, x):
    """The logarithm of a normal distribution's density, with the logarithm of `scale` weighed half."""
    return -0.5 * (math.square((x - loc) / scale) + numbers.log(2.0 * numbers.pi) + math.log(scale))


def cauchy_log_prob(loc, scale, x):
    """The logarithm of a Cauchy distribution's density."""
    away = (x - loc) / scale
    return -numbers.log(numbers.pi) - math.log(scale) - math.log1p(math.square(away))


def mvn_tril_log_prob(loc, scale_tril, x):
    """The logarithm of a multivariate normal distribution's density.

    Args:
        loc: The means, `[..., n]`.
        scale_tril: Lower triangular roots of the covariances, `[..., n, n]`.
        x: The values, `[..., n]`.
    """
    away = matrix_triangular_solve(scale_tril, (x - loc)[..., None])[..., 0]
    log_determinant = 2.0 * math.reduce_sum(math.log(matrix_diag_part(scale_tril)), axis=-1)
    size = math.cast(array.shape(scale_tril)[-1], scale_tril.dtype)
    return -0.5 * (math.reduce_sum(math.square(away), axis=-1) + size * numbers.log(2.0 * numbers.pi) + log_determinant)


def entropy_matched_cauchy_scale(covariance):
    """Scales of Cauchy distributions that are as uncertain as normal ones of these variances, `[..., n]`."""
    return math.sqrt(_CAUCHY_OF_VARIANCE * matrix_diag_part(covariance))
