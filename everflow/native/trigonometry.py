"""Trigonometric functions and their inverses as formulas over `Scalar`. What they promise is said in `math_functions`."""

from __future__ import annotations

import math

from llvmlite import ir

from everflow.native import polynomials
from everflow.native.exponentials import exact_product, exact_sum, halves, sqrt
from everflow.native.formulas import DOUBLE, Scalar, polynomial

# Slopes up to this one are near zero, and those from its inverse on near infinity.
_NEAR = 0.6
# What a double leaves of pi.
_PI_REST = 1.2246467991473532e-16


def _eighths(x: Scalar, count: int) -> tuple[float, float]:
    """That many eighths of a turn in two parts of the type of x."""
    exact = count * (math.pi / 4)
    high = x.format.rounded(exact)
    return high, exact - high + count * (_PI_REST / 4)


def _arc(rise: Scalar, run: Scalar | float) -> tuple[Scalar, Scalar, Scalar]:
    """The angle of a slope in the first quadrant: whether it is counted from a quarter turn, whether from an eighth
    (else from zero), and what is to be added to that: t + t^3 P(t^2) with t = -1 / slope, (slope - 1) / (slope + 1) or
    the slope.
    """
    run = rise.like(run)
    steep, middle = rise * _NEAR > run, rise > run * _NEAR
    top = steep.where(-run, middle.where(rise - run, rise))
    bottom = steep.where(rise, middle.where(rise + run, run))
    t = top / bottom
    z = t * t
    return steep, middle, t + t * z * polynomial(polynomials.ATAN[t.format.bits], z)


