"""Nodes by which devices exchange tensors."""

import pytest

import everflow as tf
from everflow.ops.array import collectives


def test_collectives_draw_their_nodes():
    with tf.Graph().as_default():
        with tf.device("/gpu:0"):
            a = tf.constant([1.0])
        with tf.device("/gpu:1"):
            b = tf.constant([1.0])
        sums = collectives.all_sum([a, b])
        assert [s.op.type for s in sums] == ["NcclAllReduce"] * 2 and sums[1].device == "/device:GPU:1"
        assert collectives.all_reduce(a, 2, 1, 1, "Add", "Div").op.get_attr("merge_op") == b"Add"
        assert collectives.broadcast_recv([1], tf.float32, 2, 1, 3).shape == [1]
        with pytest.raises(ValueError, match="2 at least"):
            collectives.broadcast_send(a, [1], tf.float32, 1, 1, 2)
        with pytest.raises(ValueError, match="shape"):
            collectives.broadcast_send(a, [2], tf.float32, 2, 1, 2)
        with pytest.raises(ValueError, match="where"):
            collectives.all_sum([tf.constant(1.0)])


def test_tensors_of_several_devices_put_together():
    with tf.Graph().as_default():
        with tf.device("/device:GPU:0"):
            a = tf.constant([1.0])
        with tf.device("/device:GPU:1"):
            b = tf.constant([2.0])
            total = collectives.reduce_sum([a, b])
        assert total.op.type == "NcclReduce" and total.shape == [1]
        kinds = [
            f([a, b])[0].op.get_attr("reduction")
            for f in (collectives.all_prod, collectives.all_min, collectives.all_max)
        ]
        assert kinds == [b"prod", b"min", b"max"]
        assert collectives.broadcast(a).op.type == "NcclBroadcast" and collectives.broadcast(a).device == a.device
        for build in (
            lambda: collectives.reduce_sum([]),
            lambda: collectives.reduce_sum([a, b]),
            lambda: collectives.broadcast(tf.constant(1.0)),
        ):
            with pytest.raises(ValueError):
                build()
