"""From one iteration to all of them: what is drawn, and what cannot be."""

import pytest

import everflow as tf
from tests.ops.parallel_for.agreement import ROWS


def test_no_loop_is_drawn():
    with tf.Graph().as_default() as graph:
        tf.vectorized_map(lambda a: a * a, tf.constant(ROWS))
        assert "loop_body/mul/pfor/Mul" in [op.name for op in graph.get_operations()]
        assert not any(op.type == "Enter" for op in graph.get_operations())


def test_what_cannot_be_converted():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="No converter defined for TopKV2"):
            tf.vectorized_map(lambda a: tf.nn.top_k(a)[0], tf.constant(ROWS))
        with pytest.raises(ValueError, match="No converter defined for Switch"):
            tf.vectorized_map(lambda a: tf.cond(tf.reduce_sum(a) > 4.0, lambda: a, lambda: -a), tf.constant(ROWS))
        with pytest.raises(ValueError, match='Input "filter" of op "Conv2D" expected to be loop invariant'):
            tf.vectorized_map(lambda f: tf.nn.conv2d(tf.ones([1, 4, 4, 1]), f, 1, "SAME"), tf.ones([3, 2, 2, 1, 1]))
