"""Exponentials, logarithms, powers and hyperbolic functions as formulas over `Scalar`. What they promise is said in
`math_functions`.
"""

from __future__ import annotations

import math

from everflow.native import polynomials
from everflow.native.formulas import DOUBLE, Scalar, polynomial

# By the bits of the type. The upper part of ln 2 has so few bits that its product with an exponent is exact.
_LN2 = {
    32: (0.693359375, -2.12194440e-4),
    64: (float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")),
}
_LOG2_E = math.log2(math.e)
# Outside of these e^x is zero or, by a factor of four, infinite.
_EXP_RANGE = {32: (-104.0, 91.0), 64: (-746.0, 712.0)}
# Outside of these e^x - 1 is -1 or infinite.
_EXPM1_RANGE = {32: (-18.0, 89.0), 64: (-38.0, 710.0)}

# The single precision polynomials of the Cephes library, which are also those of Eigen and so TensorFlow's: with the
# same order of operations most results have TensorFlow's bits.
_CEPHES_EXP = (5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4)
_CEPHES_LOG = (
    3.3333331174e-1, -2.4999993993e-1, 2.0000714765e-1, -1.6668057665e-1, 1.4249322787e-1,
    -1.2420140846e-1, 1.1676998740e-1, -1.1514610310e-1, 7.0376836292e-2,
)  # fmt: skip
_CEPHES_TANH = (-3.33332819422e-1, 1.33314422036e-1, -5.37397155531e-2, 2.06390887954e-2, -5.70498872745e-3)
_CEPHES_TANH_RATIO = (
    (-1.61468768441708447952e3, -9.92877231001918586564e1, -9.64399179425052238628e-1),
    (4.84406305325125486048e3, 2.23548839060100448583e3, 1.12811678491632931402e2, 1.0),
)


# --- numbers in two parts ---


def halves(x: Scalar) -> tuple[Scalar, Scalar]:
    """x as the sum of two numbers with half its bits: their products are exact."""
    high = (x.bits() & -(1 << (x.format.mantissa // 2 + 1))).from_bits()
    return high, x - high


def exact_product(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    """x y as rounded, and what the rounding lost (Dekker)."""
    product = x * y
    (x_high, x_low), (y_high, y_low) = halves(x), halves(y)
    return product, x_high * y_high - product + x_high * y_low + x_low * y_high + x_low * y_low


def ordered_sum(large: Scalar, small: Scalar) -> tuple[Scalar, Scalar]:
    """Their sum as rounded, and what the rounding lost."""
    total = large + small
    return total, small - (total - large)


def exact_sum(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    """As `ordered_sum`, whichever is the larger."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


# --- exponentials ---


def _reduced(x: Scalar) -> tuple[Scalar, Scalar]:
    """x as k ln 2 + r with the nearest integer k: r, and k as an integer.

    A float to which 1.5 * 2^mantissa is added has no bits left below the point, and its last bits are the integer.
    """
    format = x.format
    magic = 1.5 * 2.0**format.mantissa
    shifted = x * _LOG2_E + magic
    k = shifted - magic
    high, low = _LN2[format.bits]
    return x - k * high - k * low, shifted.bits() - format.bits_of(magic)


def _times_power_of_two(x: Scalar, k: Scalar) -> Scalar:
    """x 2^k, by two factors: one alone could overflow or be too small to be a normal number."""
    format = x.format
    twice = k + 2 * format.bias
    half = twice >> 1
    return x * (half << format.mantissa).from_bits() * ((twice - half) << format.mantissa).from_bits()


def _exp_tail(r: Scalar) -> Scalar:
    """e^r - 1 - r = r^2 P(r) for |r| <= ln(2) / 2."""
    terms = _CEPHES_EXP if r.format.bits == 32 else polynomials.EXP[64]
    return polynomial(terms, r) * (r * r)


def exp(x: Scalar, low: Scalar | None = None, halved: bool = False) -> Scalar:
    """2^k e^r, x being k ln 2 + r. `low` is what x lacks behind its last bit; the result may be asked for halved."""
    r, k = _reduced(x.clamped(*_EXP_RANGE[x.format.bits]))
    if low is None:
        power = _exp_tail(r) + r + 1.0
    else:
        r, rest = exact_sum(r, low)
        first, lost = ordered_sum(r.like(1.0), r)
        power = first + (_exp_tail(r) + (lost + rest * first))
    return _times_power_of_two(power, k - 1 if halved else k)


def exp_for_float(x: Scalar) -> Scalar:
    """In double precision, with as many terms and as far as single precision needs: no result is subnormal."""
    r, k = _reduced(x.clamped(-120.0, 90.0))
    power = polynomial(polynomials.EXP[32], r) * (r * r) + r + 1.0
    return (power.bits() + (k << 52)).from_bits()


def expm1(x: Scalar) -> Scalar:
    """(2^k - 1) + 2^k r + 2^k (e^r - 1 - r), in halves, as 2^k may be more than the greatest number."""
    format = x.format
    r, k = _reduced(x.clamped(*_EXPM1_RANGE[format.bits]))
    half = ((k + (format.bias - 1)) << format.mantissa).from_bits()
    high, low = ordered_sum(half - 0.5, half * r)
    result = (high + (half * _exp_tail(r) + low)) * 2.0
    return (abs(x) < 2.0 ** -(format.mantissa + 2)).where(x, result)


def sigmoid(x: Scalar) -> Scalar:
    """With e = e^-|x| and q = e / (1 + e): 1 - q above zero, e - e q below. The error of q counts little in both."""
    power = exp(-abs(x))
    top = (x >= 0.0).where(1.0, power)
    return top - top * (power / (power + 1.0))


def softplus(x: Scalar) -> Scalar:
    """log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)."""
    power = exp(-abs(x))
    return (x < 0.0).where(0.0, x) + _log_of_sum(power, power + 1.0)


# --- logarithms ---


def _split(x: Scalar) -> tuple[Scalar, Scalar]:
    """A positive normal number as 2^k (1 + f), 1 + f between the roots of 1/2 and 2: k and f."""
    format = x.format
    root = format.bits_of(math.sqrt(0.5))
    above = x.bits() + ((format.bias << format.mantissa) - root)
    # The exponent becomes a float as the last bits of 2^mantissa.
    offset = 2.0**format.mantissa
    k = ((above >> format.mantissa) | format.bits_of(offset)).from_bits() - (offset + format.bias)
    f = ((above & ((1 << format.mantissa) - 1)) + root).from_bits() - 1.0
    return k, f


def _log_of_split(k: Scalar, f: Scalar, low: Scalar | None = None) -> Scalar:
    """log(2^k (1 + f)) + low. In single precision f - f^2 / 2 + f^3 P(f), the polynomial in three parts as in Eigen;
    in double precision by s = f / (2 + f), since log(1 + f) = 2 atanh(s) = 2 s + s^3 P(s^2).
    """
    ln2_high, ln2_low = _LN2[f.format.bits]
    square = f * f
    if f.format.bits == 32:
        cube = square * f
        first, second, third = (polynomial(_CEPHES_LOG[i : i + 3], f) for i in (0, 3, 6))
        tail = ((third * cube + second) * cube + first) * cube + k * ln2_low
        if low is not None:
            tail = tail + low
        return f - square * 0.5 + tail + k * ln2_high
    s = f / (f + 2.0)
    z = s * s
    half = square * 0.5
    tail = s * (half + z * polynomial(polynomials.LOG[64], z)) + k * ln2_low
    if low is not None:
        tail = tail + low
    return k * ln2_high - ((half - tail) - f)


def _normal_split(x: Scalar) -> tuple[Scalar, Scalar]:
    """As `_split`, of positive numbers that may be subnormal."""
    tiny = x < x.format.smallest_normal
    digits = float(x.format.mantissa)
    k, f = _split(tiny.where(x * 2.0**digits, x))
    return tiny.where(k - digits, k), f


def _in_domain(u: Scalar, result: Scalar, infinite: Scalar) -> Scalar:
    """A logarithm of u, with -inf at zero, NaN below, and `infinite` where u is infinite."""
    below = (u == 0.0).where(-math.inf, u.like(math.nan))
    return (u > 0.0).where((u == math.inf).where(infinite, result), below)


def log(x: Scalar) -> Scalar:
    return _in_domain(x, _log_of_split(*_normal_split(x)), x)


def log_for_float(x: Scalar) -> Scalar:
    """Of a positive double that is finite and normal, with as many terms as single precision needs."""
    k, f = _split(x)
    s = f / (f + 2.0)
    z = s * s
    return k * math.log(2.0) + (s + s + s * z * polynomial(polynomials.LOG[32], z))


def _log_of_sum(x: Scalar, u: Scalar, low: Scalar | None = None) -> Scalar:
    """log(1 + x) = log(u) + c / u where u is 1 + x as rounded and c what the rounding lost; where u is near one, f is x
    itself. `low` is what x lacks behind its last bit.
    """
    k, f = _split(u)
    near = k == 0.0
    lost = near.where(0.0, (x > 1.0).where(1.0 - (u - x), x - (u - 1.0)))
    if low is not None:
        lost = lost + low
    return _log_of_split(k, near.where(x, f), lost / u)


def log1p(x: Scalar, low: Scalar | None = None) -> Scalar:
    u = x + 1.0
    result = _in_domain(u, _log_of_sum(x, u, low), x)
    return (abs(x) < 2.0 ** -(x.format.mantissa + 2)).where(x, result)


# --- powers ---


def sqrt(x: Scalar) -> Scalar:
    return x.call("llvm.sqrt")


def rsqrt(x: Scalar) -> Scalar:
    return 1.0 / sqrt(x)


def _exact_log(x: Scalar) -> tuple[Scalar, Scalar]:
    """The logarithm of a positive double in two parts, with some 65 bits: the terms 2 s and 2/3 s^3 of the series of
    `_log_of_split` are taken in two parts each.
    """
    k, f = _normal_split(x)
    bottom, bottom_low = ordered_sum(f.like(2.0), f)
    inverse = 1.0 / bottom
    s = f * inverse
    back, back_low = exact_product(s, bottom)
    s_low = (f - back - back_low - s * bottom_low) * inverse
    z, z_low = exact_product(s, s)
    z_low = z_low + 2.0 * (s * s_low)
    cube, cube_low = exact_product(s, z)
    cube_low = cube_low + (s * z_low + s_low * z)
    third, third_low = exact_product(cube, cube.like(2.0 / 3.0))
    third_low = third_low + (cube_low * (2.0 / 3.0) + cube * 3.700743415417188e-17)  # 2/3 in two parts
    ln2_high, ln2_low = _LN2[64]
    total, lost = ordered_sum(k * ln2_high, s + s)
    total, lost_too = ordered_sum(total, third)
    tail = cube * z * polynomial(polynomials.LOG_TAIL[64], z)
    return ordered_sum(total, lost + lost_too + (s_low + s_low) + third_low + tail + k * ln2_low)


def _double_power(x: Scalar, y: Scalar) -> Scalar:
    """e^(y log x) of a positive, finite x, with the logarithm and its product with y in two parts."""
    log_x, log_low = _exact_log(x)
    # With more than this the result is zero or infinite for any x but one, and a product would overflow.
    y = y.clamped(-1e22, 1e22)
    product, product_low = exact_product(y, log_x)
    product_low = (abs(product) < 1e3).where(product_low + y * log_low, 0.0)
    return exp(product, product_low)


def pow(x: Scalar, y: Scalar) -> Scalar:
    """e^(y log|x|), with the sign and the exceptions of C's pow. Single precision goes by plain double precision."""
    base = abs(x)
    if x.type == DOUBLE:
        power = _double_power(base, y)
    else:
        power = exp_for_float(y.to(DOUBLE) * log_for_float(base.to(DOUBLE))).to(x.type)
    endless = (base > 1.0) ^ (y < 0.0)
    power = ((base == 0.0) | (base == math.inf)).where(endless.where(math.inf, y.like(0.0)), power)
    power = (x != x).where(x, power)
    power = (y != y).where(y, power)
    half = y * 0.5
    whole = y.call("llvm.floor") == y
    odd = whole & (half.call("llvm.floor") != half)
    result = odd.where(power.with_sign_of(x), power)
    result = ((x < 0.0) & (x > -math.inf) & ~whole).where(math.nan, result)
    one = (x == 1.0) | (y == 0.0) | ((base == 1.0) & (abs(y) == math.inf))
    return one.where(1.0, result)


# --- hyperbolic functions ---


def tanh(x: Scalar) -> Scalar:
    """x + x^3 P(x^2) / Q(x^2) near zero (Cephes; in single precision a polynomial is enough), further on
    1 - 2 / (e^2x + 1). One division serves both.
    """
    magnitude = abs(x)
    square = x * x
    near = magnitude < 0.625
    power = exp(magnitude + magnitude) + 1.0
    if x.format.bits == 32:
        tail = near.where(magnitude * square * polynomial(_CEPHES_TANH, square), -2.0 / power)
    else:
        top = near.where(magnitude * square * polynomial(_CEPHES_TANH_RATIO[0], square), -2.0)
        tail = top / near.where(polynomial(_CEPHES_TANH_RATIO[1], square), power)
    return (near.where(magnitude, 1.0) + tail).with_sign_of(x)


def cosh(x: Scalar) -> Scalar:
    """h + 1 / 4 h with h = e^|x| / 2."""
    half = exp(abs(x), halved=True)
    return half + 0.25 / half


def sinh(x: Scalar) -> Scalar:
    """h - 1 / 4 h with h = e^|x| / 2; x + x^3 P(x^2) up to one."""
    magnitude = abs(x)
    square = x * x
    half = exp(magnitude, halved=True)
    near = magnitude + magnitude * square * polynomial(polynomials.SINH[x.format.bits], square)
    return (magnitude < 1.0).where(near, half - 0.25 / half).with_sign_of(x)


def _asinh_argument(x: Scalar, square: Scalar) -> tuple[Scalar, Scalar]:
    """asinh(x) = log(1 + x + x^2 / (1 + sqrt(1 + x^2))) of a positive x: what is added to one, in two parts."""
    return ordered_sum(x, square / (sqrt(square + 1.0) + 1.0))


def asinh(x: Scalar) -> Scalar:
    """By the logarithm; log(x) + log(2) where the square is so large that it could overflow."""
    magnitude = abs(x)
    large = magnitude > 2.0 ** (x.format.mantissa + 2)
    high, low = _asinh_argument(magnitude, x * x)
    result = log1p(large.where(magnitude, high), large.where(0.0, low))
    return (result + large.where(math.log(2.0), x.like(0.0))).with_sign_of(x)


def acosh(x: Scalar) -> Scalar:
    """2 asinh(sqrt((x - 1) / 2))."""
    half = (x - 1.0) * 0.5
    result = log1p(*_asinh_argument(sqrt(half), half))
    return (x == math.inf).where(x, result + result)


def atanh(x: Scalar) -> Scalar:
    """log(1 + 2 x / (1 - x)) / 2, the quotient being 2 x + 2 x^2 / (1 - x) for small x."""
    magnitude = abs(x)
    twice = magnitude + magnitude
    quotient = twice / (1.0 - magnitude)
    high, low = ordered_sum(twice, quotient * magnitude)
    near = magnitude < 0.5
    return (log1p(near.where(high, quotient), near.where(low, 0.0)) * 0.5).with_sign_of(x)
