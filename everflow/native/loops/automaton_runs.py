"""Automata of patterns run over arrays of strings. Strings that are not ASCII are left out: their cells stay empty."""

from __future__ import annotations

from everflow.native.loops.objects import OTHER, cells, is_bytes, put, share, size, text
from everflow.native.loops.text import is_ascii
from everflow.native.loops.words import I64, P8, P32, P64, PP, copy, new_bytes, stack

NOW, AT_THE_END = 1, 2
LEFT = 2  # of a string that is left out
_MOST = 2048  # longer ones are left out too: a search may begin anew at each byte


def match_end(s: P8, n: I64, at: I64, state: I64, classes: P8, table: P32, columns: I64, accepts: P8) -> I64:
    """Where the match that begins at a place ends; OTHER where there is none."""
    found = OTHER
    while state != 0:
        if accepts[state] & NOW != 0:
            found = at
        if at == n:
            if accepts[state] & AT_THE_END != 0:
                found = n
            break
        state = table[state * columns + classes[s[at]]]
        at += 1
    return found


def full_matches(array: P8, count: I64, classes: P8, table: P32, columns: I64, accepts: P8, start: I64, out: P8) -> I64:
    """Whether each string is a match from end to end; gives how many are LEFT."""
    given = cells(array)
    left = 0
    for i in range(count):
        if is_bytes(given[i]) == 0:
            return OTHER
        s = text(given[i])
        n = size(given[i])
        state = start
        seen = 0
        for at in range(n):
            seen |= s[at]
            state = table[state * columns + classes[s[at]]]
        if seen >= 128:
            out[i] = LEFT
            left += 1
        else:
            out[i] = I64(accepts[state] & (NOW | AT_THE_END) != 0)
    return left


def search(s: P8, n: I64, at: I64, classes: P8, table: P32, columns: I64, accepts: P8, starts: P64, found: P64) -> I64:
    """The first match from a place on: its start and end into `found`; whether there is one."""
    while at <= n:
        state = starts[0] if at == 0 else starts[1]
        end = match_end(s, n, at, state, classes, table, columns, accepts)
        if end >= 0:
            found[0] = at
            found[1] = end
            return 1
        at += 1
    return 0


def replace(
    array: P8,
    count: I64,
    classes: P8,
    table: P32,
    columns: I64,
    accepts: P8,
    starts: P64,
    parts: P64,
    part_count: I64,
    all_of_them: I64,
    room: P8,
    room_size: I64,
    out: P8,
) -> I64:
    """Matches replaced by parts: the address and size of some text, or 0 for the match itself. Gives how many strings
    are left out, also those whose result does not fit the room.
    """
    given = cells(array)
    to = cells(out)
    found = P64(stack(16))
    left = 0
    for i in range(count):
        if is_bytes(given[i]) == 0:
            return OTHER
        s = text(given[i])
        n = size(given[i])
        if n > _MOST or is_ascii(s, n) == 0:
            left += 1
            continue
        length = replaced(
            s, n, classes, table, columns, accepts, starts, parts, part_count, all_of_them, room, room_size, found
        )
        if length == OTHER:
            share(to, i, given[i])
        elif length < 0:
            left += 1
        else:
            made = new_bytes(room, length)
            if made == 0:
                return OTHER
            put(to, i, made)
    return left


def replaced(
    s: P8,
    n: I64,
    classes: P8,
    table: P32,
    columns: I64,
    accepts: P8,
    starts: P64,
    parts: P64,
    part_count: I64,
    all_of_them: I64,
    room: P8,
    room_size: I64,
    found: P64,
) -> I64:
    """One string with its matches replaced, in the room; its length, OTHER where there is no match, less where there is
    not enough room.
    """
    at = 0
    last = -1
    length = 0
    some = 0
    while at <= n:
        if search(s, n, at, classes, table, columns, accepts, starts, found) == 0:
            break
        start = found[0]
        end = found[1]
        if start == last and end == start:  # nothing right after a match doesn't count
            if at < n:
                if length >= room_size:
                    return OTHER - 1
                room[length] = s[at]
                length += 1
            at += 1
            continue
        some = 1
        needed = start - at
        for k in range(part_count):
            needed += parts[2 * k + 1] if parts[2 * k] != 0 else end - start
        if length + needed > room_size:
            return OTHER - 1
        copy(room + length, s + at, start - at)
        length += start - at
        length = write_parts(s, start, end, parts, part_count, room, length)
        at = end
        last = end
        if all_of_them == 0:
            break
    if some == 0:
        return OTHER
    if at < n:
        if length + n - at > room_size:
            return OTHER - 1
        copy(room + length, s + at, n - at)
        length += n - at
    return length


def write_parts(s: P8, start: I64, end: I64, parts: P64, part_count: I64, room: P8, length: I64) -> I64:
    """What stands for one match; gives the length with it."""
    for k in range(part_count):
        size = parts[2 * k + 1]
        if parts[2 * k] == 0:
            size = end - start
            copy(room + length, s + start, size)
        else:
            copy(room + length, PP(parts)[2 * k], size)
        length += size
    return length


EXPORTED = [full_matches, replace]
