"""Functions built from other math: Bessel and beta functions, polynomials."""

import numpy as np
import pytest
from scipy import special

import everflow as tf


@pytest.mark.parametrize(("function", "reference"), [(tf.math.bessel_i0, special.i0), (tf.math.bessel_i1, special.i1)])
def test_bessel_functions_on_both_sides_of_zero(sess, function, reference):
    x = np.array([-20.0, -1.5, 0.0, 0.5, 20.0])
    np.testing.assert_allclose(sess.run(function(x)), reference(x), rtol=1e-6)


@pytest.mark.parametrize(("a", "b"), [(1.5, 0.7), ([1.5, 2.0, 3.0], 0.7), ([1.5, 2.0, 3.0], [0.7, 1.0, 2.0])])
def test_incomplete_beta_of_scalars_and_shapes(sess, a, b):
    x = np.array([0.1, 0.5, 0.9])
    made = tf.betainc(np.array(a), np.array(b), x)
    assert made.shape.as_list() == [3]
    np.testing.assert_allclose(sess.run(made), special.betainc(a, b, x), rtol=1e-6)


def test_shapes_of_the_incomplete_beta(sess):
    with pytest.raises(ValueError):
        tf.betainc(tf.ones([2]), tf.ones([3]), 0.5)
    assert tf.betainc(1.0, 1.0, 0.5).shape.as_list() == []
    assert tf.betainc(
        tf.placeholder(tf.float32, [None, 2]), 1.0, tf.placeholder(tf.float32, [3, None])
    ).shape.as_list() == [3, 2]


def test_outside_of_its_domain_the_incomplete_beta_is_no_number(sess):
    assert np.isnan(sess.run(tf.betainc(-1.0, 1.0, 0.5))) and np.isnan(sess.run(tf.betainc(1.0, 1.0, 1.5)))


def test_log_beta_along_the_last_dimension(sess):
    x = np.array([[1.0, 2.0, 3.0], [0.5, 0.5, 4.0]])
    wanted = special.gammaln(x).sum(-1) - special.gammaln(x.sum(-1))
    np.testing.assert_allclose(sess.run(tf.lbeta(x)), wanted)
    assert sess.run(tf.lbeta(np.zeros([0]))) == -np.inf
    assert sess.run(tf.lbeta(np.zeros([2, 1]))).shape == (2,)


@pytest.mark.parametrize("coefficients", [[3.0], [1.0, -2.0, 0.5], [0.0, 0.0]])
def test_polynomials(sess, coefficients):
    x = np.array([[-1.0, 0.0], [2.0, 3.5]])
    found = sess.run(tf.math.polyval([np.float64(c) for c in coefficients], x))
    np.testing.assert_allclose(np.broadcast_to(found, x.shape), np.polyval(coefficients, x))


def test_a_polynomial_without_coefficients_is_zero(sess):
    np.testing.assert_array_equal(sess.run(tf.math.polyval([], [1.0, 2.0])), [0, 0])


def test_incomplete_beta_of_the_smallest_numbers(sess):
    tiny = np.finfo(np.float64).tiny
    a, b = np.array([tiny, tiny, 4 * tiny]), np.array([tiny, 4 * tiny, tiny])
    np.testing.assert_allclose(sess.run(tf.betainc(a, b, np.full(3, 0.3))), [0.5, 0.8, 0.2], rtol=1e-6)
