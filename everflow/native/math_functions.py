"""The elementary functions as straight lines of LLVM IR: no branch, no call, no table, so that the loop vectoriser can
make vectors of them. `FUNCTIONS[name](builder, x)` writes one for a float or a double; halves are the caller's to widen.

Each stays within 2 units in the last place (pow within 4) for every argument, subnormal ones and results included.
Nothing is contracted or reordered, and fused multiply-add is not used: results are the same on every machine. NaN,
infinities and zeros give what TensorFlow gives, except where it clamps its arguments (exp, sigmoid, tanh) or takes
subnormals for zero: there the true value is given.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from llvmlite import ir

from everflow.native import polynomials
from everflow.native.scalar import DOUBLE, Format, Scalar

Function = Callable[..., Scalar]

# By the bits of the type. The upper part of ln 2 has so few bits that its product with an exponent is exact.
_LN2 = {
    32: (0.693359375, -2.12194440e-4),
    64: (float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")),
}
_LOG2_E = math.log2(math.e)
# Between these exp is neither infinite nor zero.
_EXP_RANGE = {32: (-104.0, 89.0), 64: (-746.0, 710.0)}

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


def _polynomial(terms: tuple[float, ...], x: Scalar) -> Scalar:
    """By Horner's rule; terms from the constant on."""
    total = x.like(terms[-1])
    for term in reversed(terms[:-1]):
        total = total * x + term
    return total


def _bits_of(value: float, format: Format) -> int:
    """The bit pattern of a constant."""
    return int.from_bytes(struct.pack("<f" if format.bits == 32 else "<d", value), "little")


def _clamped(x: Scalar, low: float, high: float) -> Scalar:
    """NaN stays NaN: the comparison with it is false, and `x` the value of that."""
    x = (x > high).where(high, x)
    return (x < low).where(low, x)


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
    return x - k * high - k * low, shifted.bits() - _bits_of(magic, format)


def _times_power_of_two(x: Scalar, k: Scalar, lower: int = 0) -> Scalar:
    """x 2^(k - lower), by two factors: one alone could overflow or be too small to be a normal number."""
    format = x.format
    twice = k + (2 * format.bias - lower)
    half = twice >> 1
    return x * (half << format.mantissa).from_bits() * ((twice - half) << format.mantissa).from_bits()


def _expm1_of_reduced(r: Scalar) -> Scalar:
    """e^r - 1 = r + r^2 P(r) for |r| <= ln(2) / 2."""
    terms = _CEPHES_EXP if r.format.bits == 32 else polynomials.EXP
    return _polynomial(terms, r) * (r * r) + r


def _exp(x: Scalar, rest: Scalar | None = None, lower: int = 0) -> Scalar:
    """2^k e^r, x being k ln 2 + r. `rest` is added to x behind its last bit; the result is divided by 2^lower."""
    r, k = _reduced(_clamped(x, *_EXP_RANGE[x.format.bits]))
    if rest is not None:
        r = r + rest
    return _times_power_of_two(_expm1_of_reduced(r) + 1.0, k, lower)


def _expm1(x: Scalar) -> Scalar:
    """2^k (e^r - 1) + (2^k - 1), in halves, as 2^k may be more than the greatest number."""
    format = x.format
    # Below this the result is -1.
    r, k = _reduced(_clamped(x, -0.7 * (format.mantissa + 3), _EXP_RANGE[format.bits][1]))
    half = ((k + (format.bias - 1)) << format.mantissa).from_bits()
    result = (half * _expm1_of_reduced(r) + (half - 0.5)) * 2.0
    return (abs(x) < 2.0 ** -(format.mantissa + 2)).where(x, result)


def _sigmoid(x: Scalar) -> Scalar:
    """With e = e^-|x| and q = e / (1 + e): 1 - q above zero, e - e q below. The error of q counts little in both."""
    power = _exp(-abs(x))
    top = (x >= 0.0).where(1.0, power)
    return top - top * (power / (power + 1.0))


def _softplus(x: Scalar) -> Scalar:
    """log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)."""
    return (x > 0.0).where(x, x.like(0.0)) + _log1p(_exp(-abs(x)))


def _tanh(x: Scalar) -> Scalar:
    """x + x^3 P(x^2) / Q(x^2) near zero (Cephes; in single precision a polynomial is enough), further on
    1 - 2 / (e^2x + 1). One division serves both.
    """
    magnitude = abs(x)
    square = x * x
    near = magnitude < 0.625
    power = _exp(magnitude + magnitude) + 1.0
    if x.format.bits == 32:
        tail = near.where(magnitude * square * _polynomial(_CEPHES_TANH, square), -2.0 / power)
    else:
        top = near.where(magnitude * square * _polynomial(_CEPHES_TANH_RATIO[0], square), -2.0)
        tail = top / near.where(_polynomial(_CEPHES_TANH_RATIO[1], square), power)
    return (near.where(magnitude, 1.0) + tail).with_sign_of(x)


# --- logarithms ---


