"""Functions of single precision whose approximation in TensorFlow 1.x is coarser than `math_functions` allows, with its
bits: a seeded program that uses these gives TensorFlow's numbers. (The logarithm and, but for subnormal results, the
exponential have its bits anyway.) Errors are some units in the last place; far below zero sigmoid and softplus are near
in difference only, not in proportion.
"""

from __future__ import annotations

import math

from everflow.native.exponentials import exp, log
from everflow.native.formulas import Scalar, polynomial

# Eigen's rational approximations, numerator and denominator: x P(x^2) / Q(x^2).
_TANH = (
    (4.89352455891786e-03, 6.37261928875436e-04, 1.48572235717979e-05, 5.12229709037114e-08, -8.60467152213735e-11,
     2.00018790482477e-13, -2.76076847742355e-16),
    (4.89352518554385e-03, 2.26843463243900e-03, 1.18534705686654e-04, 1.19825839466702e-06),
)  # fmt: skip
_SIGMOID = (
    (2.48287947061529e-01, 8.51377133304701e-03, 6.08574864600143e-05, 1.15627324459942e-07, 4.37031012579801e-11),
    (9.93151921023180e-01, 1.16817656904453e-01, 1.70198817374094e-03, 6.29106785017040e-06, 5.76102136993427e-09,
     6.10247389755681e-13),
)  # fmt: skip
# Where softplus begins to be x itself, and below the negative of it e^x.
_SOFTPLUS_IS_LINEAR = -(math.log(2.0**-23) + 2.0)


def _odd_ratio(terms: tuple[tuple[float, ...], tuple[float, ...]], x: Scalar, bound: float) -> Scalar:
    x = x.clamped(-bound, bound)
    square = x * x
    return x * polynomial(terms[0], square) / polynomial(terms[1], square)


def tanh(x: Scalar) -> Scalar:
    """Up to 7 units off. Of numbers below 2.4e-36 the product with the first term is subnormal: zero, as in TensorFlow,
    while a graph runs.
    """
    return _odd_ratio(_TANH, x, 9.0)


def sigmoid(x: Scalar) -> Scalar:
    return (_odd_ratio(_SIGMOID, x, 18.0) + 0.5).clamped(0.0, 1.0)


def log1p(x: Scalar) -> Scalar:
    """x log(u) / (u - 1) with u = 1 + x as rounded (Kahan); up to 2.4 units off."""
    u = x + 1.0
    return ((u == 1.0) | (u == math.inf)).where(x, x * (log(u) / (u - 1.0)))


def expm1(x: Scalar) -> Scalar:
    """(u - 1) x / log(u) with u = e^x as rounded (Kahan)."""
    u = exp(x)
    less = u - 1.0
    result = ((less == -1.0) | (u == math.inf)).where(less, less * (x / log(u)))
    return (u == 1.0).where(x, result)


def softplus(x: Scalar) -> Scalar:
    power = exp(x)
    result = (x < -_SOFTPLUS_IS_LINEAR).where(power, log(power + 1.0))
    return (x > _SOFTPLUS_IS_LINEAR).where(x, result)
