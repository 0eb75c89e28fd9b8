"""Strings measured, changed, cut, joined and split, over arrays of them.

Functions give 0, or how many results they left out (these cells are empty; the caller has a slower way), or `OTHER`.
"""

from __future__ import annotations

from everflow.native.loops.objects import (
    OTHER,
    cells,
    copy_text,
    is_bytes,
    made_or_known,
    put,
    share,
    size,
    text,
    worth,
)
from everflow.native.loops.words import I64, P8, P32, P64, PP, PU64, U64, copy, new_bytes, ones

_HIGH_BITS = -0x7F7F7F7F7F7F7F80  # the highest bit of each of eight bytes


def is_ascii(s: P8, n: I64) -> I64:
    """Whether no byte has its highest bit."""
    at = 0
    found = 0
    while at + 8 <= n:
        found |= P64(s + at)[0] & _HIGH_BITS
        at += 8
    while at < n:
        found |= s[at] & 0x80
        at += 1
    return I64(found == 0)


def is_space(c: I64) -> I64:
    return I64(c == 32 or 9 <= c <= 13)


def is_continuation(c: I64) -> I64:
    """Whether a byte goes on with a character of UTF-8."""
    return I64(c & 0xC0 == 0x80)


def put_part(to: PP, at: I64, s: P8, start: I64, n: I64, known: PP) -> I64:
    """Part of a string as a result: the string itself where that is all of it."""
    if start == 0 and n == size(s):
        share(to, at, s)
        return 0
    made = made_or_known(text(s) + start, n, known)
    if made == 0:
        return OTHER
    put(to, at, made)
    return 0


def lengths(array: P8, count: I64, out: P32) -> I64:
    given = cells(array)
    for i in range(count):
        s = given[i]
        if is_bytes(s) == 0:
            return OTHER
        out[i] = size(s)
    return 0


def continuations(word: U64) -> I64:
    """How many of eight bytes go on with a character: those whose two highest bits are 1 and 0."""
    return ones((word >> 7) & (~word >> 6) & 0x0101010101010101)


def characters(s: P8, n: I64) -> I64:
    """How many characters UTF-8 text of an object has: bytes that don't go on with one."""
    found = n
    at = 0
    while at + 8 <= n:
        found -= continuations(PU64(s + at)[0])
        at += 8
    if at < n:  # the last eight bytes, without those that were counted, or are before the text: an object's head
        found -= continuations(PU64(s + (n - 8))[0] >> U64(8 * (8 - (n - at))))
    return found


def character_lengths(array: P8, count: I64, out: P32) -> I64:
    given = cells(array)
    for i in range(count):
        s = given[i]
        if is_bytes(s) == 0:
            return OTHER
        out[i] = characters(text(s), size(s))
    return 0


def change_case(array: P8, count: I64, out: P8, first: I64, only_ascii: I64) -> I64:
    """Letters from `first` on, 26 of them, become the others; text that is not ASCII is left out where it has to be."""
    given = cells(array)
    to = cells(out)
    left = 0
    for i in range(count):
        s = given[i]
        if is_bytes(s) == 0:
            return OTHER
        n = size(s)
        start = text(s)
        if only_ascii == 1 and is_ascii(start, n) == 0:
            left += 1
            continue
        changes = 0
        for k in range(n):
            changes |= I64(first <= start[k] < first + 26)
        if changes == 0:
            share(to, i, s)
            continue
        made = new_bytes(P8(0), n)
        if made == 0:
            return OTHER
        target = text(made)
        for k in range(n):
            c = start[k]
            target[k] = c ^ 32 if first <= c < first + 26 else c
        put(to, i, made)
    return left


def strip(array: P8, count: I64, out: P8, known: PP) -> I64:
    given = cells(array)
    to = cells(out)
    for i in range(count):
        s = given[i]
        if is_bytes(s) == 0:
            return OTHER
        start = 0
        end = size(s)
        while start < end and is_space(text(s)[start]) == 1:
            start += 1
        while end > start and is_space(text(s)[end - 1]) == 1:
            end -= 1
        if put_part(to, i, s, start, end - start, known) < 0:
            return OTHER
        known = worth(known, i)
    return 0


def character_at(s: P8, n: I64, at: I64, number: I64) -> I64:
    """The place so many characters behind another place; the end where there are not so many."""
    while number > 0 and at < n:
        at += 1
        while at < n and is_continuation(s[at]) == 1:
            at += 1
        number -= 1
    return at