def _split(x: Scalar) -> tuple[Scalar, Scalar]:
    """A positive normal number as 2^k (1 + f), 1 + f between the roots of 1/2 and 2: k and f."""
    format = x.format
    root = _bits_of(math.sqrt(0.5), format)
    above = x.bits() + ((format.bias << format.mantissa) - root)
    # The exponent becomes a float as the last bits of 2^mantissa.
    offset = 2.0**format.mantissa
    k = ((above >> format.mantissa) | _bits_of(offset, format)).from_bits() - (offset + format.bias)
    f = ((above & ((1 << format.mantissa) - 1)) + root).from_bits() - 1.0
    return k, f


def _log_of_split(k: Scalar, f: Scalar, rest: Scalar | None = None) -> Scalar:
    """log(2^k (1 + f)) + rest. In single precision f - f^2 / 2 + f^3 P(f), the polynomial in three parts as in Eigen;
    in double precision by s = f / (2 + f), since log(1 + f) = 2 atanh(s) = 2 s + s^3 P(s^2).
    """
    high, low = _LN2[f.format.bits]
    square = f * f
    if f.format.bits == 32:
        cube = square * f
        first, second, third = (_polynomial(_CEPHES_LOG[i : i + 3], f) for i in (0, 3, 6))
        tail = ((third * cube + second) * cube + first) * cube + k * low
        if rest is not None:
            tail = tail + rest
        return f - square * 0.5 + tail + k * high
    s = f / (f + 2.0)
    z = s * s
    half = square * 0.5
    tail = s * (half + z * _polynomial(polynomials.LOG, z)) + k * low
    if rest is not None:
        tail = tail + rest
    return k * high - ((half - tail) - f)


def _log(x: Scalar) -> Scalar:
    """log(2^k (1 + f)); a subnormal number is made a normal one first."""
    format = x.format
    tiny = x < format.smallest_normal
    k, f = _split(tiny.where(x * 2.0**format.mantissa, x))
    result = _log_of_split(tiny.where(k - float(format.mantissa), k), f)
    return _outside_domain(x, result, x)


def _outside_domain(u: Scalar, result: Scalar, x: Scalar) -> Scalar:
    """A logarithm of u, with -inf at zero, NaN below, and `x` itself where u is infinite."""
    below = (u == 0.0).where(-math.inf, u.like(math.nan))
    return (u > 0.0).where((u == math.inf).where(x, result), below)


def _log1p(x: Scalar) -> Scalar:
    """log(u) + c / u where u is 1 + x as rounded and c what the rounding lost. Where u is near one, f is x itself."""
    u = x + 1.0
    lost = (x > 1.0).where(1.0 - (u - x), x - (u - 1.0))
    k, f = _split(u)
    near = k == 0.0
    rest = near.where(0.0, lost / u)
    result = _outside_domain(u, _log_of_split(k, near.where(x, f), rest), x)
    return (abs(x) < 2.0 ** -(x.format.mantissa + 2)).where(x, result)


# --- powers ---


def _sqrt(x: Scalar) -> Scalar:
    return x.call("llvm.sqrt")


def _rsqrt(x: Scalar) -> Scalar:
    return 1.0 / _sqrt(x)


def _pow(x: Scalar, y: Scalar) -> Scalar:
    """e^(y log|x|), with the sign and the exceptions of C's pow. Single precision goes by double precision."""
    base, exponent = x.to(DOUBLE), y.to(DOUBLE)
    magnitude = _exp(exponent * _log(abs(base))).to(x.type)
    half = y * 0.5
    whole = y.call("llvm.floor") == y
    odd = whole & (half.call("llvm.floor") != half)
    result = odd.where(magnitude.with_sign_of(x), magnitude)
    result = ((x < 0.0) & (x > -math.inf) & ~whole).where(math.nan, result)
    one = (x == 1.0) | (y == 0.0) | ((abs(x) == 1.0) & (abs(y) == math.inf))
    return one.where(1.0, result)


# --- rounding, by the instructions of the machine ---


def _floor(x: Scalar) -> Scalar:
    return x.call("llvm.floor")


def _ceil(x: Scalar) -> Scalar:
    return x.call("llvm.ceil")


def _rint(x: Scalar) -> Scalar:
    return x.call("llvm.rint")


def _round(x: Scalar) -> Scalar:
    """Half to even, and never to -0, as TensorFlow's Round has it."""
    return _rint(x) + 0.0


def _lowering(function: Function) -> Callable[..., ir.Value]:
    def lower(builder: ir.IRBuilder, *arguments: ir.Value) -> ir.Value:
        return function(*(Scalar(builder, argument) for argument in arguments)).value

    lower.__doc__ = function.__doc__
    return lower


FUNCTIONS: dict[str, Callable[..., ir.Value]] = {
    name: _lowering(function)
    for name, function in {
        "ceil": _ceil,
        "exp": _exp,
        "expm1": _expm1,
        "floor": _floor,
        "log": _log,
        "log1p": _log1p,
        "pow": _pow,
        "rint": _rint,
        "round": _round,
        "rsqrt": _rsqrt,
        "sigmoid": _sigmoid,
        "softplus": _softplus,
        "sqrt": _sqrt,
        "tanh": _tanh,
    }.items()
}
