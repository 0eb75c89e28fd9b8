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

# 1 / c and log(c) for a c near the middle of each sixteenth of [0.7, 1.4).
_INVERSES, _LOGARITHMS = np.array(
    [
        [float.fromhex(inverse), float.fromhex(logarithm)]
        for inverse, logarithm in (
            ("0x1.661ec79f8f3bep+0", "-0x1.57bf7808caadep-2"),
            ("0x1.571ed4aaf883dp+0", "-0x1.2bef0a7c06ddbp-2"),
            ("0x1.49539f0f010bp+0", "-0x1.01eae7f513a67p-2"),
            ("0x1.3c995b0b80385p+0", "-0x1.b31d8a68224e9p-3"),
            ("0x1.30d190c8864a5p+0", "-0x1.6574f0ac07758p-3"),
            ("0x1.25e227b0b8eap+0", "-0x1.1aa2bc79c81p-3"),
            ("0x1.1bb4a4a1a343fp+0", "-0x1.a4e76ce8c0e5ep-4"),
            ("0x1.12358f08ae5bap+0", "-0x1.1973c5a611cccp-4"),
            ("0x1.0953f419900a7p+0", "-0x1.252f438e10c1ep-5"),
            ("0x1p+0", "0x0p+0"),
            ("0x1.e608cfd9a47acp-1", "0x1.aa5aa5df25984p-5"),
            ("0x1.ca4b31f026aap-1", "0x1.c5e53aa362eb4p-4"),
            ("0x1.b2036576afce6p-1", "0x1.526e57720db08p-3"),
            ("0x1.9c2d163a1aa2dp-1", "0x1.bc2860d22477p-3"),
            ("0x1.886e6037841edp-1", "0x1.1058bc8a07ee1p-2"),
            ("0x1.767dcf5534862p-1", "0x1.4043057b6ee09p-2"),
        )
    ]
).T.copy()
_LOG = [float.fromhex(term) for term in ("-0x1.00ea348b88334p-2", "0x1.5575b0be00b6ap-2", "-0x1.ffffef20a4123p-2")]
_SINE = [
    float.fromhex(term) for term in ("-0x1.994eb3774cf24p-13", "0x1.1107605230bc4p-7", "-0x1.555545995a603p-3", "1")
]
_COSINE = [
    float.fromhex(term)
    for term in (
        "0x1.99343027bf8c3p-16",
        "-0x1.6c087e89a359dp-10",
        "0x1.55553e1068f19p-5",
        "-0x1.ffffffd0c621cp-2",
        "1",
    )
]
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
    for values, sign in (
        (sine, quarter),
        (cosine, quarter + np.int32(1)),
    ):  # negative in the second half, which the cosine begins earlier
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
