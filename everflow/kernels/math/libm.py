"""The logarithm, sine and cosine of the C library, to the last bit: seeded normal values are made with these in
TensorFlow.

ATen's own agree with them in four of five values; the others are off by an ulp, and a program that starts from such
weights goes elsewhere in the end. The single precision forms follow glibc's, which are polynomials in double precision
(from Arm's optimized routines); rounded to single precision, the order of their terms does not show. The double
precision forms call the library itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from everflow.native.libm_tables import COSINE, INVERSES, LOG, LOGARITHMS, SINE

_INVERSES, _LOGARITHMS = np.array(INVERSES), np.array(LOGARITHMS)
# From the highest power on.
_LOG, _SINE, _COSINE = LOG[::-1], SINE[::-1], COSINE[::-1]
# The float32 of 0.7, where the table begins, and the bits of an exponent.
_LOG_START, _EXPONENT = np.int32(0x3F330000), np.int32(-0x800000)


def _polynomial(terms: list[float], x: np.ndarray) -> np.ndarray:
    """Horner's rule, from the highest power on."""
    total = x * terms[0]
    total += terms[1]
    for term in terms[2:]:
        total *= x
        total += term
    return total


def log(x: np.ndarray) -> np.ndarray:
    """The logarithm of positive, normal float32 values."""
    bits = x.view(np.int32)
    above = bits - _LOG_START
    which = (above >> np.int32(19)) & np.int32(15)
    exponent = above >> np.int32(23)
    above &= _EXPONENT
    r = (bits - above).view(np.float32) * _INVERSES.take(which)
    r -= 1.0
    whole = exponent * math.log(2.0)
    whole += _LOGARITHMS.take(which)
    whole += r
    result = _polynomial(_LOG, r)
    r *= r
    result *= r
    result += whole
    return result.astype(np.float32)


def sine_and_cosine(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of float32 values from zero to some turns."""
    x = x.astype(np.float64)
    quarter = np.rint(x * (2.0 / math.pi))
    x -= quarter * (math.pi / 2)
    square = x * x
    sine = _polynomial(_SINE, square)
    sine *= x
    sine, cosine = sine.astype(np.float32), _polynomial(_COSINE, square).astype(np.float32)
    quarter = quarter.astype(np.int32)
    turned = (quarter & np.int32(1)).astype(bool)
    sine, cosine = np.where(turned, cosine, sine), np.where(turned, sine, cosine)
    # Negative in the second half, which the cosine begins earlier.
    for values, sign in (
        (sine, quarter),
        (cosine, quarter + np.int32(1)),
    ):
        bits = values.view(np.int32)
        bits ^= (sign & np.int32(2)) << np.int32(30)
    return sine, cosine


def _by_library(function: Callable) -> Callable[..., np.ndarray]:
    """A function of the library, called for each value: of double precision nothing else has the same bits."""

    def run(*arguments: np.ndarray) -> np.ndarray:
        values = map(function, *(x.ravel().tolist() for x in arguments))
        return np.fromiter(values, np.float64, arguments[0].size).reshape(arguments[0].shape)

    return run


double_log, double_sine, double_cosine = _by_library(math.log), _by_library(math.sin), _by_library(math.cos)
double_power = _by_library(math.pow)
