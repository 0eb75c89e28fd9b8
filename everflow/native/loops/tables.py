"""Tables from strings or whole numbers to values: a hash table of the places of keys, and finding many keys at once."""

from __future__ import annotations

from everflow.native.loops.hashes import fingerprint, shift_mix
from everflow.native.loops.objects import OTHER, cells, is_bytes, same, share, size, text
from everflow.native.loops.words import I64, P8, P32, P64, PP, U64

# Places are counted from one on: zero is an empty slot, and that of a key that is not there.
_MIX = 0x9E3779B97F4A7C15


def place_of_string(key: P8, keys: PP, slots: P64, mask: I64) -> I64:
    """The slot of a key: the one that has it, or the empty one where it belongs."""
    n = size(key)
    at = I64(fingerprint(text(key), n)) & mask
    while slots[at] != 0:
        held = keys[slots[at] - 1]
        if held == key or (size(held) == n and same(text(held), text(key), n) == 1):
            return at
        at = (at + 1) & mask
    return at


def place_of_number(key: I64, keys: P64, slots: P64, mask: I64) -> I64:
    at = I64(shift_mix(U64(key) * _MIX)) & mask
    while slots[at] != 0 and keys[slots[at] - 1] != key:
        at = (at + 1) & mask
    return at


def index_strings(keys: P8, count: I64, slots: P64, mask: I64) -> I64:
    """Fill the slots, zeros before, with the places of keys."""
    held = cells(keys)
    for i in range(count):
        if is_bytes(held[i]) == 0:
            return OTHER
        slots[place_of_string(held[i], held, slots, mask)] = i + 1
    return 0


def index_numbers(keys: P64, count: I64, slots: P64, mask: I64) -> None:
    for i in range(count):
        slots[place_of_number(keys[i], keys, slots, mask)] = i + 1


def find_strings(asked: P8, count: I64, keys: P8, slots: P64, mask: I64, places: P64) -> I64:
    given = cells(asked)
    held = cells(keys)
    for i in range(count):
        if is_bytes(given[i]) == 0:
            return OTHER
        places[i] = slots[place_of_string(given[i], held, slots, mask)]
    return 0


def find_numbers(asked: P64, count: I64, keys: P64, slots: P64, mask: I64, places: P64) -> I64:
    for i in range(count):
        places[i] = slots[place_of_number(asked[i], keys, slots, mask)]
    return 0


# The values at places, or a default.


def take_words(places: P64, count: I64, values: P64, default: P64, out: P64) -> None:
    for i in range(count):
        out[i] = values[places[i] - 1] if places[i] > 0 else default[0]


def take_halves(places: P64, count: I64, values: P32, default: P32, out: P32) -> None:
    for i in range(count):
        out[i] = values[places[i] - 1] if places[i] > 0 else default[0]


def take_strings(places: P64, count: I64, values: P8, default: P8, out: P8) -> None:
    to = cells(out)
    for i in range(count):
        share(to, i, cells(values)[places[i] - 1] if places[i] > 0 else default)


EXPORTED = [
    index_strings,
    index_numbers,
    find_strings,
    find_numbers,
    take_words,
    take_halves,
    take_strings,
]
