"""Example and SequenceExample messages, batches of them at once: where the values of each feature are, and then these.

Only what is usual is read here. A message with anything else in it (a feature twice, of another kind, fields in another
order, bytes that are no message) makes a function answer `OTHER`; the kernels, which read such batches with protobuf,
know what is wrong with it.

A *row* is one feature of one record, or of one step of a sequence: its span, the address and size of its list message,
and its count of values, `MISSING` where there is no list.
"""

from __future__ import annotations

from everflow.native.loops.objects import OTHER, cells, is_bytes, put, same, share, size, text
from everflow.native.loops.words import I64, P8, P32, P64, PP, copy, new_bytes, stack

MISSING = -1
BYTES, FLOATS, INTEGERS = 1, 2, 3  # the kinds of lists, by their numbers in a Feature
# Of a feature that is asked for: the key, the kind, how many values it must have (ANY: so many as there are).
KEY, KIND, WANTED, FIELDS = 0, 1, 2, 3
ANY = -1
_FIRST, _SECOND = 0x0A, 0x12  # tags of messages and strings that are field 1 or 2
_FIXED, _VARINT = 0x0D, 0x08  # tags of numbers that are not packed
_REMEMBERED = 256  # keys of the record before that are kept in mind


def varint_end(s: P8, at: I64, end: I64) -> I64:
    """The place behind a number of variable length; OTHER where it doesn't end."""
    last = at + 10 if at + 10 < end else end
    while at < last:
        at += 1
        if s[at - 1] < 0x80:
            return at
    return OTHER


def varint(s: P8, at: I64) -> I64:
    """A number of variable length that is known to end."""
    found = s[at]
    if found < 0x80:
        return found
    found &= 0x7F
    shift = 7
    while True:
        at += 1
        found |= (s[at] & 0x7F) << shift
        if s[at] < 0x80:
            return found
        shift += 7


def inside(s: P8, at: I64, end: I64, length: P64) -> I64:
    """The place of the content of a field that has its length in front; OTHER where that is not before the end."""
    if at >= end:
        return OTHER
    first = s[at]
    if first < 0x80:
        length[0] = first
        at += 1
    else:
        start = at
        at = varint_end(s, start, end)
        if at < 0:
            return OTHER
        length[0] = varint(s, start)
    if length[0] < 0 or length[0] > end - at:
        return OTHER
    return at


# --- lists of values


def count_values(s: P8, n: I64, kind: I64, length: P64) -> I64:
    """How many values a list message has."""
    found = 0
    at = 0
    while at < n:
        tag = s[at]
        if tag == _FIRST:
            at = inside(s, at + 1, n, length)
            if at < 0:
                return OTHER
            if kind == BYTES:
                found += 1
            elif kind == FLOATS:
                if length[0] & 3 != 0:
                    return OTHER
                found += length[0] >> 2
            else:
                more = count_varints(s + at, length[0])
                if more < 0:
                    return OTHER
                found += more
            at += length[0]
        elif tag == _FIXED and kind == FLOATS:
            at += 5
            found += 1
        elif tag == _VARINT and kind == INTEGERS:
            at = varint_end(s, at + 1, n)
            if at < 0:
                return OTHER
            found += 1
        else:
            return OTHER
    return found if at == n else OTHER


def count_varints(s: P8, n: I64) -> I64:
    found = 0
    length = 0
    for i in range(n):
        length += 1
        if s[i] < 0x80:
            found += 1
            length = 0
        elif length == 10:
            return OTHER
    return found if length == 0 else OTHER


def copy_integers(s: P8, n: I64, out: P64, length: P64) -> I64:
    """The values of a list that was counted; how many."""
    found = 0
    at = 0
    while at < n:
        packed = I64(s[at] == _FIRST)
        end = n
        at += 1
        if packed == 1:
            at = inside(s, at, n, length)
            end = at + length[0]
        while at < end:
            out[found] = varint(s, at)
            found += 1
            while s[at] >= 0x80:
                at += 1
            at += 1
            if packed == 0:
                break
    return found


