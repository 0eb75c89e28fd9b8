"""The C library's functions, to the last bit: against the library itself, which Python's math module calls."""

import ctypes
import ctypes.util
import math

import numpy as np
import pytest

from everflow.kernels.math import libm

RANDOM = np.random.RandomState(0)


def of_library(name, values):
    """A single precision function of the C library."""
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    function.argtypes, function.restype = [ctypes.c_float], ctypes.c_float
    return np.array([function(v) for v in values], np.float32)


@pytest.mark.parametrize(
    "values",
    [
        RANDOM.rand(4000),
        np.exp(RANDOM.randn(2000) * 20),
        1 + (np.arange(-200, 200) * 2.0**-23),
        [np.finfo(np.float32).tiny, np.finfo(np.float32).max, 0.5, 1, 2],
    ],
)
def test_logarithms(values):
    values = np.asarray(values, np.float32)
    found = libm.log(values.copy())
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, of_library("logf", values))


def test_sines_and_cosines_over_a_turn():
    values = np.concatenate([RANDOM.rand(5000) * 2 * math.pi, np.arange(9) * math.pi / 4]).astype(np.float32)
    sine, cosine = libm.sine_and_cosine(values.copy())
    np.testing.assert_array_equal(sine, of_library("sinf", values))
    np.testing.assert_array_equal(cosine, of_library("cosf", values))


def test_double_precision_keeps_shapes():
    x, y = RANDOM.rand(3, 4) + 0.1, RANDOM.rand(3, 4)
    for function, reference in (
        (libm.double_log, math.log),
        (libm.double_sine, math.sin),
        (libm.double_cosine, math.cos),
    ):
        found = function(x)
        assert found.shape == x.shape and found[1, 2] == reference(x[1, 2])
    assert libm.double_power(x, y)[2, 3] == x[2, 3] ** y[2, 3]
