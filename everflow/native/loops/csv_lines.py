"""Lines of CSV, all of a batch at once, straight into the columns.

A line with anything wrong in it makes the loop answer `OTHER`: the kernel then goes through the lines one by one and
says what is wrong.
"""

from __future__ import annotations

from everflow.native.loops.numbers import NO_NUMBER, parse_float, parse_integer
from everflow.native.loops.objects import OTHER, cells, is_bytes, put, same, share, size, text
from everflow.native.loops.words import F32, I64, P8, P32, P64, PF32, PF64, PP, new_bytes, stack

TEXT, INT32, INT64, FLOAT32, FLOAT64 = 0, 1, 2, 3, 4
# Of a column: its type, where its values go, and what stands for a field that is missing (0 where nothing does).
KIND, OUT, DEFAULT, FIELDS = 0, 1, 2, 3
_QUOTE, _NEWLINE, _RETURN = 34, 10, 13


def field_end(s: P8, n: I64, at: I64, delimiter: I64, quotes: I64) -> I64:
    """Where an unquoted field ends."""
    while at < n and s[at] != delimiter:
        if s[at] == _NEWLINE or s[at] == _RETURN or (quotes == 1 and s[at] == _QUOTE):
            return OTHER
        at += 1
    return at


def quoted_end(s: P8, n: I64, at: I64, delimiter: I64, doubled: P64) -> I64:
    """Where the text of a quoted field ends, `at` being where it begins; `doubled` counts quotes that stand for one."""
    doubled[0] = 0
    while at < n:
        if s[at] == _QUOTE:
            if at + 1 == n or s[at + 1] == delimiter:
                return at
            if s[at + 1] != _QUOTE:
                return OTHER
            doubled[0] = doubled[0] + 1
            at += 1
        at += 1
    return OTHER


def unquoted(s: P8, n: I64, doubled: I64) -> P8:
    """A new string of a field's text, each two quotes in it as one."""
    if doubled == 0:
        return new_bytes(s, n)
    made = new_bytes(P8(0), n - doubled)
    if made != 0:
        to = text(made)
        at = 0
        while at < n:
            to[0] = s[at]
            to = to + 1
            at += 2 if s[at] == _QUOTE else 1
    return made


def put_field(column: P64, row: I64, s: P8, n: I64, doubled: I64, missing: P8, room: P64) -> I64:
    """A field as a value of its column."""
    kind = column[KIND]
    out = PP(column)[OUT]
    default = PP(column)[DEFAULT]
    if n == 0 or (doubled == 0 and n == size(missing) and same(s, text(missing), n) == 1):
        if default == 0:
            return OTHER
        if kind == TEXT:
            share(cells(out), row, default)
        elif kind == INT32 or kind == FLOAT32:
            P32(out)[row] = P32(default)[0]
        else:
            P64(out)[row] = P64(default)[0]
        return 0
    if kind == TEXT:
        made = unquoted(s, n, doubled)
        if made == 0:
            return OTHER
        put(cells(out), row, made)
        return 0
    if kind <= INT64:
        if parse_integer(s, n, room) == NO_NUMBER:
            return OTHER
        value = room[0]
        if kind == INT64:
            P64(out)[row] = value
        elif value > 0x7FFFFFFF or value < -0x80000000:
            return OTHER
        else:
            P32(out)[row] = value
        return 0
    if parse_float(s, n, PF64(room)) == NO_NUMBER:
        return OTHER
    if kind == FLOAT64:
        PF64(out)[row] = PF64(room)[0]
    else:
        PF32(out)[row] = F32(PF64(room)[0])
    return 0


def decode_line(s: P8, n: I64, row: I64, columns: P64, where: P64, known: I64, how: P64, missing: P8, room: P64) -> I64:
    """The fields of one line; gives how many of them are columns."""
    some = -known if known < 0 else known
    delimiter = how[0]
    quotes = how[1]
    at = 0
    field = 0
    found = 0
    while at <= n:
        room[1] = 0
        start = at
        end = 0
        if quotes == 1 and at < n and s[at] == _QUOTE:
            start = at + 1
            end = quoted_end(s, n, start, delimiter, room + 1)
            at = end + 2
        else:
            end = field_end(s, n, at, delimiter, quotes)
            at = end + 1
        if end < 0:
            return OTHER
        if field < some:
            if where[field] >= 0:
                column = columns + FIELDS * where[field]
                if put_field(column, row, s + start, end - start, room[1], missing, room) < 0:
                    return OTHER
                found += 1
        elif known > 0:
            return OTHER
        field += 1
    return found


def decode(
    array: P8, count: I64, columns: P64, wanted: I64, where: P64, known: I64, delimiter: I64, quotes: I64, missing: P8
) -> I64:
    """`where` tells for the first `known` fields of a line which column each is, or -1. There must be no others, but
    where `known` is negative of what it would be.
    """
    given = cells(array)
    room = P64(stack(16))
    how = P64(stack(16))
    how[0] = delimiter
    how[1] = quotes
    for i in range(count):
        if is_bytes(given[i]) == 0:
            return OTHER
        n = size(given[i])
        if n == 0 or decode_line(text(given[i]), n, i, columns, where, known, how, missing, room) != wanted:
            return OTHER
    return 0


EXPORTED = [decode]
