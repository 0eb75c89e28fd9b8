"""Python's bytes objects and numpy's arrays of them, in the language of compiled loops.

An array of strings is a row of pointers to bytes objects: loops read them where they are, and make new ones by Python's
C interface. Where a cell holds anything but bytes, a function gives up with `OTHER`, and its caller does without it.
"""

from __future__ import annotations

from everflow.native.loops.words import I64, P8, P32, P64, PP, PU64, U64, bytes_type, copy, drop, new_bytes, take

HEAD = object.__basicsize__  # bytes before an object's own: the size of bytes, the address of an array's cells
TEXT = bytes.__basicsize__ - 1  # where the bytes begin; the one is the zero after them
KNOWN = 4096  # places of a table of objects that were made before
_LONGEST_KNOWN = 16
OTHER = -1  # something is not as it should be, or there was no memory: the plain way has to do it


def cells(array: P8) -> PP:
    """The pointers of an array of strings."""
    return PP(PP(array + HEAD)[0])


def is_bytes(object: P8) -> I64:
    return I64(PP(object + (HEAD - 8))[0] == bytes_type())


def size(object: P8) -> I64:
    return P64(object + HEAD)[0]


def text(object: P8) -> P8:
    return object + TEXT


def put(cells: PP, at: I64, made: P8) -> None:
    """Give a cell an object that nobody else holds."""
    old = cells[at]
    cells[at] = made
    if old != 0:
        drop(old)


def share(cells: PP, at: I64, object: P8) -> None:
    """Have a cell show an object that others hold too."""
    take(object)
    put(cells, at, object)


def copy_text(to: P8, start: P8, n: I64) -> None:
    """Copy bytes. Most strings are short, and then a call takes longer than the copy itself."""
    if n > 16:
        copy(to, start, n)
    elif n >= 8:
        last = P64(start + (n - 8))[0]
        P64(to)[0] = P64(start)[0]
        P64(to + (n - 8))[0] = last
    elif n >= 4:
        last = P32(start + (n - 4))[0]
        P32(to)[0] = P32(start)[0]
        P32(to + (n - 4))[0] = last
    else:
        for i in range(n):
            to[i] = start[i]


def same(a: P8, b: P8, n: I64) -> I64:
    """Whether so many bytes are equal."""
    at = 0
    while at + 8 <= n:
        if P64(a + at)[0] != P64(b + at)[0]:
            return 0
        at += 8
    while at < n:
        if a[at] != b[at]:
            return 0
        at += 1
    return 1


def made_or_known(start: P8, n: I64, known: PP) -> P8:
    """An object of bytes that lie in another one: one that was made before for the same bytes, or a new one. Words come
    again and again in text, and to find one takes less than to make it and to drop it.

    `known`: KNOWN places for objects, which somebody else holds, and the number of those that were made; zeros at first. 0: none.
    """
    if known == 0 or n < 2 or n > _LONGEST_KNOWN:  # Python itself shares objects of one byte
        return new_bytes(start, n)
    # Eight bytes at both ends. What a short one has before it, an object's head at least, is shifted out.
    early = n - 8 if n < 8 else 0
    shift = U64(0 - 8 * early)
    first = PU64(start + early)[0] >> shift
    last = PU64(start + (n - 8))[0] >> shift
    at = I64((first * 0x9E3779B97F4A7C15 + last * 0xC2B2AE3D27D4EB4F + U64(n)) >> 52)
    found = known[at]
    if found != 0 and size(found) == n:
        theirs = text(found)
        if PU64(theirs + early)[0] >> shift == first and PU64(theirs + (n - 8))[0] >> shift == last:
            take(found)
            return found
    made = new_bytes(start, n)
    known[at] = made
    P64(known)[KNOWN] += 1
    return made


def worth(known: PP, asked: I64) -> PP:
    """The table, or 0 where hardly any of the strings that were asked for came again."""
    if known != 0 and asked > 4 * KNOWN and P64(known)[KNOWN] * 8 > asked * 7:
        return PP(0)
    return known
