"""tf.bitwise: logic on the bits of integers."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.ops.math.bitwise import bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift
