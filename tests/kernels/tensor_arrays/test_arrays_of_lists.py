"""Tensors whose elements are lists of tensors: filled, joined, and kept in tables."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw

_SCALAR = np.zeros([0], np.int32)


@pytest.fixture
def lists():
    with tf.Graph().as_default(), tf.Session() as sess:
        empty = raw.EmptyTensorList(element_shape=_SCALAR, max_num_elements=-1, element_dtype=tf.float32)
        yield sess, empty, raw.TensorListPushBack(input_handle=empty, tensor=3.0)


def _stacked(handle):
    return raw.TensorListStack(input_handle=handle, element_shape=_SCALAR, element_dtype=tf.float32)


def test_fill(lists):
    sess, _, one = lists
    filled = tf.fill([2], one)
    assert sess.run(tf.shape(filled)).tolist() == [2]
    np.testing.assert_array_equal(sess.run(_stacked(filled[1])), [3.0])


def test_joined_one_by_one(lists):
    sess, empty, one = lists
    joined = raw.TensorListConcatLists(
        input_a=tf.stack([one, empty]), input_b=tf.fill([2], one), element_dtype=tf.float32
    )
    assert [len(v) for v in sess.run([_stacked(joined[0]), _stacked(joined[1])])] == [2, 1]


def test_in_a_table(lists):
    sess, empty, one = lists
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.variant, empty, empty_key=-1, deleted_key=-2)
    sess.run(table.insert(tf.constant([1], tf.int64), tf.stack([one])))
    sess.run(table.insert(tf.constant(2, tf.int64), one))
    found = table.lookup(tf.constant([1, 5], tf.int64))
    values = sess.run([_stacked(v) for v in (found[0], found[1], table.lookup(tf.constant(2, tf.int64)))])
    assert [v.tolist() for v in values] == [[3.0], [], [3.0]]
