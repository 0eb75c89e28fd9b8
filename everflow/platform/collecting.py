"""Rest for Python's collector of cyclic garbage, while many objects are made and no such garbage: to look through all of
them again and again takes a third of planning's time, and a tenth of loading's.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_collecting() -> Iterator[None]:
    """A block, or as a decorator a function, in which nothing is collected; what rested before goes on resting."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
