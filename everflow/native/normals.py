"""Normal random numbers in LLVM IR, with the bits of TensorFlow's: Box and Muller's transform of uniform numbers by the
logarithm, sine and cosine of the C library in single precision. These are polynomials in double precision, and are
written here as `kernels/math/libm.py` evaluates them.
"""

from __future__ import annotations

import math

from llvmlite import ir

from everflow.native.exponentials import sqrt
from everflow.native.formulas import DOUBLE, FLOAT, Scalar, polynomial, table
from everflow.native.libm_tables import COSINE, INVERSES, LOG, LOGARITHMS, SINE
from everflow.native.philox import block

_LOG_START = 0x3F330000  # the bits of 0.7, where the tables begin
_FRACTION = 0x7FFFFF
_OFFSET = 0x4330000000000000  # the bits of 2^52: with an integer as its last bits it is the larger by that integer
_SMALLEST_UNIFORM = 1e-7


def _log(x: Scalar) -> Scalar:
    """Of a float between zero and one: log(2^k c) + log(1 + r) with r = x / 2^k c - 1."""
    # An exponent is added so that differences stay positive.
    above = x.bits() + (0x3F800000 - _LOG_START)
    which = ((above >> 19) & 15).to(ir.IntType(64))
    k = ((above >> 23).to(ir.IntType(64)) | _OFFSET).from_bits() - (2.0**52 + 127.0)
    mantissa = ((above & _FRACTION) + _LOG_START).from_bits().to(DOUBLE)
    r = mantissa * table("log_inverses", INVERSES, which) - 1.0
    whole = k * math.log(2.0) + table("log_centres", LOGARITHMS, which) + r
    return (polynomial(LOG, r) * (r * r) + whole).to(FLOAT)


def _sine(x: Scalar, further: Scalar | int) -> Scalar:
    """Of a float from zero to a turn, and some quarter turns."""
    wide = x.to(DOUBLE)
    magic = 1.5 * 2.0**52
    shifted = wide * (2.0 / math.pi) + magic
    integer = shifted.bits() + further
    angle = wide - (shifted - magic) * (math.pi / 2)
    square = angle * angle
    turned = (integer & 1) != 0
    result = turned.where(polynomial(COSINE, square), polynomial(SINE, square) * angle).to(FLOAT)
    return (result.bits() ^ ((integer & 2) << 30).to(ir.IntType(32))).from_bits()


def _normal(first: Scalar, second: Scalar, further: Scalar | int) -> Scalar:
    """sqrt(-2 log u) sin(v) of two words; a quarter turn further on with the cosine."""
    uniform = ((first.to(ir.IntType(32)) & _FRACTION) | 0x3F800000).from_bits() - 1.0
    radius = sqrt(_log((uniform < _SMALLEST_UNIFORM).where(_SMALLEST_UNIFORM, uniform)) * -2.0)
    turn = ((second & _FRACTION) | _OFFSET).from_bits() - 2.0**52
    return _sine((turn * (2.0 * math.pi * 2.0**-23)).to(FLOAT), further) * radius


def normals(words: tuple[Scalar, ...]) -> list[ir.Value]:
    """The four normal numbers that a block gives."""
    return [normal_of(words, position) for position in range(4)]


def normal_of(words: tuple[Scalar, ...], position: int) -> ir.Value:
    """One of the four normal numbers that a block gives."""
    first = position // 2 * 2
    return _normal(words[first], words[first + 1], position % 2).value


def normal(builder: ir.IRBuilder, key: ir.Value, low: ir.Value, high: ir.Value, index: ir.Value) -> ir.Value:
    """The value at one place of random_normal's result. It takes a whole block: a loop over blocks that stores all
    `normals` of each has less to do.
    """
    place = Scalar(builder, index)
    words = block(builder, key, low, high, (place / 4).value)
    later = (place & 2) != 0
    return _normal(later.where(words[2], words[0]), later.where(words[3], words[1]), place & 1).value
