"""Arithmetic with integers that stand for reals: close to the reals, and rounded as devices do it."""

import numpy as np
import pytest

from everflow.kernels.lite import fixed_point as fixed

RANDOM = np.random.RandomState(0)
ONE = 2.0**31


@pytest.mark.parametrize("real", [0.5, 1.0, 0.999999999, 3.75, 1e-5, 12345.678, 2.0**-31])
def test_multipliers_stand_for_their_real(real):
    fraction, shift = fixed.multiplier_of(real)
    assert 1 << 30 <= fraction < 1 << 31
    assert fraction / ONE * 2.0**shift == pytest.approx(real, rel=1e-9)


def test_what_is_too_small_is_nothing():
    assert fixed.multiplier_of(0.0) == (0, 0) == fixed.multiplier_of(1e-12)


@pytest.mark.parametrize("real", [0.3, 0.0007, 5.5])
def test_products_are_within_a_step(real):
    x = RANDOM.randint(-(10**6), 10**6, 500)
    np.testing.assert_allclose(
        fixed.multiply(x, *fixed.multiplier_of(real)), x * real, atol=0.76
    )  # it is rounded twice


def test_halves_go_away_from_zero():
    assert fixed.divide_by_power([5, -5, 6, -6, 7, -7], 1).tolist() == [3, -3, 3, -3, 4, -4]
    assert fixed.divide_by_power([6, -6, 5, -5], 2).tolist() == [2, -2, 1, -1]


def test_the_largest_product_does_not_overflow():
    lowest = -(1 << 31)
    assert fixed.high_multiply(lowest, lowest) == (1 << 31) - 1
    assert fixed.saturate(np.array([1 << 40, -(1 << 40)])).tolist() == [(1 << 31) - 1, lowest]
    assert fixed.rescale(1 << 30, 5, 0) == (1 << 31) - 1


@pytest.mark.parametrize("bits", [0, 2, 5])
def test_exponentials(bits):
    reals = -np.concatenate([[0.0], RANDOM.rand(200) * min(2.0**bits, 25)])
    found = fixed.exp_of_negative(np.round(reals * 2.0 ** (31 - bits)).astype(np.int64), bits)
    np.testing.assert_allclose(found / ONE, np.exp(reals), atol=1e-6)


def test_reciprocals_and_roots():
    a = np.concatenate([[0.0, 1 - 1e-9], RANDOM.rand(100)])
    found = fixed.reciprocal_of_one_plus((a * ONE).astype(np.int64))
    np.testing.assert_allclose(found / ONE, np.minimum(1 / (1 + a), 1), atol=1e-7)
    for value in (2, 3, 100, 12345, 10**7, 2**30 + 5):
        fraction, shift = fixed.inverse_root(value)
        assert fraction / ONE * 2.0**shift == pytest.approx(value**-0.5, rel=1e-4)
    assert fixed.inverse_root(1) == ((1 << 31) - 1, 0) == fixed.inverse_root(0)


def test_leading_zeros():
    assert fixed.leading_zeros([1, 2, 3, 255, 256, 2**31 - 1, 2**31]).tolist() == [31, 30, 30, 24, 23, 1, 0]
