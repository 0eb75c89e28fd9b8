"""Shapes of what ops of TPUs give."""

import everflow as tf
from everflow.framework import raw_ops as raw


def test_replicas_agree_on_what_they_can():
    with tf.Graph().as_default():
        one, two = tf.placeholder(tf.float32, [4, 3]), tf.placeholder(tf.float32, [5, 3])
        merged = raw.TPUReplicatedInput(inputs=[one, two])
        assert merged.shape.as_list() == [None, 3]
        assert [t.shape.as_list() for t in raw.TPUReplicatedOutput(input=one, num_replicas=2)] == [[4, 3]] * 2


def test_exchanged_parts():
    with tf.Graph().as_default():
        moved = raw.AllToAll(
            input=tf.ones([4, 6]), group_assignment=[[0, 1]], concat_dimension=1, split_dimension=0, split_count=2
        )
        assert moved.shape.as_list() == [2, 12]
        assert raw.CrossReplicaSum(input=tf.ones([2]), group_assignment=[[0]]).shape.as_list() == [2]


def test_feeds():
    with tf.Graph().as_default():
        first, second = raw.InfeedDequeueTuple(dtypes=[tf.float32, tf.int32], shapes=[[2], []])
        assert (first.shape.as_list(), second.shape.as_list()) == ([2], [])
        assert raw.OutfeedDequeue(dtype=tf.float32, shape=[3]).shape.as_list() == [3]
