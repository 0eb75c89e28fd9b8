"""Whole numbers that come again: the distinct ones in their order, and sums of the rows that belong to each."""

from __future__ import annotations

from everflow.native.loops.objects import OTHER
from everflow.native.loops.tables import place_of_number
from everflow.native.loops.words import I64, P64, PF32, PF64


def first_seen(keys: P64, count: I64, slots: P64, mask: I64, distinct: P64, numbers: P64) -> I64:
    """How many distinct keys there are; for each key the number of it. The slots are zeros before."""
    found = 0
    for i in range(count):
        at = place_of_number(keys[i], distinct, slots, mask)
        if slots[at] == 0:
            distinct[found] = keys[i]
            found = found + 1
            slots[at] = found
        numbers[i] = slots[at] - 1
    return found


def add_singles(rows: PF32, ids: P64, count: I64, width: I64, sums: PF32, segments: I64) -> I64:
    """Add each row to the sum that it belongs to, in order; rows with negative ids to none."""
    for i in range(count):
        if ids[i] >= segments:
            return OTHER
        if ids[i] >= 0:
            sum = sums + ids[i] * width
            row = rows + i * width
            for j in range(width):
                sum[j] = sum[j] + row[j]
    return 0


def add_doubles(rows: PF64, ids: P64, count: I64, width: I64, sums: PF64, segments: I64) -> I64:
    for i in range(count):
        if ids[i] >= segments:
            return OTHER
        if ids[i] >= 0:
            sum = sums + ids[i] * width
            row = rows + i * width
            for j in range(width):
                sum[j] = sum[j] + row[j]
    return 0


EXPORTED = [first_seen, add_singles, add_doubles]
