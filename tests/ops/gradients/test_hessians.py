"""Matrices of second derivatives."""

import numpy as np
import pytest

import everflow as tf

A = np.array([[2.0, 1.0], [1.0, 4.0]])


@pytest.mark.parametrize("known", [True, False])
def test_a_quadratic_form(sess, known):
    x = tf.placeholder(tf.float64, [2] if known else [None])
    y = tf.reduce_sum(x * tf.tensordot(A, x, 1)) / 2
    np.testing.assert_allclose(sess.run(tf.hessians(y, x)[0], {x: [3.0, 5.0]}), A)


def test_several_variables_and_shapes(sess):
    x, m = tf.constant(3.0), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    of_x, of_m = tf.hessians(x * x * x + tf.reduce_sum(m * m * m), [x, m])
    assert sess.run(of_x) == 18.0
    found = sess.run(of_m)
    assert found.shape == (2, 2, 2, 2)
    np.testing.assert_allclose(found.reshape(4, 4), np.diag([6.0, 12.0, 18.0, 24.0]))


def test_the_sum_of_several_results(sess):
    x = tf.constant([1.0, 2.0])
    [found] = tf.hessians([tf.reduce_sum(x * x), tf.reduce_prod(x)], x)
    np.testing.assert_allclose(sess.run(found), [[2, 1], [1, 2]])


def test_nothing_to_differentiate():
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.hessians(tf.constant(1.0), tf.constant(2.0))
