"""Logic on the bits of integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf

TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("dtype", TYPES)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_against_numpy(dtype, data):
    info = np.iinfo(dtype)
    values = st.lists(st.integers(int(info.min), int(info.max)), min_size=4, max_size=4)
    x, y = (np.array(data.draw(values), dtype) for _ in range(2))
    counts = np.array(data.draw(st.lists(st.integers(0, info.bits - 1), min_size=4, max_size=4)), dtype)
    b = tf.bitwise
    with tf.Graph().as_default(), tf.Session() as sess:
        found = sess.run(
            [
                b.bitwise_and(x, y),
                b.bitwise_or(x, y),
                b.bitwise_xor(x, y),
                b.invert(x),
                b.left_shift(x, counts),
                b.right_shift(x, counts),
            ]
        )
    for got, wanted in zip(found, (x & y, x | y, x ^ y, ~x, x << counts, x >> counts), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_counts_out_of_range_take_the_nearest():
    with tf.Graph().as_default(), tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(tf.bitwise.left_shift([1, 1], [32, -1])), [-(2**31), 1])
        np.testing.assert_array_equal(sess.run(tf.bitwise.right_shift([8, -64], [32, 40])), [0, -1])


def test_population_count():
    with tf.Graph().as_default(), tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(tf.raw_ops.PopulationCount(x=tf.constant([-1, 7, 0]))), [32, 3, 0])


def test_refusals():
    with pytest.raises(TypeError):
        tf.bitwise.bitwise_and(1.0, 2.0)
    with pytest.raises(TypeError):
        tf.bitwise.invert(tf.constant([True]))