def copy_floats(s: P8, n: I64, out: P8, length: P64) -> I64:
    found = 0
    at = 0
    while at < n:
        tag = s[at]
        at += 1
        length[0] = 4
        if tag == _FIRST:
            at = inside(s, at, n, length)
        copy(out + found * 4, s + at, length[0])
        found += length[0] >> 2
        at += length[0]
    return found


def copy_strings(s: P8, n: I64, out: PP, first: I64, length: P64) -> I64:
    found = 0
    at = 0
    while at < n:
        at = inside(s, at + 1, n, length)
        made = new_bytes(s + at, length[0])
        if made == 0:
            return OTHER
        put(out, first + found, made)
        found += 1
        at += length[0]
    return found


# --- features


def note_feature(s: P8, n: I64, asked: P64, span: P64, count: P64, length: P64) -> I64:
    """Write down where the list of a Feature message is and how many values it has."""
    count[0] = MISSING
    if n == 0:
        return 0
    kind = asked[KIND]
    if s[0] != kind << 3 | 2:
        return OTHER
    at = inside(s, 1, n, length)
    if at < 0 or at + length[0] != n:
        return OTHER
    span[0] = I64(s + at)
    span[1] = n - at
    found = count_values(s + at, n - at, kind, length)
    count[0] = found
    if found < 0 or (asked[WANTED] != ANY and found != asked[WANTED]):
        return OTHER
    return 0


def is_plain(s: P8, n: I64) -> I64:
    """Whether all bytes are ASCII."""
    at = 0
    found = 0
    while at + 8 <= n:
        found |= P64(s + at)[0] & -0x7F7F7F7F7F7F7F80
        at += 8
    while at < n:
        found |= s[at] & 0x80
        at += 1
    return I64(found == 0)


def feature_of(key: P8, n: I64, asked: P64, features: I64) -> I64:
    """The number of the feature with this key; MISSING where nobody asked for it."""
    for f in range(features):
        name = PP(asked + f * FIELDS)[KEY]
        if size(name) == n and same(text(name), key, n) == 1:
            return f
    return MISSING


def remembered(key: P8, n: I64, asked: P64, features: I64, memory: P64) -> I64:
    """As `feature_of`; mostly the key at this place of the record before was the same."""
    if memory[1] == n and same(PP(memory)[0], key, n) == 1:
        return memory[2]
    if is_plain(key, n) == 0:
        return OTHER - 1
    PP(memory)[0] = key
    memory[1] = n
    memory[2] = feature_of(key, n, asked, features)
    return memory[2]


def entry_value(s: P8, n: I64, length: P64) -> I64:
    """Where the value of an entry of a map begins, behind the key; the value's own length is in `length[1]`."""
    if n == 0 or s[0] != _FIRST:
        return OTHER
    key = inside(s, 1, n, length)
    if key < 0:
        return OTHER
    at = key + length[0]
    if at == n:
        length[1] = 0
        return at
    if s[at] != _SECOND:
        return OTHER
    at = inside(s, at + 1, n, length + 1)
    if at < 0 or at + length[1] != n:
        return OTHER
    return at


def note_map(
    s: P8, n: I64, asked: P64, features: I64, row: I64, rows: I64, spans: P64, counts: P64, memory: P64, lists: I64
) -> I64:
    """The entries of a Features message, or of a FeatureLists message: there counts are those of steps."""
    length = P64(stack(16))
    place = 0
    at = 0
    while at < n:
        if s[at] != _FIRST:
            return OTHER
        at = inside(s, at + 1, n, length)
        if at < 0:
            return OTHER
        entry = s + at
        entry_size = length[0]
        at += entry_size
        value = entry_value(entry, entry_size, length)
        if value < 0:
            return OTHER
        key_size = length[0]
        value_size = length[1]
        # The key ends where the value's tag and length begin.
        key = entry + 1 + (1 if entry[1] < 0x80 else varint_end(entry, 1, entry_size) - 1)
        f = remembered(key, key_size, asked, features, memory + 3 * (place % _REMEMBERED))
        place += 1
        if f == MISSING:
            continue
        if f < 0:
            return OTHER
        to = f * rows + row
        if counts[to] != MISSING or spans[2 * to] != 0:
            return OTHER  # twice
        if lists == 1:
            spans[2 * to] = I64(entry + value)
            spans[2 * to + 1] = value_size
            counts[to] = count_values(entry + value, value_size, BYTES, length)
            if counts[to] < 0:
                return OTHER
        else:
            spans[2 * to] = 1
            if note_feature(entry + value, value_size, asked + f * FIELDS, spans + 2 * to, counts + to, length) < 0:
                return OTHER
    return 0


