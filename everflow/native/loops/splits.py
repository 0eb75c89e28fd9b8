"""Strings split into pieces: counted first, then made.

Pieces are cut at any of some bytes, at a separator, or at spaces. Each way is told by `next_piece`, so that both passes
see the same.
"""

from __future__ import annotations

from everflow.native.loops.objects import OTHER, cells, is_bytes, made_or_known, put, same, size, text, worth
from everflow.native.loops.text import is_space
from everflow.native.loops.words import I64, P8, P64, PP, stack

AT_BYTES, AT_SEPARATOR, AT_SPACES, EVERYWHERE = 0, 1, 2, 3


def next_piece(s: P8, n: I64, at: I64, way: I64, separator: P8, width: I64, last: I64, piece: P64) -> I64:
    """The piece that begins at a place: its start and end into `piece`. Gives the place of the next one, n + 1 where
    there is none; OTHER where there is no piece at all. `last`: all that is left is the piece.
    """
    if way == AT_SPACES:
        while at < n and is_space(s[at]) == 1:
            at += 1
        if at >= n:
            return OTHER
    piece[0] = at
    piece[1] = n
    if last == 1:
        return n + 1
    if way == EVERYWHERE:
        piece[1] = at + 1
        return at + 1 if at + 1 < n else n + 1
    if way == AT_BYTES:
        # `separator` is a table: whether a byte is one of those to cut at.
        while at < n and separator[s[at]] == 0:
            at += 1
        if at < n:
            piece[1] = at
            return at + 1
        return n + 1
    if way == AT_SPACES:
        while at < n and is_space(s[at]) == 0:
            at += 1
        piece[1] = at
        return at if at < n else n + 1
    first = separator[0]
    while at + width <= n:
        if s[at] == first and same(s + at, separator, width) == 1:
            piece[1] = at
            return at + width
        at += 1
    return n + 1


def count_pieces(
    array: P8, count: I64, way: I64, separator: P8, width: I64, most: I64, skip_empty: I64, counts: P64
) -> I64:
    """How many pieces each string has, at most `most` splits of it where that is not negative; how many all have."""
    given = cells(array)
    piece = P64(stack(16))
    total = 0
    for i in range(count):
        if is_bytes(given[i]) == 0:
            return OTHER
        s = text(given[i])
        n = size(given[i])
        found = 0
        splits = 0
        # Empty text has no pieces, but one where it is cut at a separator.
        at = 0 if n > 0 or way == AT_SEPARATOR else n + 1
        while at <= n:
            at = next_piece(s, n, at, way, separator, width, I64(splits == most), piece)
            if at < 0:
                break
            splits += 1
            if skip_empty == 0 or piece[1] > piece[0]:
                found += 1
        counts[i] = found
        total += found
    return total


def make_pieces(
    array: P8, count: I64, way: I64, separator: P8, width: I64, most: I64, skip_empty: I64, known: PP, out: P8
) -> I64:
    """The pieces of all strings, one after the other; `known`: a table for those that come again."""
    given = cells(array)
    to = cells(out)
    piece = P64(stack(16))
    place = 0
    for i in range(count):
        s = text(given[i])
        n = size(given[i])
        splits = 0
        at = 0 if n > 0 or way == AT_SEPARATOR else n + 1
        while at <= n:
            at = next_piece(s, n, at, way, separator, width, I64(splits == most), piece)
            if at < 0:
                break
            splits += 1
            if skip_empty == 0 or piece[1] > piece[0]:
                made = made_or_known(s + piece[0], piece[1] - piece[0], known)
                if made == 0:
                    return OTHER
                put(to, place, made)
                place += 1
        known = worth(known, place)
    return 0


def place_pieces(counts: P64, rows: I64, indices: P64) -> I64:
    """The (string, place) of each piece; gives how many the string with most has."""
    at = 0
    longest = 0
    for i in range(rows):
        longest = counts[i] if counts[i] > longest else longest
        for k in range(counts[i]):
            indices[at] = i
            indices[at + 1] = k
            at += 2
    return longest


EXPORTED = [count_pieces, make_pieces, place_pieces]
