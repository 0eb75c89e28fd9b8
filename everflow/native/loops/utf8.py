"""Text in UTF-8 to code points and back, over arrays of strings.

Text that is no UTF-8 makes a function answer `OTHER`.
"""

from __future__ import annotations

from everflow.native.loops.objects import OTHER, cells, is_bytes, put, share, size, text
from everflow.native.loops.text import is_ascii
from everflow.native.loops.words import I64, P8, P32, P64, new_bytes, stack

UTF_8, UTF_16, UTF_32 = 0, 1, 2  # with the higher byte first
_REPLACEMENT = 0xFFFD
_SHORT = 16  # code points that are put together before their string is made


def continued(s: P8, at: I64, n: I64) -> I64:
    """The six bits of a byte that goes on with a character; OTHER where there is none."""
    if at >= n or s[at] & 0xC0 != 0x80:
        return OTHER
    return s[at] & 0x3F


def code_point(s: P8, at: I64, n: I64) -> I64:
    """The code point at a place; OTHER where there is none."""
    c = s[at]
    if c < 0x80:
        return c
    b = continued(s, at + 1, n)
    if c < 0xC2 or c > 0xF4 or b < 0:
        return OTHER
    if c < 0xE0:
        return (c & 0x1F) << 6 | b
    d = continued(s, at + 2, n)
    if d < 0:
        return OTHER
    if c < 0xF0:
        point = (c & 0x0F) << 12 | b << 6 | d
        return OTHER if point < 0x800 or 0xD800 <= point <= 0xDFFF else point
    e = continued(s, at + 3, n)
    point = (c & 7) << 18 | b << 12 | d << 6 | e
    return OTHER if e < 0 or point < 0x10000 or point > 0x10FFFF else point


def bytes_of(point: I64) -> I64:
    """How many bytes a code point takes in UTF-8."""
    return 1 + I64(point >= 0x80) + I64(point >= 0x800) + I64(point >= 0x10000)


def measure(array: P8, count: I64, controls: I64) -> I64:
    """How many code points all strings have. With `controls`, none of those below 32 may be among them."""
    given = cells(array)
    total = 0
    for i in range(count):
        if is_bytes(given[i]) == 0:
            return OTHER
        s = text(given[i])
        n = size(given[i])
        if controls == 0 and is_ascii(s, n) == 1:
            total += n
            continue
        at = 0
        while at < n:
            point = code_point(s, at, n)
            if point < 0 or (controls == 1 and point < 32):
                return OTHER
            at += bytes_of(point)
            total += 1
    return total


def decode(array: P8, count: I64, points: P32, offsets: P64, splits: P64) -> None:
    """The code points of text that was measured, where each begins in its string, and where each string's begin."""
    given = cells(array)
    to = 0
    splits[0] = 0
    for i in range(count):
        s = text(given[i])
        n = size(given[i])
        at = 0
        while at < n:
            point = code_point(s, at, n)
            points[to] = point
            offsets[to] = at
            at += bytes_of(point)
            to += 1
        splits[i + 1] = to


def characters(array: P8, count: I64, out: P8) -> I64:
    """The characters of text that was measured, each a string of its own."""
    given = cells(array)
    made = cells(out)
    to = 0
    for i in range(count):
        s = text(given[i])
        n = size(given[i])
        at = 0
        while at < n:
            length = bytes_of(code_point(s, at, n))
            one = new_bytes(s + at, length)
            if one == 0:
                return OTHER
            put(made, to, one)
            at += length
            to += 1
    return 0


def encoded_size(point: I64, form: I64) -> I64:
    if form == UTF_8:
        return bytes_of(point)
    return 2 + 2 * I64(point >= 0x10000) if form == UTF_16 else 4


def encode_point(to: P8, point: I64, form: I64) -> P8:
    """Write a code point; gives the place behind it."""
    if form == UTF_32:
        to[0] = 0
        to[1] = point >> 16
        to[2] = point >> 8
        to[3] = point
        return to + 4
    if form == UTF_16:
        if point >= 0x10000:
            high = 0xD7C0 + (point >> 10)
            to[0] = high >> 8
            to[1] = high
            to = to + 2
            point = 0xDC00 | point & 0x3FF
        to[0] = point >> 8
        to[1] = point
        return to + 2
    if point < 0x80:
        to[0] = point
        return to + 1
    if point < 0x800:
        to[0] = 0xC0 | point >> 6
    else:
        if point < 0x10000:
            to[0] = 0xE0 | point >> 12
        else:
            to[0] = 0xF0 | point >> 18
            to[1] = 0x80 | point >> 12 & 0x3F
            to = to + 1
        to[1] = 0x80 | point >> 6 & 0x3F
        to = to + 1
    to[1] = 0x80 | point & 0x3F
    return to + 2


def transcode(array: P8, count: I64, form: I64, out: P8) -> I64:
    """Text that was measured in another form."""
    given = cells(array)
    to = cells(out)
    for i in range(count):
        if form == UTF_8:
            share(to, i, given[i])
            continue
        s = text(given[i])
        n = size(given[i])
        length = 0
        at = 0
        while at < n:
            point = code_point(s, at, n)
            length += encoded_size(point, form)
            at += bytes_of(point)
        made = new_bytes(P8(0), length)
        if made == 0:
            return OTHER
        target = text(made)
        at = 0
        while at < n:
            point = code_point(s, at, n)
            target = encode_point(target, point, form)
            at += bytes_of(point)
        put(to, i, made)
    return 0


def valid(point: I64, form: I64) -> I64:
    # Halves of a pair are no text by themselves in UTF-8; the wide forms keep them.
    if form != UTF_8:
        return point
    return _REPLACEMENT if 0xD800 <= point <= 0xDFFF else point


def encode(points: P32, total: I64, splits: P64, rows: I64, form: I64, out: P8) -> I64:
    """The text of each row of code points. One beyond Unicode's range, or a row that is not within them, makes it answer
    OTHER.
    """
    to = cells(out)
    room = stack(_SHORT * 4)
    for i in range(rows):
        if splits[i] < 0 or splits[i + 1] > total or splits[i] > total or splits[i + 1] < 0:
            return OTHER
        count = splits[i + 1] - splits[i]
        length = 0
        for k in range(splits[i], splits[i + 1]):
            if points[k] > 0x10FFFF:
                return OTHER
            length += encoded_size(valid(points[k], form), form)
        # Python has the strings of one byte already, and gives them to who shows what they are to be.
        made = P8(0)
        target = room
        if count > _SHORT:
            made = new_bytes(P8(0), length)
            if made == 0:
                return OTHER
            target = text(made)
        for k in range(splits[i], splits[i + 1]):
            target = encode_point(target, valid(points[k], form), form)
        if count <= _SHORT:
            made = new_bytes(room, length)
            if made == 0:
                return OTHER
        put(to, i, made)
    return 0


EXPORTED = [measure, decode, characters, transcode, encode]
