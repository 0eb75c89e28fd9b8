"""Philox 4x32-10, the counter-based generator of random ops, in LLVM IR: each value is a function of key, counter and its
place alone, so a loop may make them in any order and in vectors. The numbers are those of `kernels/random/philox.py`.
"""

from __future__ import annotations

from llvmlite import ir

from everflow.native.formulas import DOUBLE, FLOAT, Scalar

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = 0xFFFFFFFF
_ROUNDS = 10
# By type: values that a block gives, bits of a fraction, and the bits of one, whose exponent makes it a number in [1, 2).
_UNIFORM = {FLOAT: (4, 23, 0x3F800000), DOUBLE: (2, 52, 0x3FF0000000000000)}


def block(
    builder: ir.IRBuilder, key: ir.Value, low: ir.Value, high: ir.Value, number: ir.Value
) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """The four words of a block, each in the lower half of 64 bits: the one so many blocks behind the counter that
    `low` and `high` make up. All arguments have 64 bits.
    """
    key_, low_, high_, number_ = (Scalar(builder, value) for value in (key, low, high, number))
    reached = low_ + number_
    high_ = high_ + (reached < low_).to(ir.IntType(64))
    words = (reached & _LOW, reached >> 32, high_ & _LOW, high_ >> 32)
    keys = (key_ & _LOW, key_ >> 32)
    for _ in range(_ROUNDS):
        first, second = words[0] * _MULTIPLIERS[0], words[2] * _MULTIPLIERS[1]
        words = ((second >> 32) ^ words[1] ^ keys[0], second & _LOW, (first >> 32) ^ words[3] ^ keys[1], first & _LOW)
        keys = ((keys[0] + _WEYL[0]) & _LOW, (keys[1] + _WEYL[1]) & _LOW)
    return words


def fractions(words: tuple[Scalar, ...], type: ir.Type) -> list[ir.Value]:
    """The uniform numbers in [0, 1) that a block gives: four floats, one of a word each, or two doubles."""
    _, bits, one = _UNIFORM[type]
    if type == FLOAT:
        wide = [word.to(ir.IntType(32)) for word in words]
    else:
        wide = [(upper << 32) | lower for upper, lower in zip(words[::2], words[1::2], strict=True)]
    return [(((word & ((1 << bits) - 1)) | one).from_bits() - 1.0).value for word in wide]


def uniform(
    builder: ir.IRBuilder, type: ir.Type, key: ir.Value, low: ir.Value, high: ir.Value, index: ir.Value
) -> ir.Value:
    """The value at one place of random_uniform's result. It takes a whole block: a loop over blocks that stores all
    `fractions` of each has less to do.
    """
    place = Scalar(builder, index)
    count = _UNIFORM[type][0]
    values = fractions(block(builder, key, low, high, (place / count).value), type)
    chosen = Scalar(builder, values[0])
    for i, value in enumerate(values[1:], 1):
        chosen = ((place & (count - 1)) == i).where(Scalar(builder, value), chosen)
    return chosen.value
