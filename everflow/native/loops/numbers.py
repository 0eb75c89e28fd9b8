"""Numbers in text and text of numbers, over arrays.

Text to floats is Eisel and Lemire's method: the digits as a whole number of 64 bits, times a power of ten in 128 bits.
What it can't decide (more than 19 digits, very small numbers) and what is spelt in other ways is left to Python.
"""

from __future__ import annotations

from everflow.native.loops.objects import OTHER, cells, is_bytes, put, size, text
from everflow.native.loops.text import is_space
from everflow.native.loops.words import (
    F32,
    I64,
    P8,
    P32,
    P64,
    PF32,
    PF64,
    PU64,
    U64,
    bits_of,
    float_of,
    leading_zeros,
    new_bytes,
    stack,
    upper_product,
)

_LEAST, _MOST = -342, 308  # the powers of ten that are in the table
NO_NUMBER = 0  # what `parse` functions answer; 1 is a number


def _power(exponent: int) -> tuple[int, int]:
    """The 128 most significant bits of a power of five, its upper and its lower half."""
    if exponent >= 0:
        value = 5**exponent
        shift = 128 - value.bit_length()
        value = value << shift if shift >= 0 else value >> -shift
    else:
        divisor = 5**-exponent
        value = (1 << (divisor.bit_length() + 127)) // divisor + 1
        if value >> 128:
            value >>= 1
    return value >> 64, value & 0xFFFFFFFFFFFFFFFF


_POWERS = tuple(half for exponent in range(_LEAST, _MOST + 1) for half in _power(exponent))
_TENS = tuple(10**i for i in range(20))
_ALL_ONES = 0xFFFFFFFFFFFFFFFF


def scaled(digits: U64, exponent: I64, out: PF64) -> I64:
    """The double nearest to digits times ten to a power; NO_NUMBER where that needs more than 128 bits."""
    if digits == 0:
        out[0] = 0.0
        return 1
    if exponent < -300 or exponent > 290:
        return NO_NUMBER
    zeros = leading_zeros(digits)
    shifted = digits << U64(zeros)
    row = 2 * (exponent - _LEAST)
    high = upper_product(shifted, U64(_POWERS[row]))
    low = shifted * U64(_POWERS[row])
    if high & 0x1FF == 0x1FF:
        more = upper_product(shifted, U64(_POWERS[row + 1]))
        low = low + more
        if low < more:
            high = high + 1
        if low == _ALL_ONES and (exponent < -27 or exponent > 55):
            return NO_NUMBER
    upper = high >> 63
    mantissa = high >> (upper + 9)
    power = (((152170 + 65536) * exponent) >> 16) + 63 + I64(upper) - zeros + 1023
    if power <= 0 or power >= 2046:
        return NO_NUMBER
    # Exactly between two numbers: to the even one.
    if low <= 1 and exponent >= -4 and exponent <= 23 and mantissa & 3 == 1 and mantissa << (upper + 9) == high:
        mantissa = mantissa - 1
    mantissa = (mantissa + (mantissa & 1)) >> 1
    if mantissa >= 1 << 53:
        mantissa = U64(1 << 52)
        power += 1
    out[0] = float_of(mantissa & ((1 << 52) - 1) | U64(power) << 52)
    return 1


def is_digit(c: I64) -> I64:
    return I64(48 <= c <= 57)


def parse_exponent(s: P8, at: I64, n: I64, out: P64) -> I64:
    """What follows the digits of a number: an exponent of at most four digits."""
    out[0] = 0
    if at == n:
        return 1
    if s[at] != 69 and s[at] != 101:
        return NO_NUMBER
    at += 1
    sign = 1
    if at < n and (s[at] == 43 or s[at] == 45):
        sign = 44 - s[at]
        at += 1
    if at == n or n - at > 4:
        return NO_NUMBER
    while at < n:
        if is_digit(s[at]) == 0:
            return NO_NUMBER
        out[0] = out[0] * 10 + s[at] - 48
        at += 1
    out[0] = out[0] * sign
    return 1


def parse_float(s: P8, n: I64, out: PF64) -> I64:
    """A decimal number, with spaces around it."""
    at = 0
    while at < n and is_space(s[at]) == 1:
        at += 1
    while n > at and is_space(s[n - 1]) == 1:
        n -= 1
    negative = I64(at < n and s[at] == 45)
    at += I64(at < n and (s[at] == 43 or s[at] == 45))
    digits = U64(0)
    seen = 0  # digits from the first that is not zero on
    some = 0
    exponent = 0
    fraction = 0
    while at < n:
        c = s[at]
        if is_digit(c) == 1:
            digits = digits * 10 + U64(c - 48)
            some = 1
            seen += I64(seen > 0 or c > 48)
            exponent -= fraction
        elif c == 46 and fraction == 0:
            fraction = 1
        else:
            break
        at += 1
    if some == 0 or seen > 19 or parse_exponent(s, at, n, P64(out)) == NO_NUMBER:
        return NO_NUMBER
    if scaled(digits, exponent + P64(out)[0], out) == NO_NUMBER:
        return NO_NUMBER
    if negative == 1:
        out[0] = -out[0]
    return 1


