"""The distribution function of the normal distribution, its logarithm and inverse, exact in the tails; and Laplace's.

The inverse follows Cephes: rational approximations in the middle and in two zones of the tails.
"""

from __future__ import annotations

import math as pymath

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.array.indexing import where_v2

# Below the first number log_ndtr is a series; above the second its logarithm is taken from the other side.
LOGNDTR_FLOAT64_LOWER, LOGNDTR_FLOAT32_LOWER = np.array(-20.0, np.float64), np.array(-10.0, np.float32)
LOGNDTR_FLOAT64_UPPER, LOGNDTR_FLOAT32_UPPER = np.array(8.0, np.float64), np.array(5.0, np.float32)
_SERIES_BELOW = {dtypes.float64: LOGNDTR_FLOAT64_LOWER, dtypes.float32: LOGNDTR_FLOAT32_LOWER}
_MIRRORED_ABOVE = {dtypes.float64: LOGNDTR_FLOAT64_UPPER, dtypes.float32: LOGNDTR_FLOAT32_UPPER}

# Polynomials of the inverse, highest power first: (numerator, denominator) in the middle and in two zones of the tails.


def _polynomial(text):
    return tuple(map(float, text.split()))


_MIDDLE = (
    _polynomial("-59.96335010141079 98.00107541859997 -56.67628574690703 13.931260938727968 -1.2391658386738125"),
    _polynomial("""1.0 1.9544885833814176 4.676279128988815 86.36024213908905 -225.46268785411937
        200.26021238006066 -82.03722561683334 15.90562251262117 -1.1833162112133"""),
)
_MODERATE = (
    _polynomial("""4.0554489230596245 31.525109459989388 57.16281922464213 44.08050738932008 14.684956192885803
        2.1866330685079025 -0.1402560791713545 -0.03504246268278482 -0.0008574567851546854"""),
    _polynomial("""1.0 15.779988325646675 45.39076351288792 41.3172038254672 15.04253856929075 2.504649462083094
        -0.14218292285478779 -0.03808064076915783 -0.0009332594808954574"""),
)
_FAR = (
    _polynomial("""3.2377489177694603 6.915228890689842 3.9388102529247444 1.3330346081580755 0.20148538954917908
        0.012371663481782003 0.00030158155350823543 2.6580697468673755e-06 6.239745391849833e-09"""),
    _polynomial("""1.0 6.02427039364742 3.6798356385616087 1.3770209948908132 0.21623699359449663
        0.013420400608854318 0.00032801446468212774 2.8924786474538068e-06 6.790194080099813e-09"""),
)


def _checked(x, name):
    x = convert_to_tensor(x, name=name)
    if x.dtype.as_numpy_dtype not in (np.float32, np.float64):
        raise TypeError(f"{name}.dtype={x.dtype.name} is not handled, float32 and float64 are.")
    return x


def ndtr(x, name="ndtr"):
    """The probability that a standard normal draw is at most x."""
    with name_scope(name, values=[x]):
        return _ndtr(_checked(x, "x"))


def _ndtr(x):
    half_sqrt_2 = constant(0.5 * np.sqrt(2.0), dtype=x.dtype, name="half_sqrt_2")
    w = x * half_sqrt_2
    z = math.abs(w)
    small = math.less(z, half_sqrt_2)
    near = 1.0 + math.erf(w)
    positive = math.greater(w, 0.0)
    return 0.5 * where_v2(small, near, where_v2(positive, 2.0 - math.erfc(z), math.erfc(z)))


def log_ndtr(x, series_order=3, name="log_ndtr"):
    """The logarithm of ndtr, from an asymptotic series of that many terms in the lower tail."""
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if series_order < 0:
        raise ValueError("series_order must be non-negative.")
    if series_order > 30:
        raise ValueError("series_order must be <= 30.")
    with name_scope(name, values=[x]):
        x = _checked(x, "x")
        lower, upper = _SERIES_BELOW[x.dtype.base_dtype], _MIRRORED_ABOVE[x.dtype.base_dtype]
        above = math.greater(x, upper)
        mirrored = -_ndtr(-x)
        between = math.greater(x, lower)
        direct = math.log(_ndtr(math.maximum(x, lower)))
        series = _log_ndtr_lower(math.minimum(x, lower), series_order)
        return where_v2(above, mirrored, where_v2(between, direct, series))


def _log_ndtr_lower(x, series_order):
    log_scale = -0.5 * math.square(x) - math.log(-x) - 0.5 * np.log(2.0 * np.pi)
    return log_scale + math.log(_series(x, series_order))


def _series(x, order):
    """Terms (-1)^n (2n - 1)!! / x^2n; even and odd ones are summed apart, because they cancel."""
    if order <= 0:
        return np.array(1, x.dtype.as_numpy_dtype())
    x_2 = math.square(x)
    sums = [array.zeros_like(x), array.zeros_like(x)]
    power = x_2
    for n in range(1, order + 1):
        term = np.array(pymath.prod(range(1, 2 * n, 2)), x.dtype.as_numpy_dtype()) / power
        sums[n % 2] += term
        power *= x_2
    return 1.0 + sums[0] - sums[1]


def ndtri(p, name="ndtri"):
    """The value that a standard normal draw stays below with probability p."""
    with name_scope(name, values=[p]):
        return _ndtri(_checked(p, "p"))


def _ndtri(p):
    def ratio(polynomials, x):
        numerator, denominator = polynomials
        return polynomial(numerator, x), polynomial(denominator, x)

    def polynomial(coefficients, x):
        value = array.zeros_like(x)
        for coefficient in coefficients:
            value = np.array(coefficient, x.dtype.as_numpy_dtype()) + value * x
        return value

    edge = -np.expm1(-2.0)
    folded = where_v2(p > edge, 1.0 - p, p)
    # Values outside (0, 1) get a harmless one here, for finite gradients; their results are replaced at the end.
    safe = where_v2(folded <= 0.0, array.fill(array.shape(p), np.array(0.5, p.dtype.as_numpy_dtype())), folded)

    w = safe - 0.5
    ww = w**2
    middle = w * ww
    top, bottom = ratio(_MIDDLE, ww)
    middle = w + middle * (top / bottom)
    middle *= -np.sqrt(2.0 * np.pi)

    z = math.sqrt(-2.0 * math.log(safe))
    first = z - math.log(z) / z
    far = _tail(polynomial, _FAR, z)
    moderate = _tail(polynomial, _MODERATE, z)
    in_far, in_moderate = first - far, first - moderate
    x = where_v2(safe > np.exp(-2.0), middle, where_v2(z >= 8.0, in_far, in_moderate))
    x = where_v2(p > edge, x, -x)
    infinity = constant(np.inf, dtype=p.dtype)
    infinity = array.fill(array.shape(p), infinity)
    return where_v2(p <= 0.0, -infinity, where_v2(p >= 1.0, infinity, x))


def _tail(polynomial, polynomials, z):
    top = polynomial(polynomials[0], 1.0 / z)
    return top / polynomial(polynomials[1], 1.0 / z) / z


def erfinv(x, name="erfinv"):
    """The number whose error function is x."""
    with name_scope(name, values=[x]):
        return ndtri((_checked(x, "x") + 1.0) / 2.0) / np.sqrt(2)


def log_cdf_laplace(x, name="log_cdf_laplace"):
    """The logarithm of the probability that a standard Laplace draw is at most x."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        lower = -np.log(2.0) + x
        upper = math.log1p(-0.5 * math.exp(-math.abs(x)))
        return where_v2(x < 0.0, lower, upper)
