"""Statistics that tests of random numbers ask for."""

import numpy as np
import pytest

from everflow.legacy.inner import random_testing as statistics


class Gamma:
    """With shape 2: the product of 2, 3, ... is its moment."""

    def moment(self, order):
        return float(np.prod(2.0 + np.arange(order)))


SAMPLES = np.random.RandomState(0).gamma(2.0, size=1000)


@pytest.mark.parametrize(
    "samples, stride, expected",
    [(SAMPLES, 0, [0.76982, 1.10460]), (SAMPLES[:64], 1, [0.39409, 1.20350]), (SAMPLES[:64], 4, [0.39409, 1.29033])],
)
def test_distances_of_moments(samples, stride, expected):
    np.testing.assert_allclose(statistics.test_moment_matching(samples, 2, Gamma(), stride), expected, rtol=1e-4)


def test_statistics_of_samples():
    assert statistics.chi_squared(np.array([0.05, 0.15, 0.95, 0.5]), 4) == 2.0
    assert statistics.normal_cdf(0.5) == pytest.approx(0.6914624612740131)
    assert statistics.anderson_darling(np.linspace(-2, 2, 11)) == pytest.approx(0.6506454220488234)


def test_a_normal_distribution_cut_off():
    seen = []
    statistics.test_truncated_normal(
        lambda found, wanted: seen.append(found == wanted), lambda *a, **k: seen.append(a[1]), 3, [-1.0, 0.0, 1.0]
    )
    assert seen == [True, True, 0.0, 0.0, pytest.approx(0.7737413)]
