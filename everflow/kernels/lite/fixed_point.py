"""Arithmetic with 32-bit integers that stand for reals: what a device without floating point computes, bit by bit.

A real multiplier is a fraction of 2**31 and a shift. `Qm` below is an integer with m bits before the binary point (and
31 - m behind it). Everything is done on int64 arrays, so that products fit.
"""

from __future__ import annotations

import math

import numpy as np

_MAX, _MIN = (1 << 31) - 1, -(1 << 31)


def multiplier_of(real: float) -> tuple[int, int]:
    """(fraction of 2**31, shift to the left) of a real multiplier."""
    if real == 0.0:
        return 0, 0
    fraction, shift = math.frexp(real)
    quantized = int(math.floor(fraction * (1 << 31) + 0.5))
    if quantized == 1 << 31:
        quantized, shift = quantized // 2, shift + 1
    return (0, 0) if shift < -31 else (quantized, shift)


def saturate(x: np.ndarray) -> np.ndarray:
    return np.clip(x, _MIN, _MAX)


def high_multiply(a: np.ndarray | int, b: np.ndarray | int) -> np.ndarray:
    """The upper half of twice the product, rounded: the product of two fractions of 2**31."""
    product = np.asarray(a, np.int64) * b
    nudged = product + np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    return np.minimum(np.where(nudged >= 0, nudged >> 31, -(-nudged >> 31)), _MAX)


def divide_by_power(x: np.ndarray | int, exponent: np.ndarray | int) -> np.ndarray:
    """x / 2**exponent, rounded to the nearest, halves away from zero."""
    x = np.asarray(x, np.int64)
    mask = (np.int64(1) << exponent) - 1
    return (x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0))


def multiply(x: np.ndarray, multiplier: np.ndarray | int, shift: np.ndarray | int) -> np.ndarray:
    """x times the real number that a multiplier and a shift stand for."""
    left, right = np.maximum(shift, 0), np.maximum(-np.asarray(shift), 0)
    return divide_by_power(high_multiply(np.asarray(x, np.int64) << left, multiplier), right)


def rescale(x: np.ndarray | int, from_bits: int, to_bits: int) -> np.ndarray:
    """A Q number with another count of bits before the point."""
    shift = from_bits - to_bits
    return saturate(np.asarray(x, np.int64) << shift) if shift >= 0 else divide_by_power(x, -shift)


# exp(-2**k) as fractions, for k from -2.
_EXPONENTIALS = {-2: 1672461947, -1: 1302514674, 0: 790015084, 1: 290630308, 2: 39332535, 3: 720401, 4: 242}


def _exp_of_small(a: np.ndarray) -> np.ndarray:
    """exp of a Q0 in [-1/4, 0), by the Taylor series around -1/8."""
    x = a + (1 << 28)
    x2 = high_multiply(x, x)
    x3, x4 = high_multiply(x2, x), high_multiply(x2, x2)
    higher = divide_by_power(high_multiply(divide_by_power(x4, 2) + x3, 715827883) + x2, 1)
    return 1895147668 + high_multiply(1895147668, x + higher)


def exp_of_negative(a: np.ndarray, bits: int) -> np.ndarray:
    """exp of a Q number that isn't above 0, as Q0."""
    a = np.asarray(a, np.int64)
    fraction = 31 - bits
    quarter = 1 << (fraction - 2)
    small = (a & (quarter - 1)) - quarter
    result = _exp_of_small(rescale(small, bits, 0))
    rest = small - a
    for exponent, factor in _EXPONENTIALS.items():
        if bits > exponent:
            result = np.where(rest & (1 << (fraction + exponent)), high_multiply(result, factor), result)
    if bits > 5:
        result = np.where(a < -(1 << (fraction + 5)), 0, result)
    return np.where(a == 0, _MAX, result)


def _newton(half_denominator: np.ndarray) -> np.ndarray:
    """1 / (2 * half_denominator) as Q2, by Newton's iteration; the denominator is a Q0 in [1/2, 1)."""
    x = 1515870810 + high_multiply(half_denominator, -1010580540)
    for _ in range(3):
        x = x + rescale(high_multiply(x, (1 << 29) - high_multiply(half_denominator, x)), 4, 2)
    return x


def _half_sum(a: np.ndarray, b: int) -> np.ndarray:
    total = np.asarray(a, np.int64) + b
    return np.where(total >= 0, (total + 1) >> 1, -((1 - total) >> 1))


def reciprocal_of_one_plus(a: np.ndarray) -> np.ndarray:
    """1 / (1 + a) for a Q0 in [0, 1], as Q0."""
    return rescale(_newton(_half_sum(a, _MAX)), 1, 0)


def inverse_root(value: int) -> tuple[int, int]:
    """(fraction, shift to the left) of 1 / sqrt(value), by Newton's iteration."""
    if value <= 1:
        return _MAX, 0
    shift = 11
    while value >= 1 << 29:
        value, shift = value // 4, shift + 1
    pairs = (32 - value.bit_length() - 1) // 2 - 1
    shift -= pairs
    value = (value << 2 * pairs) >> 1
    half = divide_by_power(value, 1)
    x = np.int64(1 << 28)
    for _ in range(5):
        cube = rescale(high_multiply(high_multiply(x, x), x), 9, 3)
        x = rescale(high_multiply((1 << 28) + (1 << 27), x) - high_multiply(half, cube), 6, 3)
    x = int(high_multiply(x, 1518500250))
    return (x << -shift, 0) if shift < 0 else (x, -shift)


def leading_zeros(x: np.ndarray) -> np.ndarray:
    """How many of 32 bits are zero before the first one."""
    return 31 - np.floor(np.log2(np.maximum(np.asarray(x, np.float64), 0.5))).astype(np.int64)
