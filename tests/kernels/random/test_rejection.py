"""Gamma and Poisson numbers: moments, parameters without a distribution, and how a sample moves with its parameter."""

import numpy as np
import pytest
from scipy import special

import everflow as tf
from everflow.kernels.random import rejection
from everflow.kernels.random.philox import Philox

PLACE = Philox.from_seeds(1, 2)


@pytest.mark.parametrize("alpha", [0.1, 0.7, 1.0, 3.5, 200.0])
def test_gamma_moments(alpha):
    values = rejection.gamma(PLACE, np.array([alpha]), 20000)[0]
    assert (values >= 0).all()
    np.testing.assert_allclose(values.mean(), alpha, atol=5 * np.sqrt(alpha / 20000))
    np.testing.assert_allclose(values.var(), alpha, rtol=0.15)


@pytest.mark.parametrize("rate", [0.0, 0.3, 9.9, 10.0, 500.0])
def test_poisson_moments(rate):
    values = rejection.poisson(PLACE, np.array([rate]), 20000)[0]
    assert (values == np.round(values)).all() and (values >= 0).all()
    np.testing.assert_allclose(values.mean(), rate, atol=5 * np.sqrt(rate / 20000))
    np.testing.assert_allclose(values.var(), rate, rtol=0.1)


@pytest.mark.parametrize("make", [rejection.gamma, rejection.poisson])
def test_each_value_has_its_own_stretch_of_the_stream(make):
    """So what one parameter is does not change the numbers of another."""
    both = make(PLACE, np.array([0.5, 20.0]), 50)
    other = make(PLACE, np.array([0.5, 3.0]), 50)
    np.testing.assert_array_equal(both[0], other[0])
    assert (both[1] != other[1]).any()


def test_parameters_without_a_distribution():
    assert np.isnan(rejection.gamma(PLACE, np.array([0.0, -1.0]), 3)).all()
    assert np.isnan(rejection.poisson(PLACE, np.array([-1.0, np.nan]), 3)).all()


def test_samples_lie_in_front(sess):
    alpha = np.float32([[1.0, 100.0, 1e4]])
    drawn = sess.run(tf.random_gamma([500], alpha, seed=1))
    assert drawn.shape == (500, 1, 3)
    np.testing.assert_allclose(drawn.mean(0)[0], alpha[0], rtol=0.2)
    assert sess.run(tf.random_poisson(alpha, [0])).shape == (0, 1, 3)
    assert sess.run(tf.raw_ops.RandomPoissonV2(shape=[2], rate=np.float64([3.0]), dtype=tf.int32)).dtype == np.int32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sample_keeps_its_quantile_as_its_parameter_moves(sess, dtype):
    alpha = np.array([0.3, 1.0, 4.0, 30.0, 150.0], dtype)
    sample = alpha * np.array([0.5, 1.2, 0.9, 1.1, 1.0], dtype)
    found = sess.run(tf.raw_ops.RandomGammaGrad(alpha=alpha, sample=sample))
    quantile = special.gammainc(alpha.astype(float), sample.astype(float))
    step = alpha * 1e-4
    slope = (special.gammaincinv(alpha + step, quantile) - special.gammaincinv(alpha - step, quantile)) / (2 * step)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, slope, rtol=2e-3)