def substrings(
    array: P8, count: I64, positions: P64, counts: P64, step: I64, in_characters: I64, known: PP, out: P8
) -> I64:
    """Parts of strings; one position and length for each of them, or, with step 0, for all."""
    given = cells(array)
    to = cells(out)
    for i in range(count):
        s = given[i]
        if is_bytes(s) == 0:
            return OTHER
        start = positions[i * step]
        wanted = counts[i * step]
        n = size(s)
        whole = characters(text(s), n) if in_characters == 1 else n
        if start > whole or start < -whole:
            return OTHER  # an error
        if start < 0:
            start += whole
        if wanted < 0:
            wanted = 0 if in_characters == 1 else n
        if in_characters == 1 and whole != n:
            if is_continuation(text(s)[0]) == 1:
                return OTHER  # text that begins inside of a character
            start = character_at(text(s), n, 0, start)
            wanted = character_at(text(s), n, start, wanted) - start
        elif wanted > n - start:
            wanted = n - start
        if put_part(to, i, s, start, wanted, known) < 0:
            return OTHER
        known = worth(known, i)
    return 0


def gather(array: P8, count: I64, width: I64, out: P8) -> I64:
    """Strings of one size, one after the other."""
    given = cells(array)
    for i in range(count):
        if is_bytes(given[i]) == 0 or size(given[i]) != width:
            return OTHER
        copy(out + i * width, text(given[i]), width)
    return 0


# --- joining


def join_arrays(arrays: PP, steps: P64, width: I64, count: I64, glue: P8, out: P8) -> I64:
    """The strings at one place of each array, joined. An array with step 0 has one string for all places."""
    to = cells(out)
    between = size(glue)
    for i in range(count):
        n = between * (width - 1)
        for j in range(width):
            s = cells(arrays[j])[i * steps[j]]
            if is_bytes(s) == 0:
                return OTHER
            n += size(s)
        made = new_bytes(P8(0), n)
        if made == 0:
            return OTHER
        at = text(made)
        for j in range(width):
            s = cells(arrays[j])[i * steps[j]]
            if j > 0:
                copy_text(at, text(glue), between)
                at = at + between
            copy_text(at, text(s), size(s))
            at = at + size(s)
        put(to, i, made)
    return 0


def join_cells(given: PP, first: I64, width: I64, glue: P8, to: PP, place: I64) -> I64:
    """So many strings that follow each other, joined."""
    between = size(glue)
    n = between * (width - 1) if width > 0 else 0
    for j in range(width):
        s = given[first + j]
        if is_bytes(s) == 0:
            return OTHER
        n += size(s)
    made = new_bytes(P8(0), n)
    if made == 0:
        return OTHER
    at = text(made)
    for j in range(width):
        s = given[first + j]
        if j > 0:
            copy_text(at, text(glue), between)
            at = at + between
        copy_text(at, text(s), size(s))
        at = at + size(s)
    put(to, place, made)
    return 0


def join_rows(array: P8, rows: I64, width: I64, glue: P8, out: P8) -> I64:
    for i in range(rows):
        if join_cells(cells(array), i * width, width, glue, cells(out), i) < 0:
            return OTHER
    return 0


def count_windows(splits: P64, rows: I64, widths: P64, kinds: I64, most: I64, ends: P64) -> I64:
    """How many stretches of these widths there are up to each row, and in all; OTHER where rows are not one after the
    other.
    """
    total = 0
    ends[0] = 0
    for i in range(rows):
        if splits[i] < 0 or splits[i + 1] < splits[i] or splits[i + 1] > most:
            return OTHER
        for k in range(kinds):
            found = splits[i + 1] - splits[i] - widths[k] + 1
            total += found if found > 0 else 0
        ends[i + 1] = total
    return total


def join_windows(array: P8, splits: P64, rows: I64, widths: P64, kinds: I64, glue: P8, out: P8) -> I64:
    """Of each row all stretches of so many strings, for one width after the other."""
    place = 0
    for i in range(rows):
        for k in range(kinds):
            for at in range(splits[i], splits[i + 1] - widths[k] + 1):
                if join_cells(cells(array), at, widths[k], glue, cells(out), place) < 0:
                    return OTHER
                place += 1
    return 0


EXPORTED = [
    lengths,
    gather,
    character_lengths,
    change_case,
    strip,
    substrings,
    join_arrays,
    join_rows,
    count_windows,
    join_windows,
]
