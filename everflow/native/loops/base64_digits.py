"""Base64 with the digits that are safe in addresses of pages, over arrays of strings."""

from __future__ import annotations

from everflow.native.loops.objects import OTHER, cells, is_bytes, put, size, text
from everflow.native.loops.words import I64, P8, new_bytes

_DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_VALUES = bytes(_DIGITS.find(bytes([c])) % 256 for c in range(256))  # of a byte: the digit's, or none
_EQUALS = 61


def encode(array: P8, count: I64, out: P8, pad: I64) -> I64:
    given = cells(array)
    to = cells(out)
    for i in range(count):
        if is_bytes(given[i]) == 0:
            return OTHER
        n = size(given[i])
        s = text(given[i])
        rest = n % 3
        whole = n - rest
        length = whole // 3 * 4
        if rest > 0:
            length += 4 if pad == 1 else rest + 1
        made = new_bytes(P8(0), length)
        if made == 0:
            return OTHER
        d = text(made)
        at = 0
        while at < whole:
            word = s[at] << 16 | s[at + 1] << 8 | s[at + 2]
            d[0] = _DIGITS[word >> 18]
            d[1] = _DIGITS[word >> 12 & 63]
            d[2] = _DIGITS[word >> 6 & 63]
            d[3] = _DIGITS[word & 63]
            d = d + 4
            at += 3
        if rest > 0:
            word = s[at] << 16
            if rest == 2:
                word |= s[at + 1] << 8
            d[0] = _DIGITS[word >> 18]
            d[1] = _DIGITS[word >> 12 & 63]
            if rest == 2:
                d[2] = _DIGITS[word >> 6 & 63]
            elif pad == 1:
                d[2] = _EQUALS
            if pad == 1:
                d[3] = _EQUALS
        put(to, i, made)
    return 0


def decode(array: P8, count: I64, out: P8) -> I64:
    """OTHER where something is not Base64."""
    given = cells(array)
    to = cells(out)
    for i in range(count):
        if is_bytes(given[i]) == 0:
            return OTHER
        s = text(given[i])
        n = size(given[i])
        if n > 0 and n & 3 == 0 and s[n - 1] == _EQUALS:
            n -= 2 if s[n - 2] == _EQUALS else 1
        rest = n & 3
        if rest == 1:
            return OTHER
        made = new_bytes(P8(0), n // 4 * 3 + (rest - 1 if rest > 0 else 0))
        if made == 0:
            return OTHER
        put(to, i, made)
        d = text(made)
        at = 0
        seen = 0
        while at + 4 <= n:
            a = _VALUES[s[at]]
            b = _VALUES[s[at + 1]]
            e = _VALUES[s[at + 2]]
            f = _VALUES[s[at + 3]]
            seen |= a | b | e | f
            word = a << 18 | b << 12 | e << 6 | f
            d[0] = word >> 16
            d[1] = word >> 8
            d[2] = word
            d = d + 3
            at += 4
        if rest > 0:
            a = _VALUES[s[at]]
            b = _VALUES[s[at + 1]]
            e = _VALUES[s[at + 2]] if rest == 3 else 0
            seen |= a | b | e
            d[0] = a << 2 | b >> 4
            if rest == 3:
                d[1] = b << 4 | e >> 2
        if seen & 128 != 0:
            return OTHER
    return 0


EXPORTED = [encode, decode]
