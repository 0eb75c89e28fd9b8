"""Automata of patterns run over arrays of strings. Strings that are not ASCII are left out: their cells stay empty.

Where the groups of a match are wanted, its steps are tried again one after the other, in the order of preference, on
the program that the automaton was made of (`kernels/strings/automata.py` says what both are).
"""

from __future__ import annotations

from everflow.native.loops.objects import OTHER, cells, is_bytes, put, share, size, text
from everflow.native.loops.text import is_ascii
from everflow.native.loops.words import I64, P8, P32, P64, PP, copy, new_bytes, stack

NOW, AT_THE_END = 1, 2
LEFT = 2  # of a string that is left out
_MOST = 2048  # longer ones are left out too: a search may begin anew at each byte
# What a run needs to know, by its place in a table of addresses and numbers.
CLASSES, TABLE, COLUMNS, ACCEPTS, AT_BEGIN, ELSEWHERE = 0, 1, 2, 3, 4, 5
PARTS, PART_COUNT, ALL, ROOM, ROOM_SIZE = 6, 7, 8, 9, 10
PROGRAM, LENGTH, START, MEMBERS, SLOTS, SLOT_COUNT, STACK, STACK_SIZE, VISITED, VISITED_SIZE = (
    11,
    12,
    13,
    14,
    15,
    16,
    17,
    18,
    19,
    20,
)
# Steps of a program: kind, a detail, and where to go on, at most so many places.
BYTES, JUMP, BEGIN, END, SAVE, ACCEPT = 0, 1, 2, 3, 4, 5
WIDTH, MOST_PLACES = 8, 5


def match_end(s: P8, n: I64, at: I64, state: I64, how: P64) -> I64:
    """Where the match that begins at a place ends; OTHER where there is none."""
    classes = PP(how)[CLASSES]
    table = P32(PP(how)[TABLE])
    columns = how[COLUMNS]
    accepts = PP(how)[ACCEPTS]
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


def full_matches(array: P8, count: I64, how: P64, out: P8) -> I64:
    """Whether each string is a match from end to end; gives how many are LEFT."""
    given = cells(array)
    classes = PP(how)[CLASSES]
    table = P32(PP(how)[TABLE])
    columns = how[COLUMNS]
    accepts = PP(how)[ACCEPTS]
    left = 0
    for i in range(count):
        if is_bytes(given[i]) == 0:
            return OTHER
        s = text(given[i])
        n = size(given[i])
        state = how[AT_BEGIN]
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


def search(s: P8, n: I64, at: I64, how: P64, found: P64) -> I64:
    """The first match from a place on: its start and end into `found`; whether there is one."""
    while at <= n:
        end = match_end(s, n, at, how[AT_BEGIN] if at == 0 else how[ELSEWHERE], how)
        if end >= 0:
            found[0] = at
            found[1] = end
            return 1
        at += 1
    return 0


# --- groups


def goes_on(step: P64, s: P8, n: I64, at: I64, end: I64, how: P64) -> I64:
    """Whether a step can be taken at a place of the text."""
    kind = step[0]
    if kind == BYTES:
        return I64(at < end and (PP(how)[MEMBERS] + step[1] * 128)[s[at]] == 1)
    if kind == BEGIN:
        return I64(at == 0)
    if kind == END:
        return I64(at == n)
    return 1


def find_groups(s: P8, n: I64, start: I64, end: I64, how: P64) -> I64:
    """Where the groups of a match begin and end, into its slots; -1 for those that are not in it.

    OTHER where that needs more room than there is.
    """
    slots = P64(PP(how)[SLOTS])
    pending = P64(PP(how)[STACK])
    visited = PP(how)[VISITED]
    span = end - start + 1
    if how[LENGTH] * span > how[VISITED_SIZE]:
        return OTHER
    for k in range(how[LENGTH] * span):
        visited[k] = 0
    for k in range(how[SLOT_COUNT]):
        slots[k] = -1
    # What is to be tried, the last first: a step and a place; or a slot, below zero, and what it held before.
    depth = 1
    pending[0] = how[START]
    pending[1] = start
    while depth > 0:
        depth -= 1
        place = pending[2 * depth]
        at = pending[2 * depth + 1]
        if place < 0:
            slots[-place - 1] = at
            continue
        if visited[place * span + at - start] == 1:
            continue
        visited[place * span + at - start] = 1
        step = P64(PP(how)[PROGRAM]) + place * WIDTH
        if step[0] == ACCEPT:
            if at == end:
                return 0
            continue
        if goes_on(step, s, n, at, end, how) == 0:
            continue
        if depth + MOST_PLACES + 1 > how[STACK_SIZE]:
            return OTHER
        if step[0] == SAVE:
            pending[2 * depth] = -step[1] - 1
            pending[2 * depth + 1] = slots[step[1]]
            depth += 1
            slots[step[1]] = at
        for k in range(step[2]):  # the one that is preferred is put last
            pending[2 * depth] = step[2 + step[2] - k]
            pending[2 * depth + 1] = at + I64(step[0] == BYTES)
            depth += 1
    return OTHER


# --- replacements


def replace(array: P8, count: I64, how: P64, out: P8) -> I64:
    """Matches replaced by parts: the address and size of some text, or 0 and the number of a group. Gives how many
    strings are left out, also those whose result does not fit the room.
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
        length = replaced(s, n, how, found)
        if length == OTHER:
            share(to, i, given[i])
        elif length < 0:
            left += 1
        else:
            made = new_bytes(PP(how)[ROOM], length)
            if made == 0:
                return OTHER
            put(to, i, made)
    return left


def replaced(s: P8, n: I64, how: P64, found: P64) -> I64:
    """One string with its matches replaced, in the room; its length, OTHER where there is no match, less where there is
    not enough room.
    """
    room = PP(how)[ROOM]
    at = 0
    last = -1
    length = 0
    some = 0
    while at <= n:
        if search(s, n, at, how, found) == 0:
            break
        start = found[0]
        end = found[1]
        if length + n - at > how[ROOM_SIZE]:
            return OTHER - 1
        if start == last and end == start:  # nothing right after a match doesn't count
            if at < n:
                room[length] = s[at]
                length += 1
            at += 1
            continue
        some = 1
        copy(room + length, s + at, start - at)
        length = write_parts(s, n, start, end, how, length + start - at)
        if length < 0:
            return OTHER - 1
        at = end
        last = end
        if how[ALL] == 0:
            break
    if some == 0:
        return OTHER
    if at < n:
        if length + n - at > how[ROOM_SIZE]:
            return OTHER - 1
        copy(room + length, s + at, n - at)
        length += n - at
    return length


def write_parts(s: P8, n: I64, start: I64, end: I64, how: P64, length: I64) -> I64:
    """What stands for one match; gives the length with it, OTHER where there is not enough room."""
    room = PP(how)[ROOM]
    parts = P64(PP(how)[PARTS])
    slots = P64(PP(how)[SLOTS])
    if how[SLOT_COUNT] > 0 and find_groups(s, n, start, end, how) < 0:
        return OTHER
    for k in range(how[PART_COUNT]):
        origin = PP(parts)[2 * k]
        count = parts[2 * k + 1]
        if origin == 0:
            group = count
            origin = s + start
            count = end - start
            if group > 0:
                origin = s + slots[2 * group - 2]
                # A group that was begun and not ended is not in the match.
                count = slots[2 * group - 1] - slots[2 * group - 2] if slots[2 * group - 1] >= 0 else 0
        if length + count > how[ROOM_SIZE]:
            return OTHER
        copy(room + length, origin, count)
        length += count
    return length


EXPORTED = [full_matches, replace]
