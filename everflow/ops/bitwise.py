"""Logic on the bits of integers."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.ops.ragged_rows import takes_ragged


@takes_ragged(2)
def bitwise_and(x, y, name=None):
    """Element-wise: the bits that both have."""
    return raw.BitwiseAnd(x, y, name=name)


@takes_ragged(2)
def bitwise_or(x, y, name=None):
    """Element-wise: the bits that at least one has."""
    return raw.BitwiseOr(x, y, name=name)


@takes_ragged(2)
def bitwise_xor(x, y, name=None):
    """Element-wise: the bits that exactly one has."""
    return raw.BitwiseXor(x, y, name=name)


@takes_ragged()
def invert(x, name=None):
    """Element-wise: every bit flipped."""
    return raw.Invert(x, name=name)


@takes_ragged(2)
def left_shift(x, y, name=None):
    """Element-wise: the bits of x moved up by y places."""
    return raw.LeftShift(x, y, name=name)


@takes_ragged(2)
def right_shift(x, y, name=None):
    """Element-wise: the bits of x moved down by y places; the sign of signed types is kept."""
    return raw.RightShift(x, y, name=name)
