"""A small program, and what a traced run of it leaves."""

import numpy as np

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.protos.rewriter_config_pb2 import RewriterConfig

FULL = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)


PLAIN = tf.ConfigProto(
    graph_options=tf.GraphOptions(rewrite_options=RewriterConfig(disable_meta_optimizer=True), build_cost_model=1)
)


def traced():
    """The RunMetadata of a run with a full trace."""
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    w = raw.VariableV2(shape=[3, 2], dtype=tf.float32, name="w")
    init = raw.Assign(ref=w, value=tf.constant(np.ones((3, 2), np.float32)))
    product = raw.MatMul(a=x, b=raw.Identity(input=w, name="w/read"), name="product")
    y = raw.AddV2(x=raw.Relu(features=product, name="act"), y=tf.constant(1.0, name="one"), name="y")
    raw.Exp(x=y, name="not_needed")
    metadata = tf.RunMetadata()
    with tf.Session(config=PLAIN) as sess:
        sess.run(init)
        value = sess.run(y, {x: np.ones((2, 3))}, options=FULL, run_metadata=metadata)
        assert value.tolist() == [[4, 4], [4, 4]]
        plain = tf.RunMetadata()
        sess.run(y, {x: np.ones((2, 3))}, run_metadata=plain)
        assert not plain.step_stats.dev_stats
    return metadata
