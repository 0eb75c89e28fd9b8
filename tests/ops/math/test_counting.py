"""Counts and bins."""

import numpy as np
import pytest

import everflow as tf


def test_bincount(sess):
    np.testing.assert_array_equal(sess.run(tf.bincount([1, 1, 3])), [0, 2, 0, 1])
    np.testing.assert_allclose(
        sess.run(tf.bincount([1, 1, 3], weights=[0.5, 1.0, 2.0], minlength=5)), [0, 1.5, 0, 2, 0]
    )
    np.testing.assert_array_equal(sess.run(tf.bincount([1, 1, 3], maxlength=2)), [0, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
        sess.run(tf.bincount([-1, 1]))


def test_histograms(sess):
    values = [-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]
    np.testing.assert_array_equal(sess.run(tf.histogram_fixed_width(values, [0.0, 5.0], nbins=5)), [2, 1, 1, 0, 2])
    np.testing.assert_array_equal(
        sess.run(tf.histogram_fixed_width_bins(values, [0.0, 5.0], nbins=5)), [0, 0, 1, 2, 4, 4]
    )


@pytest.mark.parametrize("weights", [None, [], [1.0]])
def test_nothing_to_count(sess, weights):
    if weights == [1.0]:
        with pytest.raises(ValueError):
            tf.bincount(np.zeros([0], np.int32), weights=weights)
        return
    found = sess.run(tf.bincount(np.zeros([0], np.int32), weights=weights, minlength=2))
    np.testing.assert_array_equal(found, [0, 0])


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.float32, tf.float64])
def test_types_of_counts(sess, dtype):
    counts = tf.bincount([[0, 2], [2, 2]], dtype=dtype)
    assert counts.dtype == dtype
    np.testing.assert_array_equal(sess.run(counts), [1, 0, 3])


def test_bins_of_whole_numbers_and_of_any_shape(sess):
    bins = tf.histogram_fixed_width_bins([[0.0, 9.9], [10.0, 3.0]], [0.0, 10.0], nbins=5)
    np.testing.assert_array_equal(sess.run(bins), [[0, 4], [4, 1]])
    counts = tf.histogram_fixed_width([0, 3, 9, 10], [0, 10], nbins=5, dtype=tf.int64)
    assert counts.dtype == tf.int64 and counts.shape.as_list() == [5]
    np.testing.assert_array_equal(sess.run(counts), [1, 1, 0, 0, 2])
    with pytest.raises(ValueError):
        tf.histogram_fixed_width([0.0], [0.0, 1.0], nbins=0)
    with pytest.raises(ValueError):
        tf.histogram_fixed_width([0.0], [0.0, 1.0, 2.0])


def test_bits_of_comparisons_are_packed(sess):
    values = np.array([[1, 9, 1, 9, 9, 1, 1, 9], [9, 9, 9, 9, 9, 9, 9, 9]], np.float32)
    packed = tf.raw_ops.CompareAndBitpack(input=values, threshold=5.0)
    assert packed.shape.as_list() == [2, 1] and packed.dtype == tf.uint8
    np.testing.assert_array_equal(sess.run(packed), [[0b01011001], [255]])
    with pytest.raises(ValueError):
        tf.raw_ops.CompareAndBitpack(input=values[:, :7], threshold=5.0)
