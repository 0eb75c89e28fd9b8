"""The error function, its kin and its inverse, and the logarithm of the gamma function with its derivative, as formulas
over `Scalar`. What they promise is said in `math_functions`.
"""

from __future__ import annotations

import math

from everflow.native import polynomials
from everflow.native.exponentials import exact_sum, exp, exp_for_float, halves, log, log_for_float, sqrt
from everflow.native.formulas import DOUBLE, FLOAT, Scalar, polynomial
from everflow.native.trigonometry import sine_of_quarters

# --- the error function ---

# From here on erf is one.
_ERF_IS_ONE = {32: 4.0, 64: 6.0}


def _erf_to_one(x: Scalar) -> Scalar:
    """x + x P(x^2) for |x| < 1."""
    return x + x * polynomial(polynomials.ERF[x.format.bits], x * x)


def erf(x: Scalar) -> Scalar:
    """From one on 1 - e^P(|x|), where the error of the power counts little."""
    bits = x.format.bits
    magnitude = abs(x)
    far = 1.0 - exp(polynomial(polynomials.LOG_ERFC[bits], magnitude.clamped(1.0, _ERF_IS_ONE[bits])))
    return (magnitude < 1.0).where(_erf_to_one(x), far.with_sign_of(x))


def _erfc_from_half(x: Scalar) -> Scalar:
    """e^(P(t) - x^2) / (x + 1/2) with t = (x - 2) / (x + 2), of doubles from one half on. In the exponent last bits count
    most: the square is exact, and so is the sum with it and the constant of the polynomial.
    """
    constant, *terms = polynomials.ERFC[64]
    x = x.clamped(0.5, 28.0)
    high, low = halves(x)
    t = (x - 2.0) / (x + 2.0)
    exponent, lost = exact_sum(x.like(constant), -(high * high))
    exponent, lost_too = exact_sum(exponent, t * polynomial(terms, t))
    return exp(exponent, lost + lost_too - low * (x + high)) / (x + 0.5)


def _float_erfc_from_half(x: Scalar) -> Scalar:
    """The same in plain double precision, with as many terms as single precision needs."""
    x = x.to(DOUBLE).clamped(0.5, 10.5)
    exponent = polynomial(polynomials.ERFC[32], (x - 2.0) / (x + 2.0)) - x * x
    return (exp_for_float(exponent) / (x + 0.5)).to(FLOAT)


def erfc(x: Scalar) -> Scalar:
    magnitude = abs(x)
    far = (_erfc_from_half if x.type == DOUBLE else _float_erfc_from_half)(magnitude)
    return (magnitude < 0.5).where(1.0 - _erf_to_one(x), (x > 0.0).where(far, 2.0 - far))


def erfinv(x: Scalar) -> Scalar:
    """x P(w) with w = -log(1 - x^2), or x P(sqrt(w)) near one (Giles), computed in double precision; a double result
    is then improved by one step of Halley's iteration, which triples its digits.
    """
    bits = x.format.bits
    magnitude = abs(x).to(DOUBLE)
    w = -(log if bits == 64 else log_for_float)((1.0 - magnitude) * (1.0 + magnitude))
    near = polynomial(polynomials.ERFINV_NEAR[bits], w - 2.5)
    far = polynomial(polynomials.ERFINV_FAR[bits], sqrt(w) - 3.0)
    y = magnitude * (w < 5.0).where(near, far)
    if bits == 64:
        over = (y < 0.5).where(_erf_to_one(y) - magnitude, (1.0 - magnitude) - _erfc_from_half(y))
        step = over * (math.sqrt(math.pi) / 2) * exp(y * y)
        y = y - step / (1.0 + y * step)
    y = (magnitude < 1.0).where(y, (magnitude == 1.0).where(math.inf, y.like(math.nan)))
    return y.to(x.type).with_sign_of(x)


# --- the gamma function: only in single precision, as digits are lost near its zeros ---

# Of Stirling's series for log gamma, and for its derivative, in 1 / x^2: Bernoulli numbers.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
_STIRLING = tuple(b / ((2 * i + 1) * (2 * i + 2)) for i, b in enumerate(_BERNOULLI))
_STIRLING_SLOPE = tuple(b / (2 * i + 2) for i, b in enumerate(_BERNOULLI))
_SHIFT = 8  # from here on the series serve


def _reflected(x: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """x in double precision; whether it is below one half; the one of x and 1 - x that is not, and whether that has to
    be shifted for the series.
    """
    x = x.to(DOUBLE)
    below = x < 0.5
    upper = below.where(1.0 - x, x)
    return x, below, upper, upper < float(_SHIFT)


def _sine_of_half_turns(x: Scalar, quarters: int) -> Scalar:
    """The sine of pi x, some quarter turns on; x less the nearest half is exact."""
    twice = x + x
    whole = twice.call("llvm.rint")
    rest = whole - 4.0 * (whole * 0.25).call("llvm.floor")
    integer = (rest + 2.0**52).bits() + quarters
    return sine_of_quarters((twice - whole) * (math.pi / 2), integer, bits=64)


def lgamma(x: Scalar) -> Scalar:
    """Stirling's series from 8 on; below, log gamma(x + 8) - log(x (x + 1) ... (x + 7)); below one half,
    log(pi / |sin pi x|) - log gamma(1 - x).
    """
    wide, below, upper, shifted = _reflected(x)
    product = upper
    for i in range(1, _SHIFT):
        product = product * (upper + float(i))
    product = shifted.where(product, 1.0)
    upper = shifted.where(upper + float(_SHIFT), upper)
    inverse = 1.0 / upper
    series = (upper - 0.5) * log(upper) - upper + 0.5 * math.log(2 * math.pi)
    series = series + polynomial(_STIRLING, inverse * inverse) * inverse
    others = log(below.where(math.pi * product / abs(_sine_of_half_turns(wide, 0)), product))
    result = below.where(others - series, series - others)
    result = ((wide == 1.0) | (wide == 2.0)).where(0.0, result)
    return (abs(wide) == math.inf).where(math.inf, result).to(x.type)


def digamma(x: Scalar) -> Scalar:
    """The series log(x) - 1/2x - ... from 8 on; below, that of x + 8 less 1/x + ... + 1/(x + 7), summed as one
    fraction; below one half, digamma(1 - x) - pi / tan(pi x). At its poles it is infinite, as TensorFlow has it.
    """
    wide, below, upper, shifted = _reflected(x)
    top, bottom = wide.like(1.0), upper
    for i in range(1, _SHIFT):
        factor = upper + float(i)
        top, bottom = top * factor + bottom, bottom * factor
    fraction = shifted.where(top / bottom, 0.0)
    upper = shifted.where(upper + float(_SHIFT), upper)
    inverse = 1.0 / upper
    square = inverse * inverse
    result = log(upper) - 0.5 * inverse - polynomial(_STIRLING_SLOPE, square) * square - fraction
    cotangent = _sine_of_half_turns(wide, 1) / _sine_of_half_turns(wide, 0)
    result = below.where(result - math.pi * cotangent, result)
    pole = (wide <= 0.0) & (wide.call("llvm.floor") == wide)
    return (pole | (wide == math.inf)).where(math.inf, result).to(x.type)