def parse_integer(s: P8, n: I64, out: P64) -> I64:
    """A whole number of at most 18 digits, with spaces around it."""
    at = 0
    while at < n and is_space(s[at]) == 1:
        at += 1
    while n > at and is_space(s[n - 1]) == 1:
        n -= 1
    negative = I64(at < n and s[at] == 45)
    at += negative
    if at >= n or n - at > 18:
        return NO_NUMBER
    value = 0
    while at < n:
        if is_digit(s[at]) == 0:
            return NO_NUMBER
        value = value * 10 + s[at] - 48
        at += 1
    out[0] = -value if negative == 1 else value
    return 1


# --- text to numbers. `left` gets the places of what is left to Python; the functions give how many these are.


def to_floats(array: P8, count: I64, out: P8, wide: I64, left: P64) -> I64:
    given = cells(array)
    value = PF64(stack(8))
    missed = 0
    for i in range(count):
        s = given[i]
        if is_bytes(s) == 0:
            return OTHER
        if parse_float(text(s), size(s), value) == NO_NUMBER:
            left[missed] = i
            missed += 1
        elif wide == 1:
            PF64(out)[i] = value[0]
        else:
            PF32(out)[i] = F32(value[0])
    return missed


def to_integers(array: P8, count: I64, out: P8, wide: I64, left: P64) -> I64:
    given = cells(array)
    value = P64(stack(8))
    missed = 0
    for i in range(count):
        s = given[i]
        if is_bytes(s) == 0:
            return OTHER
        found = parse_integer(text(s), size(s), value)
        if found == NO_NUMBER or (wide == 0 and (value[0] > 0x7FFFFFFF or value[0] < -0x80000000)):
            left[missed] = i
            missed += 1
        elif wide == 1:
            P64(out)[i] = value[0]
        else:
            P32(out)[i] = value[0]
    return missed


# --- numbers to text


def write_digits(end: P8, value: U64, least: I64) -> P8:
    """Write a number so that it ends at a place, with so many digits at least; gives where it begins."""
    while value > 0 or least > 0:
        rest = value // 10
        end = end + -1
        end[0] = 48 + I64(value - rest * 10)
        value = rest
        least -= 1
    return end


def from_integers(values: P64, count: I64, out: P8) -> I64:
    to = cells(out)
    room = stack(24)
    for i in range(count):
        value = values[i]
        start = write_digits(room + 24, U64(-value if value < 0 else value), 1)
        if value < 0:
            start = start + -1
            start[0] = 45
        made = new_bytes(start, room + 24 - start)
        if made == 0:
            return OTHER
        put(to, i, made)
    return 0


def rounded(mantissa: U64, scale: U64, down: I64, out: PU64) -> I64:
    """mantissa * scale / 2 ** down as a whole number, a half to the even one; NO_NUMBER where it needs over 63 bits."""
    high = upper_product(mantissa, scale)
    low = mantissa * scale
    if down <= 0:
        if down < -10 or high != 0 or low >> U64(63 + down) != 0:
            return NO_NUMBER
        out[0] = low << U64(-down)
        return 1
    whole = U64(0)
    rest = U64(0)  # what is shifted out, as the upper bits of 64; and whether there is more below it
    below = U64(0)
    if down < 64:
        if high >> U64(down - 1) != 0:
            return NO_NUMBER
        whole = low >> U64(down) | high << U64(64 - down)
        rest = low << U64(64 - down)
    elif down == 64:
        whole = high
        rest = low
    elif down < 128:
        whole = high >> U64(down - 64)
        rest = high << U64(128 - down) | low >> U64(down - 64)
        below = low << U64(128 - down)
    half = U64(1 << 63)
    if rest > half or (rest == half and (below > 0 or whole & 1 == 1)):
        whole = whole + 1
    out[0] = whole
    return 1


def from_floats(values: PF64, count: I64, precision: I64, out: P8) -> I64:
    """With so many digits behind the point, at most 9, as C's `%.*f`.

    What is not finite, or has more than 18 digits, is left out.
    """
    to = cells(out)
    room = stack(32)
    whole = PU64(stack(8))
    scale = U64(_TENS[precision])
    missed = 0
    for i in range(count):
        bits = bits_of(values[i])
        power = I64(bits >> 52 & 0x7FF)
        mantissa = bits & ((1 << 52) - 1)
        if power > 0:
            mantissa = mantissa | 1 << 52
        else:
            power = 1
        if rounded(mantissa, scale, 1075 - power, whole) == NO_NUMBER:
            missed += 1
            continue
        start = room + 32
        left = whole[0] // scale
        if precision > 0:
            start = write_digits(start, whole[0] - left * scale, precision)
            start = start + -1
            start[0] = 46
        start = write_digits(start, left, 1)
        if bits >> 63 == 1:
            start = start + -1
            start[0] = 45
        made = new_bytes(start, room + 32 - start)
        if made == 0:
            return OTHER
        put(to, i, made)
    return missed


EXPORTED = [to_floats, to_integers, from_integers, from_floats]
