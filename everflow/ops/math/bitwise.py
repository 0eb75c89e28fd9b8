"""Logic on the bits of integers."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.ops.array.ragged_rows import takes_ragged
from everflow.ops.math.binary import binary_function

bitwise_and = binary_function(
    "bitwise_and",
    "BitwiseAnd",
    "the bits that both have",
    space="bitwise.",
    at="[5, 12], 6",
    gives="array([4, 4], dtype=int32)",
)
bitwise_or = binary_function(
    "bitwise_or",
    "BitwiseOr",
    "the bits that at least one has",
    space="bitwise.",
    at="[5, 12], 6",
    gives="array([ 7, 14], dtype=int32)",
)
bitwise_xor = binary_function(
    "bitwise_xor",
    "BitwiseXor",
    "the bits that exactly one has",
    space="bitwise.",
    at="[5, 12], 6",
    gives="array([ 3, 10], dtype=int32)",
)
left_shift = binary_function(
    "left_shift",
    "LeftShift",
    "the bits of x moved up by y places",
    space="bitwise.",
    at="[1, 3], 2",
    gives="array([ 4, 12], dtype=int32)",
)
right_shift = binary_function(
    "right_shift",
    "RightShift",
    "the bits of x moved down by y places; the sign of signed types is kept",
    space="bitwise.",
    at="[-8, 8], 2",
    gives="array([-2,  2], dtype=int32)",
)


@takes_ragged()
def invert(x, name=None):
    """Element-wise: every bit flipped.

    Args:
        x: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.bitwise.invert(tf.constant([0, 5], tf.int8)))
        array([-1, -6], dtype=int8)
    """
    return raw.Invert(x, name=name)
