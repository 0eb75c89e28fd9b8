"""Nodes of batches across runs."""

import everflow as tf
from everflow.framework import raw_ops as raw


def test_nodes_and_shapes():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2])

        @tf.nondifferentiable_batch_function(2, 8, 100, allowed_batch_sizes=[4, 8])
        def double(a):
            return a * 2.0

        (made,) = double(x)
        assert (made.name, made.op.get_attr("shared_name")) == ("batch/BatchFunction:0", b"batch/")
        assert double(x)[0].name == "batch_1/BatchFunction:0"
        (batched,), index, number = raw.Batch(
            in_tensors=[x], num_batch_threads=1, max_batch_size=3, batch_timeout_micros=1, grad_timeout_micros=0
        )
        assert [t.shape.as_list() for t in (batched, index, number)] == [[None, 2], [None, 3], []]