def clear(rows: I64, spans: P64, counts: P64) -> None:
    for i in range(rows):
        spans[2 * i] = 0
        spans[2 * i + 1] = 0
        counts[i] = MISSING


def forget(memory: P64) -> None:
    for i in range(_REMEMBERED):
        memory[3 * i + 1] = -1


def locate(array: P8, count: I64, asked: P64, features: I64, spans: P64, counts: P64) -> I64:
    """The rows of a batch of Examples: those of the first feature, of the second and so on."""
    clear(features * count, spans, counts)
    given = cells(array)
    length = P64(stack(16))
    memory = P64(stack(3 * 8 * 256))
    forget(memory)
    for i in range(count):
        if is_bytes(given[i]) == 0:
            return OTHER
        n = size(given[i])
        if n == 0:
            continue
        s = text(given[i])
        if s[0] != _FIRST:
            return OTHER
        at = inside(s, 1, n, length)
        if at < 0 or at + length[0] != n:
            return OTHER
        if note_map(s + at, n - at, asked, features, i, count, spans, counts, memory, 0) < 0:
            return OTHER
    return 0


def locate_sequences(
    array: P8,
    count: I64,
    asked: P64,
    features: I64,
    spans: P64,
    counts: P64,
    lists: P64,
    list_features: I64,
    list_spans: P64,
    steps: P64,
) -> I64:
    """The rows of the contexts of a batch of SequenceExamples; for each feature list its span and how many steps."""
    clear(features * count, spans, counts)
    clear(list_features * count, list_spans, steps)
    given = cells(array)
    length = P64(stack(16))
    memory = P64(stack(3 * 8 * 256))
    list_memory = P64(stack(3 * 8 * 256))
    forget(memory)
    forget(list_memory)
    for i in range(count):
        if is_bytes(given[i]) == 0:
            return OTHER
        s = text(given[i])
        n = size(given[i])
        at = 0
        last = 0
        while at < n:
            tag = s[at]
            if (tag != _FIRST and tag != _SECOND) or tag <= last:
                return OTHER
            last = tag
            at = inside(s, at + 1, n, length)
            if at < 0:
                return OTHER
            inner = length[0]
            if tag == _FIRST:
                if note_map(s + at, inner, asked, features, i, count, spans, counts, memory, 0) < 0:
                    return OTHER
            elif note_map(s + at, inner, lists, list_features, i, count, list_spans, steps, list_memory, 1) < 0:
                return OTHER
            at += inner
    return 0


def locate_steps(list_spans: P64, count: I64, asked: P64, longest: I64, spans: P64, counts: P64) -> I64:
    """The rows of the steps of one feature list, `longest` for each record."""
    clear(count * longest, spans, counts)
    length = P64(stack(16))
    for i in range(count):
        s = PP(list_spans)[2 * i]
        n = list_spans[2 * i + 1]
        to = i * longest
        at = 0
        while at < n:
            at = inside(s, at + 1, n, length)
            inner = length[0]
            if note_feature(s + at, inner, asked, spans + 2 * to, counts + to, length) < 0:
                return OTHER
            if counts[to] < 0 and asked[WANTED] != ANY:
                return OTHER
            at += inner
            to += 1
    return 0


# --- values of rows


def measure(counts: P64, features: I64, rows: I64, out: P64) -> None:
    """Of the rows of each feature: all values, those of the longest row, and how many rows are missing."""
    for f in range(features):
        total = 0
        longest = 0
        missing = 0
        for i in range(rows):
            found = counts[f * rows + i]
            missing += I64(found < 0)
            total += found if found > 0 else 0
            longest = found if found > longest else longest
        out[3 * f] = total
        out[3 * f + 1] = longest
        out[3 * f + 2] = missing


# Each row is filled up to `width` values with those of `default`, `step` apart; with ANY one row follows the other.


