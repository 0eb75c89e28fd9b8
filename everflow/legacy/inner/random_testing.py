"""How well samples fit a distribution: statistics that tests of random numbers compute with numpy."""

from __future__ import annotations

import math

import numpy as np


def test_moment_matching(samples, number_moments, dist, stride=0):
    """How many standard deviations each moment of samples is away from that of `dist` (an object with `moment(order)`).

    With a `stride`, the moment of order k sees every (1 + (k - 1) * stride)-th sample: neighbours may depend on each other.
    """
    distances = []
    for order in range(1, number_moments + 1):
        seen = np.asarray(samples, np.float64)[:: 1 + (order - 1) * stride]
        expected = dist.moment(order)
        variance = (dist.moment(2 * order) - expected**2) / len(seen)
        distances.append(abs(np.mean(seen**order) - expected) / math.sqrt(variance))
    return distances


test_moment_matching.__test__ = False  # type: ignore[attr-defined]


def chi_squared(x, bins):
    """Pearson's statistic of numbers from [0, 1) in bins of the same width."""
    counts, _ = np.histogram(x, bins=bins, range=(0.0, 1.0))
    expected = len(np.ravel(x)) / bins
    return float(np.sum((counts - expected) ** 2) / expected)


def normal_cdf(x):
    """How likely a standard normal number is at most x."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def anderson_darling(x):
    """The Anderson-Darling statistic of numbers against the standard normal distribution."""
    below = np.array([normal_cdf(value) for value in np.sort(np.ravel(x))])
    weights = 2 * np.arange(1, len(below) + 1) - 1
    return -len(below) - float(np.mean(weights * (np.log(below) + np.log1p(-below[::-1]))))


def test_truncated_normal(assert_equal, assert_all_close, n, y, mean_atol=5e-4, median_atol=8e-4, variance_rtol=1e-3):
    """That n numbers are as of a standard normal distribution cut off two deviations from its middle."""
    y = np.asarray(y)
    for inside in (y >= -2, y <= 2):
        assert_equal(np.sum(inside), n)
    density = math.exp(-2) / math.sqrt(2 * math.pi)
    variance = 1 - 4 * density / (normal_cdf(2) - normal_cdf(-2))
    assert_all_close(np.mean(y), 0.0, atol=mean_atol)
    assert_all_close(np.median(y), 0.0, atol=median_atol)
    assert_all_close(np.var(y), variance, rtol=variance_rtol)


test_truncated_normal.__test__ = False  # type: ignore[attr-defined]
