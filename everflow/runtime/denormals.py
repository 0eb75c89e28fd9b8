"""Numbers too small for full precision count as zero while a graph runs, as in TensorFlow: processors take many times
as long for them.

Weights that nothing trains and moments of zero gradients would end there and slow everything down. It is a setting of
the thread; threads that are started meanwhile, ATen's own and those of datasets, inherit it. Eager operations compute
with such numbers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

flush = torch.set_flush_denormal


@contextlib.contextmanager
def flushed() -> Iterator[None]:
    """Let such numbers be zero in here."""
    flush(True)
    try:
        yield
    finally:
        flush(False)
