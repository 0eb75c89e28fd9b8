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
