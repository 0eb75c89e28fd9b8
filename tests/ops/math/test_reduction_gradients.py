"""Gradients of reductions, running sums and products of matrices."""

import numpy as np
import pytest

import everflow as tf


def test_ties_share_the_gradient_of_reductions():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant([[1.0, 1.0, 0.5]])
        np.testing.assert_allclose(sess.run(tf.gradients(tf.reduce_max(x, 1), x)[0]), [[0.5, 0.5, 0]])
        np.testing.assert_allclose(sess.run(tf.gradients(tf.maximum(x, 1.0), x)[0]), [[1, 1, 0]])


X = np.array([[1.0, 2.0, 0.0], [4.0, 0.0, 0.0]])


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("function", "axis", "expected"),
    [
        (tf.reduce_sum, 1, np.ones([2, 3])),
        (tf.reduce_sum, [], np.ones([2, 3])),
        (tf.reduce_mean, 1, np.full([2, 3], 1 / 3)),
        (tf.reduce_mean, [0, 1], np.full([2, 3], 1 / 6)),
        (tf.reduce_prod, 1, [[0, 0, 2], [0, 0, 0]]),
        (tf.reduce_prod, 0, [[4, 0, 0], [1, 2, 0]]),
        (tf.reduce_max, -1, [[0, 1, 0], [1, 0, 0]]),
        (tf.reduce_min, -1, [[0, 0, 1], [0, 0.5, 0.5]]),
        (tf.reduce_min, None, [[0, 0, 1 / 3], [0, 1 / 3, 1 / 3]]),
    ],
)
def test_gradients_of_reductions(sess, function, axis, expected, known):
    x = tf.placeholder(tf.float64, [2, 3] if known else None)
    np.testing.assert_allclose(sess.run(tf.gradients(function(x, axis), x)[0], {x: X}), expected)


def test_an_axis_that_only_the_run_tells(sess):
    x, axis = tf.constant(X), tf.placeholder(tf.int32, [])
    grad = tf.gradients(tf.reduce_mean(x, axis), x)[0]
    for a, n in ((0, 2), (1, 3), (-2, 2)):
        np.testing.assert_allclose(sess.run(grad, {axis: a}), np.full([2, 3], 1 / n))


@pytest.mark.parametrize("function", [tf.reduce_sum, tf.reduce_mean, tf.reduce_prod, tf.reduce_max])
def test_nothing_to_reduce(sess, function):
    x = tf.zeros([0, 3])
    assert sess.run(tf.gradients(function(x, 0), x)[0]).shape == (0, 3)


@pytest.mark.parametrize(
    ("exclusive", "reverse", "sums", "products"),
    [
        (False, False, [3, 2, 1], [9, 4, 2]),
        (False, True, [1, 2, 3], [6, 6, 5]),
        (True, False, [2, 1, 0], [3, 1, 0]),
        (True, True, [0, 1, 2], [0, 3, 3]),
    ],
)
def test_running_sums_and_products(sess, exclusive, reverse, sums, products):
    x = tf.constant([1.0, 2.0, 3.0])
    options = {"exclusive": exclusive, "reverse": reverse}
    np.testing.assert_allclose(sess.run(tf.gradients(tf.cumsum(x, **options), x)[0]), sums)
    np.testing.assert_allclose(sess.run(tf.gradients(tf.cumprod(x, **options), x)[0]), products)


def test_positions_have_no_gradient():
    with tf.Graph().as_default():
        x = tf.constant(X)
        assert tf.gradients(tf.cast(tf.argmax(x, 1), tf.float64), x) == [None]


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("sparse", [{}, {"a_is_sparse": True}, {"b_is_sparse": True}])
def test_products_of_matrices(sess, transpose_a, transpose_b, sparse):
    random = np.random.RandomState(0)
    a, b, w = (random.randn(*s).astype(np.float32) for s in ((2, 3), (3, 4), (2, 4)))
    held = tf.constant(a.T if transpose_a else a), tf.constant(b.T if transpose_b else b)
    y = tf.matmul(*held, transpose_a=transpose_a, transpose_b=transpose_b, **sparse)
    of_a, of_b = sess.run(tf.gradients(y, held, w))
    # A sparse product may round its operands to bfloat16.
    tolerance = 2e-2 if sparse else 1e-5
    np.testing.assert_allclose(of_a.T if transpose_a else of_a, w @ b.T, atol=tolerance)
    np.testing.assert_allclose(of_b.T if transpose_b else of_b, a.T @ w, atol=tolerance)


@pytest.mark.parametrize("known", [True, False])
def test_batches_that_were_broadcast_are_summed(sess, known):
    a, b = np.ones([5, 1, 2, 3], np.float32), np.ones([4, 3, 2], np.float32)
    xs = [tf.placeholder(tf.float32, v.shape if known else None) for v in (a, b)]
    of_a, of_b = sess.run(tf.gradients(tf.matmul(*xs), xs), dict(zip(xs, (a, b))))
    np.testing.assert_array_equal(of_a, np.full(a.shape, 8))
    np.testing.assert_array_equal(of_b, np.full(b.shape, 10))
