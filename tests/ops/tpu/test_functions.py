"""Ops of TPUs as functions, and their gradients."""

import pytest

import everflow as tf
from everflow.ops.tpu import functions
from everflow.ops.tpu.shard_context import tpu_shard_context


def test_all_shards_are_one_group():
    with tf.Graph().as_default(), tpu_shard_context(3):
        summed = functions.cross_replica_sum(tf.ones([2]))
        assert tf.contrib.util.constant_value(summed.op.inputs[1]).tolist() == [[0, 1, 2]]


def test_gradients():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [4, 6])
        (grad,) = tf.gradients(functions.all_to_all(x, 1, 0, 2), x)
        assert (grad.op.get_attr("concat_dimension"), grad.op.get_attr("split_dimension")) == (0, 1)
        (grad,) = tf.gradients(functions.collective_permute(x, [[0, 1], [2, 0]]), x)
        with tf.Session() as session:
            assert session.run(grad.op.inputs[1]).tolist() == [[1, 0], [0, 2]]
        summed = functions.cross_replica_sum(x, [[0], [1]])
        (grad,) = tf.gradients(summed, x)
        assert grad.op.type == "CrossReplicaSum" and grad.op.inputs[1] is summed.op.inputs[1]


def test_infeeds_have_certain_types():
    with tf.Graph().as_default():
        assert functions.infeed_dequeue(tf.float32, [2]).shape.as_list() == [2]
        with pytest.raises(TypeError, match="infeed cannot have"):
            functions.infeed_dequeue(tf.string, [])


def test_feeds():
    with tf.Graph().as_default():
        x = tf.ones([2])
        made = [
            functions.infeed_enqueue(x, [2], device_ordinal=1),
            functions.infeed_enqueue_tuple([x], [[2]], device_ordinal=1),
            functions.outfeed_dequeue(tf.float32, [2], device_ordinal=1).op,
            functions.outfeed_dequeue_tuple([tf.float32], [[2]], device_ordinal=1)[0].op,
        ]
        assert [op.get_attr("device_ordinal") for op in made] == [1] * 4
        assert [functions.outfeed_enqueue(x).type, functions.outfeed_enqueue_tuple([x, x]).type] == [
            "OutfeedEnqueue",
            "OutfeedEnqueueTuple",
        ]
