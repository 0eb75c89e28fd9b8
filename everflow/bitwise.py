"""tf.bitwise: logic on the bits of integers."""

# ruff: noqa: F401

from everflow.ops.bitwise import bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift
