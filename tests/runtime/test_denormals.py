"""Numbers below the smallest of full precision are zero in a run, and numbers elsewhere."""

import numpy as np
import pytest

import everflow as tf

TINY = np.float32(1e-40)


@pytest.mark.parametrize("size", [3, 1 << 18])
def test_tiny_numbers_are_zero_in_a_run(size):
    x = tf.placeholder(tf.float32, [size])
    with tf.Session() as sess:
        for y in (x * 1.0, x + x, tf.cast(x > 0, tf.float32), tf.map_fn(lambda v: v * 0.5, x[:2])):
            assert not sess.run(y, {x: np.full(size, TINY)}).any()
        np.testing.assert_array_equal(sess.run(x, {x: np.full(size, TINY)}), TINY)  # nothing is computed


def test_constants_are_folded_the_same_way():
    with tf.Session() as sess:
        assert sess.run([tf.exp(tf.constant(-100.0)), tf.constant(TINY) * 1.0]) == [0.0, 0.0]


def test_datasets_and_functions_are_part_of_the_run():
    values = tf.data.Dataset.from_tensors(np.full(3, TINY)).map(lambda x: x * 0.5, num_parallel_calls=2).prefetch(1)
    twice = tf.contrib.eager.defun(lambda x: x + x)(tf.placeholder_with_default(np.full(3, TINY), [3]))
    with tf.Session() as sess:
        assert not np.any(sess.run([tf.data.make_one_shot_iterator(values).get_next(), twice]))


def test_the_program_around_a_run_keeps_them():
    x = tf.placeholder(tf.float32, [2])
    with tf.Session() as sess:
        sess.run(x * 1.0, {x: [1.0, 2.0]})
        assert TINY * np.float32(1.0) == TINY
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(tf.check_numerics(x, "not a number"), {x: [np.nan, 0.0]})
        assert TINY * np.float32(1.0) == TINY
