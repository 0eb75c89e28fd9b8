"""Gradients over segments: of extremes that are shared, of products with zeros, and of ids that count for nothing."""

import numpy as np
import pytest

import everflow as tf


def gradient(sess, function, value, weights=None):
    x = tf.constant(value, tf.float64)
    y = function(x)
    return sess.run(tf.convert_to_tensor(tf.gradients(y if weights is None else y * weights, x)[0]))


@pytest.mark.parametrize("function", [tf.segment_max, tf.segment_min])
def test_elements_that_share_an_extreme_share_its_gradient(sess, function):
    found = gradient(sess, lambda x: function(x, [0, 0, 0, 1]), [2, 2, 2, 5], [6.0, 1.0])
    np.testing.assert_allclose(found, [2, 2, 2, 1])


@pytest.mark.parametrize("function", [tf.unsorted_segment_max, tf.unsorted_segment_min])
def test_negative_ids_get_nothing(sess, function):
    found = gradient(sess, lambda x: function(x, [1, -1, 1], 3), [2, 2, 2], [0.0, 8.0, 0.0])
    np.testing.assert_allclose(found, [4, 0, 4])


@pytest.mark.parametrize(
    ("values", "expected"),
    [([2, 3, 4], [12, 8, 6]), ([2, 0, 4], [0, 8, 0]), ([0, 0, 4], [0, 0, 0])],
)
def test_products_with_zeros(sess, values, expected):
    found = gradient(sess, lambda x: tf.unsorted_segment_prod(x, [1, 1, 1, -1], 2), [*values, 7])
    np.testing.assert_allclose(found, [*expected, 0])


@pytest.mark.parametrize(("name", "share"), [("sum", 1), ("mean", 1 / 3), ("sqrt_n", 1 / np.sqrt(3))])
@pytest.mark.parametrize("counted", [None, 4])
def test_rows_taken_twice_get_both(sess, name, share, counted):
    function = getattr(tf, f"sparse_segment_{name}")
    found = gradient(sess, lambda x: function(x, [2, 2, 0], [0, 0, 0], num_segments=counted), np.ones([4, 2]))
    np.testing.assert_allclose(found, np.outer([share, 0, 2 * share, 0], [1, 1]))


def test_the_mean_of_rows(sess):
    found = gradient(
        sess, lambda x: tf.segment_mean(x, [0, 0, 2]), np.ones([3, 2]), [[4.0, 2.0], [9.0, 9.0], [5.0, 7.0]]
    )
    np.testing.assert_allclose(found, [[2, 1], [2, 1], [5, 7]])


def test_unsorted_segments_need_a_known_rank(sess):
    x = tf.placeholder(tf.float64)
    with pytest.raises(TypeError):
        tf.gradients(tf.unsorted_segment_sum(x, [0], 1), x)
