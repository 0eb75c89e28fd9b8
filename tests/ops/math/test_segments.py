"""Sums, means, products and extremes over segments."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf

segment_lists = st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 9)), min_size=1, max_size=12)


@settings(max_examples=30, deadline=None)
@given(segment_lists)
def test_segments_against_a_loop(pairs):
    pairs = sorted(pairs, key=lambda pair: pair[0])
    ids, data = ([p[i] for p in pairs] for i in (0, 1))
    rows = {i: [d for j, d in pairs if j == i] for i in range(max(ids) + 1)}
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(data, tf.float32)
        found = sess.run([getattr(tf, f"segment_{n}")(x, ids) for n in ("sum", "mean", "prod", "max", "min")])
        unsorted = sess.run(tf.unsorted_segment_sum(x, ids, 6))
        sparse = sess.run(tf.sparse_segment_sqrt_n(x, list(range(len(data))), ids, num_segments=6))
    for function, empty, result in zip((np.sum, np.mean, np.prod, np.max, np.min), (0, 0, 1, 0, 0), found, strict=True):
        np.testing.assert_allclose(result, [function(row) if row else empty for row in rows.values()], rtol=1e-5)
    full = [rows.get(i, []) for i in range(6)]
    np.testing.assert_allclose(unsorted, [sum(row) for row in full])
    np.testing.assert_allclose(sparse, [sum(row) / np.sqrt(len(row)) if row else 0 for row in full], rtol=1e-5)


def test_unsorted_segments_without_rows(sess):
    x = tf.constant([1.0, 2.0, 3.0])
    found = sess.run(
        [
            getattr(tf, f"unsorted_segment_{n}")(x, [0, -1, 0], 2)
            for n in ("sum", "prod", "max", "min", "mean", "sqrt_n")
        ]
    )
    lowest, highest = np.finfo(np.float32).min, np.finfo(np.float32).max
    np.testing.assert_allclose(
        found, [[4, 0], [3, 1], [3, lowest], [1, highest], [2, 0], [4 / np.sqrt(2), 0]], rtol=1e-6
    )


def test_segment_ids_that_do_not_fit(sess):
    ids = tf.placeholder(tf.int32, [None])
    x = tf.ones([3, 2])
    for given_ids, text in (([0, 1], "same size"), ([1, 0, 1], "not increasing"), ([-1, 0, 1], "out of range")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            sess.run(tf.segment_sum(x, ids), {ids: given_ids})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"segment_ids\[1\] = 4 is out of range \[0, 4\)"):
        sess.run(tf.unsorted_segment_sum(x, ids, 4), {ids: [0, 4, 1]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] == 7 out of range"):
        sess.run(tf.sparse_segment_sum(x, ids, [0]), {ids: [7]})
    with pytest.raises(ValueError, match="rank 1"):
        tf.segment_sum(x, [[0, 1, 1]])


def test_what_is_known_of_the_rows():
    with tf.Graph().as_default():
        x, ids = tf.placeholder(tf.float32, [4, 3, 2]), tf.placeholder(tf.int32, [4, None])
        count = tf.placeholder(tf.int32, [])
        assert tf.segment_sum(x, ids[:, 0]).shape.as_list() == [None, 3, 2]
        assert tf.unsorted_segment_max(x, ids, 7).shape.as_list() == [7, 2]
        assert tf.unsorted_segment_max(x, ids, count).shape.as_list() == [None, 2]
        assert tf.sparse_segment_mean(x, [0], [0], num_segments=5).shape.as_list() == [5, 3, 2]
        for build in (
            lambda: tf.unsorted_segment_sum(x, [0, 1], 2),
            lambda: tf.unsorted_segment_sum(x, ids, -1),
            lambda: tf.segment_sum(3.0, [0]),
            lambda: tf.sparse_segment_sum(x, [0, 1], [0]),
        ):
            with pytest.raises(ValueError):
                build()


@pytest.mark.parametrize("name", ["mean", "sqrt_n"])
def test_ids_of_a_rank_of_their_own(sess, name):
    x = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    found = sess.run(getattr(tf, f"unsorted_segment_{name}")(x, [[0, 2], [2, 2]], 3))
    rows = x.reshape(4, 3)
    divisor = {"mean": 3, "sqrt_n": np.sqrt(3)}[name]
    np.testing.assert_allclose(found, [rows[0], [0, 0, 0], rows[1:].sum(0) / divisor], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "int64", "float16", "float64"])
def test_segments_of_many_types(sess, dtype):
    x = np.array([3, 1, 2], dtype)
    found = sess.run(
        [tf.segment_max(x, [0, 0, 2]), tf.segment_sum(x, [0, 0, 2]), tf.unsorted_segment_prod(x, [1, 1, 0], 2)]
    )
    assert all(f.dtype == dtype for f in found)
    np.testing.assert_array_equal(found[0], [3, 0, 2])
    np.testing.assert_array_equal(found[1], [4, 0, 2])
    np.testing.assert_array_equal(found[2], [2, 3])


def test_no_rows_at_all(sess):
    empty = np.zeros([0, 2], np.float32)
    none = np.zeros([0], np.int32)
    assert sess.run(tf.segment_sum(empty, none)).shape == (0, 2)
    np.testing.assert_array_equal(sess.run(tf.unsorted_segment_sum(empty, none, 2)), np.zeros([2, 2]))
    np.testing.assert_array_equal(sess.run(tf.sparse_segment_sum(empty, none, none, num_segments=1)), [[0, 0]])
