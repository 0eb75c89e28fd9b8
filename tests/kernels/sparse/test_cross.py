"""Crossed features: every combination of a row's values, joined or hashed into buckets."""

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.sparse.cross import combine_fingerprints


def crossed(sess, inputs, hashed=False, buckets=0, key=956888297470):
    made = tf.sparse.cross_hashed(inputs, buckets, key) if hashed else tf.sparse.cross(inputs)
    return sess.run(made)


def test_every_combination_in_order(sess):
    sparse = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "b", "c"], [3, 2])
    found = crossed(sess, [sparse, tf.constant([["x", "y"], ["z", "w"], ["u", "v"]])])
    assert found.indices.tolist() == [[0, 0], [0, 1], [0, 2], [0, 3], [2, 0], [2, 1]]
    assert found.values.tolist() == [b"a_X_x", b"a_X_y", b"b_X_x", b"b_X_y", b"c_X_u", b"c_X_v"]
    assert found.dense_shape.tolist() == [3, 4]


def test_numbers_are_spelled_out(sess):
    found = crossed(sess, [tf.constant(np.int64([[-1], [2]])), tf.constant([["a"], ["b"]])])
    assert found.values.tolist() == [b"-1_X_a", b"2_X_b"]


def test_buckets_are_those_of_tensorflow(sess):
    inputs = [tf.constant([["batch1-FC1-F1"]]), tf.constant([["batch1-FC2-F1"]]), tf.constant([["batch1-FC3-F1"]])]
    assert crossed(sess, inputs, True, 0).values.tolist() == [1971693436396284976]
    assert crossed(sess, inputs, True, 100).values.tolist() == [83]


def test_order_and_key_matter(sess):
    first, second = tf.constant([["a"]]), tf.constant([["b"]])
    there, back, other = (
        crossed(sess, pair, True, 0, key).values.tolist()
        for pair, key in (([first, second], 1), ([second, first], 1), ([first, second], 2))
    )
    assert len({there[0], back[0], other[0]}) == 3
    assert combine_fingerprints(1, 2) != combine_fingerprints(2, 1)


def test_rows_must_be_as_many(sess):
    inputs = [
        tf.placeholder_with_default([["a"]], [None, None]),
        tf.placeholder_with_default([["a"], ["b"]], [None, None]),
    ]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected batch size 1 got 2"):
        crossed(sess, inputs)


def test_a_row_without_values_has_none(sess):
    empty = tf.SparseTensor(np.zeros([0, 2], np.int64), tf.constant([], tf.string), [2, 1])
    found = crossed(sess, [empty, tf.constant([["x"], ["y"]])])
    assert found.indices.shape == (0, 2) and found.dense_shape.tolist() == [2, 0]
