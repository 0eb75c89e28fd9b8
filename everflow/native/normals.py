"""Normal random numbers in LLVM IR, with the bits of TensorFlow's: Box and Muller's transform of uniform numbers by the
logarithm, sine and cosine of the C library in single precision. These are polynomials in double precision, and are
written here as `kernels/math/libm.py` evaluates them.
"""

from __future__ import annotations

import math

from llvmlite import ir

from everflow.native.exponentials import sqrt
from everflow.native.formulas import DOUBLE, FLOAT, Scalar, polynomial, table
from everflow.native.philox import block

# 1 / c and log(c) for a c near the middle of each sixteenth of [0.7, 1.4).
_INVERSES, _LOGARITHMS = (
    [float.fromhex(number) for number in numbers.split()]
    for numbers in (
        """0x1.661ec79f8f3bep+0 0x1.571ed4aaf883dp+0 0x1.49539f0f010bp+0 0x1.3c995b0b80385p+0
        0x1.30d190c8864a5p+0 0x1.25e227b0b8eap+0 0x1.1bb4a4a1a343fp+0 0x1.12358f08ae5bap+0
        0x1.0953f419900a7p+0 0x1p+0 0x1.e608cfd9a47acp-1 0x1.ca4b31f026aap-1
        0x1.b2036576afce6p-1 0x1.9c2d163a1aa2dp-1 0x1.886e6037841edp-1 0x1.767dcf5534862p-1""",
        """-0x1.57bf7808caadep-2 -0x1.2bef0a7c06ddbp-2 -0x1.01eae7f513a67p-2 -0x1.b31d8a68224e9p-3
        -0x1.6574f0ac07758p-3 -0x1.1aa2bc79c81p-3 -0x1.a4e76ce8c0e5ep-4 -0x1.1973c5a611cccp-4
        -0x1.252f438e10c1ep-5 0x0p+0 0x1.aa5aa5df25984p-5 0x1.c5e53aa362eb4p-4
        0x1.526e57720db08p-3 0x1.bc2860d22477p-3 0x1.1058bc8a07ee1p-2 0x1.4043057b6ee09p-2""",
    )
)
# Of the logarithm, the sine and the cosine, from the constant on.
_LOG, _SINE, _COSINE = (
    [float.fromhex(number) for number in numbers.split()]
    for numbers in (
        "-0x1.ffffef20a4123p-2 0x1.5575b0be00b6ap-2 -0x1.00ea348b88334p-2",
        "1 -0x1.555545995a603p-3 0x1.1107605230bc4p-7 -0x1.994eb3774cf24p-13",
        "1 -0x1.ffffffd0c621cp-2 0x1.55553e1068f19p-5 -0x1.6c087e89a359dp-10 0x1.99343027bf8c3p-16",
    )
)
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
    r = mantissa * table("log_inverses", _INVERSES, which) - 1.0
    whole = k * math.log(2.0) + table("log_centres", _LOGARITHMS, which) + r
    return (polynomial(_LOG, r) * (r * r) + whole).to(FLOAT)


def _sine(x: Scalar, further: Scalar | int) -> Scalar:
    """Of a float from zero to a turn, and some quarter turns."""
    wide = x.to(DOUBLE)
    magic = 1.5 * 2.0**52
    shifted = wide * (2.0 / math.pi) + magic
    integer = shifted.bits() + further
    angle = wide - (shifted - magic) * (math.pi / 2)
    square = angle * angle
    turned = (integer & 1) != 0
    result = turned.where(polynomial(_COSINE, square), polynomial(_SINE, square) * angle).to(FLOAT)
    return (result.bits() ^ ((integer & 2) << 30).to(ir.IntType(32))).from_bits()


def _normal(first: Scalar, second: Scalar, further: Scalar | int) -> Scalar:
    """sqrt(-2 log u) sin(v) of two words; a quarter turn further on with the cosine."""
    uniform = ((first.to(ir.IntType(32)) & _FRACTION) | 0x3F800000).from_bits() - 1.0
    radius = sqrt(_log((uniform < _SMALLEST_UNIFORM).where(_SMALLEST_UNIFORM, uniform)) * -2.0)
    turn = ((second & _FRACTION) | _OFFSET).from_bits() - 2.0**52
    return _sine((turn * (2.0 * math.pi * 2.0**-23)).to(FLOAT), further) * radius


def normals(words: tuple[Scalar, ...]) -> list[ir.Value]:
    """The four normal numbers that a block gives."""
    return [_normal(words[i], words[i + 1], further).value for i in (0, 2) for further in (0, 1)]


def normal(builder: ir.IRBuilder, key: ir.Value, low: ir.Value, high: ir.Value, index: ir.Value) -> ir.Value:
    """The value at one place of random_normal's result. It takes a whole block: a loop over blocks that stores all
    `normals` of each has less to do.
    """
    place = Scalar(builder, index)
    words = block(builder, key, low, high, (place / 4).value)
    later = (place & 2) != 0
    return _normal(later.where(words[2], words[0]), later.where(words[3], words[1]), place & 1).value