def atan(x: Scalar) -> Scalar:
    steep, middle, angle = _arc(abs(x), 1.0)
    (quarter, quarter_low), (eighth, eighth_low) = _eighths(x, 2), _eighths(x, 1)
    low = steep.where(quarter_low, middle.where(eighth_low, x.like(0.0)))
    high = steep.where(quarter, middle.where(eighth, x.like(0.0)))
    return (high + (angle + low)).with_sign_of(x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle of |y| / |x|, from a half turn backwards where x is negative. Both are brought away from overflow."""
    rise, run = abs(y), abs(x)
    endless = (rise == math.inf) & (run == math.inf)
    rise, run = endless.where(1.0, rise), endless.where(1.0, run)
    far = float(x.format.bias - 8)
    larger = (rise > run).where(rise, run)
    scale = (larger > 2.0**far).where(2.0**-16, (larger < 2.0**-far).where(2.0 ** (far / 2), x.like(1.0)))
    nowhere = larger == 0.0
    steep, middle, angle = _arc(rise * scale, nowhere.where(1.0, run * scale))
    back = (x.bits() >> (x.format.bits - 1)) != 0
    high, low = (
        steep.where(
            x.like(_eighths(x, 2)[part]),
            back.where(
                middle.where(_eighths(x, 3)[part], x.like(_eighths(x, 4)[part])),
                middle.where(_eighths(x, 1)[part], x.like(0.0)),
            ),
        )
        for part in (0, 1)
    )
    return (high + (back.where(-angle, angle) + low)).with_sign_of(y)


def _arcsine(x: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """Of |x|: whether it is below a half; s, which is |x| there and else sqrt((1 - |x|) / 2), the sine of half the
    angle that is missing to a quarter turn; s^2; and what the angle of s is longer than s, s^3 P(s^2).
    """
    magnitude = abs(x)
    near = magnitude < 0.5
    half = (1.0 - magnitude) * 0.5
    z = near.where(x * x, half)
    s = near.where(magnitude, sqrt(half))
    return near, s, z, s * z * polynomial(polynomials.ASIN[x.format.bits], z)


def asin(x: Scalar) -> Scalar:
    """A quarter turn less twice the angle of s, taken as (pi / 4 - 2 s) + pi / 4 - ..., s being in two parts."""
    near, s, z, tail = _arcsine(x)
    (eighth, eighth_low) = _eighths(x, 1)
    high, _ = halves(s)
    low = (z - high * high) / (s == 0.0).where(1.0, s + high)
    far = eighth - (2.0 * tail - 2.0 * (eighth_low - low) - (eighth - 2.0 * high))
    return near.where(s + tail, far).with_sign_of(x)


def acos(x: Scalar) -> Scalar:
    near, s, _, tail = _arcsine(x)
    angle = s + tail
    (quarter, quarter_low), (half, half_low) = _eighths(x, 2), _eighths(x, 4)
    twice = angle + angle
    far = (x > 0.0).where(twice, half - (twice - half_low))
    return near.where(quarter - (angle.with_sign_of(x) - quarter_low), far)


# --- sine, cosine and tangent ---


def _two_over_pi(bits: int) -> int:
    """The first bits of 2 / pi behind the point, by Machin's formula."""
    one = 1 << (bits + 32)

    def arctangent_of_inverse(n: int) -> int:
        total, power, k = 0, one // n, 1
        while power:
            total += power // k if k % 4 == 1 else -(power // k)
            power //= n * n
            k += 2
        return total

    pi = 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))
    return (2 * one * one // pi) >> 32


def _pieces(width: int, step: int, places: range) -> list[float]:
    """Pieces of 2 / pi: of that width, from the given multiples of `step` bits behind the point on; as fractions of what
    is behind that place.
    """
    last = step * places[-1] + width
    bits = _two_over_pi(last)
    return [math.ldexp(bits >> (last - step * i - width) & ((1 << width) - 1), -width) for i in places]


def _nearest(x: Scalar, unit: float = 1.0) -> tuple[Scalar, Scalar]:
    """The nearest multiple of `unit`, as a double and as the last bits of an integer."""
    magic = 1.5 * 2.0**52 * unit
    shifted = x + magic
    return shifted - magic, shifted.bits()


# Pieces of 28 bits, and of 53 for what follows the second.
_FLOAT_STEP = 28
_FLOAT_PIECES = [math.ldexp(piece, -28 * i) for i, piece in enumerate(_pieces(28, 28, range(5)))]
_FLOAT_RESTS = [math.ldexp(piece, -28 * i) for i, piece in enumerate(_pieces(53, 28, range(2, 6)), 2)]


def _float_quarters(x: Scalar) -> tuple[Scalar, Scalar]:
    """A single precision number as quarter turns: the nearest integer, of which the last bits count, and the angle
    that is left, in double precision.

    x 2 / pi is taken piece by piece, each product being exact. Of a large x the first pieces make whole turns only: it
    begins with a later one.
    """
    x = x.to(DOUBLE)
    magnitude = abs(x)
    beyond = [magnitude >= 2.0 ** (53 + _FLOAT_STEP * i) for i in range(3)]

    def chosen(values: list[float]) -> Scalar:
        choice = x.like(values[0])
        for condition, value in zip(beyond, values[1:], strict=True):
            choice = condition.where(value, choice)
        return choice

    turns = x * chosen(_FLOAT_PIECES[:4])
    turns = turns - _nearest(turns, 4.0)[0]
    more = x * chosen(_FLOAT_PIECES[1:])
    whole, integer = _nearest(turns + more)
    return integer, ((turns - whole) + more + x * chosen(_FLOAT_RESTS)) * (math.pi / 2)


# The bits of 2 / pi behind four bytes of zeros, the last ones first: what a number of any exponent needs begins with a
# byte.
_BYTES = _two_over_pi(1184).to_bytes(4 + 1184 // 8, "little")


def _word(place: Scalar, further: int) -> Scalar:
    """64 bits of 2 / pi, of which the first is so many bytes behind the beginning, and some more."""
    builder, byte = place.builder, ir.IntType(8)
    type = ir.ArrayType(byte, len(_BYTES))
    digits = builder.module.globals.get("two_over_pi")
    if digits is None:
        digits = ir.GlobalVariable(builder.module, type, "two_over_pi")
        digits.initializer = ir.Constant(type, bytearray(_BYTES))
        digits.global_constant = True
        digits.linkage = "private"
    index = (len(_BYTES) - 8 - further) - place
    return Scalar(builder, builder.load(builder.gep(digits, [index.value], source_etype=byte), align=1, typ=place.type))


def _double_quarters(x: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """As `_float_quarters`, with the angle in two parts. x is taken in halves, and 2 / pi in pieces of 26 bits, so that
    products are exact. It begins with the byte whose multiples may be less than a turn, one piece before that for the
    lower half, and x is divided by the power of two that the byte stands behind.
    """
    exponent = (x.bits() >> 52) & 0x7FF
    start = (exponent > 1051).where((exponent - 1051) >> 3, exponent.like(0))
    x = x * ((1023 - (start << 3)) << 52).from_bits()
    first, second, third = (_word(start, 8 * i) for i in range(3))
    integers = [
        first >> 32, first >> 6, (first << 20) | (second >> 44), second >> 18, (second << 8) | (third >> 56),
        third >> 30, third >> 4,
    ]  # fmt: skip
    pieces = []
    for i, integer in enumerate(integers):
        # As the last bits of a power of two; without that it is the number that these bits stand for.
        offset = 2.0 ** (52 - 26 * i)
        pieces.append(((integer & ((1 << 26) - 1)) | x.format.bits_of(offset)).from_bits() - offset)
    high, low = halves(x)
    # By size: the low half with a piece, and the high half with the following one. Earlier ones are whole turns.
    products = [half * piece for i in range(5) for half, piece in ((low, pieces[i]), (high, pieces[i + 1]))]
    large = [product - _nearest(product, 8.0)[0] for product in products[:4]]
    angle, lost = exact_sum(large[0] + large[1], large[2])
    angle, more = exact_sum(angle, large[3])
    whole, integer = _nearest(angle + (products[4] + products[5]))
    angle, lost = exact_sum(angle - whole, lost + more)
    for product in products[4:]:
        angle, more = exact_sum(angle, product)
        lost = lost + more
    angle, lost = exact_sum(angle, lost + (low * pieces[5] + x * pieces[6]))
    product, error = exact_product(angle, x.like(math.pi / 2))
    return integer, product, error + (angle * (_PI_REST / 2) + lost * (math.pi / 2))


def _sine_terms(angle: Scalar, odd: Scalar, bits: int, low: Scalar | None = None) -> tuple[Scalar, Scalar]:
    """Of an angle up to an eighth of a turn, its sine, r + r^3 P(r^2), or where `odd` its cosine, 1 + r^2 P(r^2): r or 1,
    and the rest. `bits` of the type that the result is for; `low` is what the angle lacks behind its last bit.
    """
    z = angle * angle
    terms = [odd.where(c, z.like(s)) for s, c in zip(polynomials.SIN[bits], polynomials.COS[bits], strict=True)]
    first = odd.where(1.0, angle)
    rest = first * (polynomial(terms, z) * z)
    if low is not None:
        # The derivative: -r of the cosine, and of the sine the cosine itself, to two terms.
        rest = rest + low * odd.where(-angle, 1.0 - 0.5 * z)
    return first, rest


def _with_turns(x: Scalar, integer: Scalar) -> Scalar:
    """Negative in the second half of a turn."""
    return (x.bits() ^ ((integer & 2) << 62)).from_bits()


def sine_of_quarters(angle: Scalar, integer: Scalar, bits: int, low: Scalar | None = None) -> Scalar:
    """The sine of that many quarter turns and an angle in double precision."""
    first, rest = _sine_terms(angle, (integer & 1) != 0, bits, low)
    return _with_turns(first + rest, integer)


def _sine(x: Scalar, further: int) -> Scalar:
    """The sine of x and some quarter turns."""
    if x.type == DOUBLE:
        integer, angle, low = _double_quarters(x)
        return sine_of_quarters(angle, integer + further, 64, low)
    integer, angle = _float_quarters(x)
    return sine_of_quarters(angle, integer + further, 32).to(x.type)


def sin(x: Scalar) -> Scalar:
    return (x == 0.0).where(x, _sine(x, 0))


def cos(x: Scalar) -> Scalar:
    return _sine(x, 1)


def tan(x: Scalar) -> Scalar:
    """Sine by cosine; in double precision both in two parts, with the remainder of the division."""
    if x.type != DOUBLE:
        integer, angle = _float_quarters(x)
        quotient = sine_of_quarters(angle, integer, 32) / sine_of_quarters(angle, integer + 1, 32)
        return (x == 0.0).where(x, quotient.to(x.type))
    integer, angle, low = _double_quarters(x)
    odd = (integer & 1) != 0
    top, top_low = exact_sum(*_sine_terms(angle, odd, 64, low))
    bottom, bottom_low = exact_sum(*_sine_terms(angle, ~odd, 64, low))
    quotient = top / bottom
    back, back_low = exact_product(quotient, bottom)
    quotient = quotient + ((top - back) - back_low + (top_low - quotient * bottom_low)) / bottom
    return (x == 0.0).where(x, (quotient.bits() ^ (odd.to(ir.IntType(64)) << 63)).from_bits())
