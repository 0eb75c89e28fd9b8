"""Ranges, bins, histograms and packed comparisons, at their edges."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed


@pytest.mark.parametrize(
    ("limits", "expected"),
    [((3, 3, 1), []), ((0, 7, 3), [0, 3, 6]), ((5, -2, -3), [5, 2, -1]), ((0.0, 1.0, 0.25), [0, 0.25, 0.5, 0.75])],
)
def test_ranges(sess, limits, expected):
    assert sess.run(tf.range(*(fed(v) for v in limits))).tolist() == expected


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ((0, 5, 0), "delta != 0"),
        ((5, 0, 1), "start <= limit when delta > 0"),
        ((0, 5, -1), "start >= limit when delta < 0"),
        (([0], 5, 1), "start must be a scalar"),
    ],
)
def test_ranges_that_lead_nowhere(sess, limits, message):
    values = tf.range(*(fed(v) for v in limits))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(values)


def test_even_steps(sess):
    np.testing.assert_allclose(sess.run(tf.linspace(fed(1.0), fed(2.0), fed(5))), [1, 1.25, 1.5, 1.75, 2])
    assert sess.run(tf.linspace(fed(3.0), fed(9.0), fed(1))).tolist() == [3.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requires num > 0"):
        sess.run(tf.linspace(fed(3.0), fed(9.0), fed(0)))


def test_counts(sess):
    values, none = fed([1, 1, 9, 0]), np.zeros(0, np.float32)
    assert sess.run(tf.raw_ops.Bincount(arr=values, size=3, weights=none)).tolist() == [1, 2, 0]
    weighted = tf.raw_ops.Bincount(arr=values, size=3, weights=np.float32([0.5, 1, 100, 2]))
    assert sess.run(weighted).tolist() == [2, 1.5, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be non-negative"):
        sess.run(tf.raw_ops.Bincount(arr=fed([-1]), size=3, weights=none))
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
        sess.run(tf.raw_ops.Bincount(arr=values, size=fed(-1), weights=none))


def test_histograms_take_what_is_outside_into_the_outer_bins(sess):
    values = fed([-5.0, 0.0, 1.9, 2.0, 99.0])
    counts = sess.run(tf.histogram_fixed_width(values, [0.0, 4.0], nbins=4, dtype=tf.int64))
    assert counts.dtype == np.int64 and counts.tolist() == [2, 1, 1, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="value_range"):
        sess.run(tf.histogram_fixed_width(values, fed([4.0, 4.0]), nbins=4))
    with pytest.raises(tf.errors.InvalidArgumentError, match="nbins should be a positive number"):
        sess.run(tf.histogram_fixed_width(values, [0.0, 4.0], nbins=fed(0)))


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.float32, tf.float64])
def test_a_boundary_belongs_to_the_bucket_above(sess, dtype):
    buckets = sess.run(tf.raw_ops.Bucketize(input=tf.constant([[-5, 0], [10, 100]], dtype), boundaries=[0, 10, 100]))
    assert buckets.dtype == np.int32 and buckets.tolist() == [[0, 1], [2, 3]]


def test_boundaries_are_sorted(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected sorted boundaries"):
        sess.run(tf.raw_ops.Bucketize(input=[1.0], boundaries=[2.0, 1.0]))


def test_packed_comparisons(sess):
    x = np.arange(16, dtype=np.float32).reshape(2, 8)
    assert sess.run(tf.raw_ops.CompareAndBitpack(input=fed(x), threshold=3.0)).tolist() == [[15], [255]]
    bits = np.array([1, 0, 0, 0, 0, 0, 0, 1], bool)
    assert sess.run(tf.raw_ops.CompareAndBitpack(input=fed(bits), threshold=True)).tolist() == [129]
    with pytest.raises(tf.errors.InvalidArgumentError, match="divisible by 8"):
        sess.run(tf.raw_ops.CompareAndBitpack(input=fed(x[:, :7]), threshold=3.0))
