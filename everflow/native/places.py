"""Where values lie that nobody outside looks at: memory that is no longer needed is used again."""

from __future__ import annotations

import bisect
from collections.abc import Sequence


def packed(spans: Sequence[tuple[int, int, int]]) -> tuple[list[int], int]:
    """Places for values of so many bytes, each needed from one time to another (both included): where each begins, and
    how many bytes there are in all. Two whose times meet never share a byte.
    """
    places = [0] * len(spans)
    total = 0
    free: list[tuple[int, int]] = []  # (bytes, where), by bytes
    held: list[tuple[int, int, int]] = []  # (last time, bytes, where), by time
    for number in sorted(range(len(spans)), key=lambda n: spans[n][1]):
        size, first, last = spans[number]
        while held and held[0][0] < first:
            _, room, place = held.pop(0)
            bisect.insort(free, (room, place))
        fitting = bisect.bisect_left(free, (size, -1))
        if fitting < len(free):
            size, places[number] = free.pop(fitting)
        else:
            places[number], total = total, total + size
        bisect.insort(held, (last, size, places[number]))
    return places, total
