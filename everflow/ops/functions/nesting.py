"""Room for functions that are drawn inside of each other: each takes many of Python's calls, of which it allows a
thousand.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from types import FrameType

from everflow.framework.forking import renewed

# What drawing one more body may need, and where the nest is taken for one without an end. Python's own calls take no C
# stack since 3.11, and those that go by way of C (`__call__` of an object) are a small part: this many are far from
# filling the stack of a thread.
NEEDED, MOST = 600, 12_000

_lock = renewed(threading.Lock())
_inside = 0  # bodies that are being drawn, in all threads
_outside = 0  # the limit without us


def _depth() -> int:
    count = 0
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count


@contextlib.contextmanager
def room_for_a_body() -> Iterator[None]:
    """See to it that one more body can be drawn; the limit is as before when the last one is done."""
    global _inside, _outside
    needed = min(_depth() + NEEDED, MOST)
    with _lock:
        if _inside == 0:
            _outside = sys.getrecursionlimit()
        _inside += 1
        if needed > sys.getrecursionlimit():
            sys.setrecursionlimit(needed)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                sys.setrecursionlimit(_outside)
