"""Special functions against scipy, and what they give at poles and out of range."""

import numpy as np
import pytest
from scipy import special

import everflow as tf

NAN, INF = float("nan"), float("inf")
RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (tf.igamma, special.gammainc),
        (tf.igammac, special.gammaincc),
        (tf.zeta, lambda a, x: special.zeta(a + 1.5, x)),
        (tf.polygamma, lambda a, x: special.polygamma(np.round(a).astype(int), x)),
    ],
)
def test_of_two_arguments(sess, function, reference):
    a, x = RANDOM.rand(40) * 5 + 0.1, RANDOM.rand(40) * 8 + 0.1
    first = {tf.zeta: a + 1.5, tf.polygamma: np.round(a)}.get(function, a)
    np.testing.assert_allclose(sess.run(function(tf.constant(first), tf.constant(x))), reference(a, x), rtol=1e-9)


def test_incomplete_beta(sess):
    a, b = RANDOM.rand(2, 60) * 20 + 0.05
    x = np.concatenate([RANDOM.rand(56), [0.0, 1.0, 1e-12, 1 - 1e-12]])
    np.testing.assert_allclose(sess.run(tf.betainc(a, b, x)), special.betainc(a, b, x), rtol=1e-8, atol=1e-14)
    assert sess.run(tf.betainc(tf.constant(1.0), tf.constant(2.0), [0.5])).shape == (1,)


def test_incomplete_beta_wants_one_shape(sess):
    a, b, x = (tf.placeholder_with_default(np.ones(n), None) for n in (2, 3, 2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shapes of a and b are inconsistent"):
        sess.run(tf.betainc(a, b, x))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shapes of a and x are inconsistent"):
        sess.run(tf.betainc(b, tf.constant(1.0, tf.float64), a))


def test_derivative_of_the_incomplete_gamma_function_by_its_parameter(sess):
    a, x = RANDOM.rand(30) * 6 + 0.2, RANDOM.rand(30) * 9 + 0.05
    step = 1e-5
    slope = (special.gammainc(a + step, x) - special.gammainc(a - step, x)) / (2 * step)
    np.testing.assert_allclose(sess.run(tf.raw_ops.IgammaGradA(a=a, x=x)), slope, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: tf.lgamma(tf.constant([0.0, -1.0, INF])), [INF, INF, INF]),
        (lambda: tf.digamma(tf.constant([1.0, 0.5])), special.digamma([1.0, 0.5])),
        (lambda: tf.polygamma([1.5, 0.0], [2.0, 2.0]), [NAN, special.digamma(2.0)]),
        (lambda: tf.igamma([1.0, -1.0, 2.0], [0.0, 1.0, INF]), [0.0, NAN, 1.0]),
        (lambda: tf.betainc([-1.0, 1.0], [1.0, 1.0], [0.5, 2.0]), [NAN, NAN]),
        (lambda: tf.betainc([NAN, INF, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]), [0.0, 1.0, NAN, NAN]),
        (lambda: tf.erf(tf.constant([-INF, 0.0, INF])), [-1.0, 0.0, 1.0]),
        (lambda: tf.erfc(tf.constant([-INF, 0.0, INF])), [2.0, 1.0, 0.0]),
    ],
)
def test_poles_and_ends(sess, build, expected):
    np.testing.assert_allclose(sess.run(build()), np.float32(expected), rtol=1e-6)


def test_incomplete_gammas_at_their_ends(sess):
    a, x = [0.0, 0.0, 0.0, -1.0, INF, INF, 1.0], [0.0, 1.0, INF, 1.0, 1.0, INF, INF]
    np.testing.assert_array_equal(sess.run(tf.igamma(a, x)), [0, NAN, NAN, NAN, NAN, NAN, 1])
    np.testing.assert_array_equal(sess.run(tf.igammac(a, x)), [NAN, NAN, NAN, NAN, NAN, 0, 0])
