"""Bits of integers at the ends of each type: the highest bit, shifts by too much, and negative numbers."""

import numpy as np
import pytest

import everflow as tf

TYPES = "int8 uint8 int16 uint16 int32 uint32 int64 uint64".split()


def ends(dtype):
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.max, 0, 1, limits.max // 3], dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_logic_at_the_ends(sess, dtype):
    x, y = ends(dtype), ends(dtype)[::-1].copy()
    a, b = tf.constant(x), tf.constant(y)
    got = sess.run([tf.bitwise.bitwise_and(a, b), tf.bitwise.bitwise_or(a, b), tf.bitwise.bitwise_xor(a, b)])
    for result, wanted in zip(got, (x & y, x | y, x ^ y)):
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, wanted)
    np.testing.assert_array_equal(sess.run(tf.bitwise.invert(a)), ~x)


@pytest.mark.parametrize("dtype", TYPES)
def test_shifts_go_at_most_to_the_last_bit(sess, dtype):
    width = np.dtype(dtype).itemsize * 8
    x = np.repeat(ends(dtype), 3)
    counts = np.tile(np.array([0, 3, width - 1]), 5).astype(dtype)
    left, right = sess.run([tf.bitwise.left_shift(x, counts), tf.bitwise.right_shift(x, counts)])
    np.testing.assert_array_equal(left, np.left_shift(x, counts))
    np.testing.assert_array_equal(right, np.right_shift(x, counts))
    far = tf.fill([len(x)], tf.constant(width + 5, dtype))
    np.testing.assert_array_equal(
        sess.run(tf.bitwise.right_shift(x, far)), np.right_shift(x, np.array(width - 1, dtype))
    )


@pytest.mark.parametrize("dtype", "int8 uint8 int16 uint16 int32 int64".split())
def test_ones_are_counted_in_the_bits_as_they_lie(sess, dtype):
    x = ends(dtype)
    width = np.dtype(dtype).itemsize * 8
    wanted = [bin(int(v) % 2**width).count("1") for v in x]
    counts = sess.run(tf.raw_ops.PopulationCount(x=tf.constant(x.reshape(5, 1))))
    assert counts.dtype == np.uint8 and counts.ravel().tolist() == wanted