def fill_integers(spans: P64, counts: P64, rows: I64, out: P64, width: I64, default: P64, step: I64) -> None:
    length = P64(stack(16))
    at = 0
    for i in range(rows):
        found = 0
        if counts[i] > 0:
            found = copy_integers(PP(spans)[2 * i], spans[2 * i + 1], out + at, length)
        at += found
        while found < width:
            out[at] = default[found * step]
            found += 1
            at += 1


def fill_floats(spans: P64, counts: P64, rows: I64, out: P32, width: I64, default: P32, step: I64) -> None:
    length = P64(stack(16))
    at = 0
    for i in range(rows):
        found = 0
        if counts[i] > 0:
            found = copy_floats(PP(spans)[2 * i], spans[2 * i + 1], P8(out + at), length)
        at += found
        while found < width:
            out[at] = default[found * step]
            found += 1
            at += 1


def fill_strings(spans: P64, counts: P64, rows: I64, out: P8, width: I64, default: P8, step: I64) -> I64:
    """`out` and `default` are arrays of strings."""
    length = P64(stack(16))
    to = cells(out)
    at = 0
    for i in range(rows):
        found = 0
        if counts[i] > 0:
            found = copy_strings(PP(spans)[2 * i], spans[2 * i + 1], to, at, length)
            if found < 0:
                return OTHER
        at += found
        while found < width:
            share(to, at, cells(default)[found * step])
            found += 1
            at += 1
    return 0


def fill_indices(counts: P64, rows: I64, out: P64) -> None:
    """(row, place) of each value."""
    at = 0
    for i in range(rows):
        for k in range(counts[i]):
            out[at] = i
            out[at + 1] = k
            at += 2


def fill_step_indices(counts: P64, rows: I64, longest: I64, out: P64) -> None:
    """(record, step, place) of each value."""
    at = 0
    for i in range(rows):
        for j in range(longest):
            for k in range(counts[i * longest + j]):
                out[at] = i
                out[at + 1] = j
                out[at + 2] = k
                at += 3


# A single record's features at once. Of each: where its values go, what fills up for it, and, where it is sparse, where
# the place of each value and how many there are go.
VALUES, FILLER, PLACES, COUNT, OUTPUTS = 0, 1, 2, 3, 4


def fill_rows(kind: I64, spans: P64, counts: P64, rows: I64, out: P64, width: I64, step: I64) -> I64:
    """The rows of one feature, of any kind."""
    to = PP(out)[VALUES]
    default = PP(out)[FILLER]
    if kind == BYTES:
        return fill_strings(spans, counts, rows, to, width, default, step)
    if kind == FLOATS:
        fill_floats(spans, counts, rows, P32(to), width, P32(default), step)
    else:
        fill_integers(spans, counts, rows, P64(to), width, P64(default), step)
    return 0


def fill_record(spans: P64, counts: P64, asked: P64, features: I64, outputs: P64) -> I64:
    for f in range(features):
        what = asked + FIELDS * f
        out = outputs + OUTPUTS * f
        if fill_rows(what[KIND], spans + 2 * f, counts + f, 1, out, what[WANTED], 1) < 0:
            return OTHER
        if out[COUNT] != 0:
            count = counts[f] if counts[f] > 0 else 0
            for k in range(count):
                P64(PP(out)[PLACES])[k] = k
            P64(PP(out)[COUNT])[0] = count
    return 0


def fill_lists(spans: P64, counts: P64, asked: P64, features: I64, outputs: P64, room: P64) -> I64:
    """The feature lists of a single record; `room` for the rows of the longest one."""
    for f in range(features):
        what = asked + FIELDS * f
        steps = counts[f]
        if steps > 0:
            rows = room + 2 * steps
            if locate_steps(spans + 2 * f, 1, what, steps, room, rows) < 0:
                return OTHER
            if fill_rows(what[KIND], room, rows, steps, outputs + OUTPUTS * f, what[WANTED], 0) < 0:
                return OTHER
    return 0


EXPORTED = [
    locate,
    locate_sequences,
    locate_steps,
    measure,
    fill_integers,
    fill_floats,
    fill_strings,
    fill_indices,
    fill_step_indices,
    fill_record,
    fill_lists,
]
