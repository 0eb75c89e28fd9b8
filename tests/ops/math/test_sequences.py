"""Ranges and numbers at equal distances."""

import numpy as np
import pytest

import everflow as tf


def test_ranges_add_their_steps_up_as_tensorflow_does(sess):
    np.testing.assert_array_equal(sess.run(tf.range(3, 18, 3)), [3, 6, 9, 12, 15])
    steps = np.add.accumulate(np.array([0, *[0.1] * 9], np.float32), dtype=np.float32)
    np.testing.assert_array_equal(sess.run(tf.range(0.0, 1.0, 0.1)), steps)
    assert tf.range(tf.constant(1, tf.int64), 5).dtype is tf.int64
    assert tf.range(10, 0, -3).shape.as_list() == [4]
    assert tf.range(tf.placeholder(tf.int32, [])).shape.as_list() == [None]
    with pytest.raises(ValueError, match="Requires start <= limit"):
        tf.range(5, 1)
    delta = tf.placeholder(tf.int32, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requires delta != 0"):
        sess.run(tf.range(0, 5, delta), {delta: 0})


def test_linspace(sess):
    np.testing.assert_allclose(sess.run(tf.linspace(10.0, 12.0, 5)), [10, 10.5, 11, 11.5, 12])
    np.testing.assert_array_equal(sess.run(tf.linspace(3.0, 9.0, 1)), [3])
    with pytest.raises(ValueError, match="Requires num > 0"):
        tf.linspace(1.0, 2.0, 0)


@pytest.mark.parametrize(
    ("arguments", "dtype"),
    [
        ((3,), tf.int32),
        ((3.0,), tf.float32),
        ((0, 3.0), tf.float32),
        ((0, np.float64(3)), tf.float64),
        ((np.int64(0), 3), tf.int64),
        ((np.int64(0), 3.0), tf.float32),
    ],
)
def test_a_range_has_the_widest_of_its_types(sess, arguments, dtype):
    made = tf.range(*arguments)
    assert made.dtype == dtype
    np.testing.assert_array_equal(sess.run(made), [0, 1, 2])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((0,), []), ((2, 2, -1), []), ((5, 0, -2), [5, 3, 1]), ((-1, 2, 2), [-1, 1]), ((0.0, 1.0, 0.4), [0.0, 0.4, 0.8])],
)
def test_ends_of_ranges(sess, arguments, expected):
    known, free = tf.range(*arguments), tf.range(*(tf.placeholder_with_default(a, []) for a in arguments))
    assert known.shape.as_list() == [len(expected)] and free.shape.as_list() == [None]
    for found in sess.run([known, free]):
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.range(0, 3, 0),
        lambda: tf.range(0, 3, -1),
        lambda: tf.range([1, 2]),
        lambda: tf.linspace(0.0, [1.0], 2),
    ],
)
def test_what_is_no_sequence(build):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        build()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_ends_of_equal_distances_are_exact(sess, dtype):
    made = tf.lin_space(dtype(0), dtype(0.7), 4)
    assert made.shape.as_list() == [4]
    found = sess.run(made)
    assert (found[0], found[-1]) == (0, dtype(0.7)) and found.dtype == dtype
