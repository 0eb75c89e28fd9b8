"""From one iteration to all of them: what is drawn, and what cannot be."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.parallel_for import vectorizer
from everflow.ops.parallel_for.loops import pfor
from tests.ops.parallel_for.agreement import ROWS, evaluated


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


def test_inputs_are_aligned_as_they_broadcast():
    with tf.Graph().as_default():
        rows, matrix = tf.constant(ROWS), tf.ones([4, 2])
        made = tf.vectorized_map(lambda a: a + matrix, rows)
        np.testing.assert_array_equal(evaluated(made), ROWS[:, None] + np.ones([4, 2]))
        made = tf.vectorized_map(lambda a: a[0] + matrix, rows)
        np.testing.assert_array_equal(evaluated(made), ROWS[:, :1, None] + np.ones([4, 2]))


def test_a_body_deeper_than_pythons_stack():
    def deep(a):
        for _ in range(1100):
            a = tf.identity(a)
        return a

    with tf.Graph().as_default():
        made = tf.vectorized_map(deep, tf.constant(ROWS))
        assert made.shape.as_list() == [3, 2] and made.op.type == "Identity"


def test_results_that_are_none_or_ops():
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        nothing, number, op = pfor(lambda i: (None, i * 0 + 7, tf.no_op()), 3)
        assert nothing is None and isinstance(op, tf.Operation)
        read = pfor(lambda i: v + tf.cast(i, tf.float32), 3)
        with tf.Session() as sess:
            sess.run(v.initializer)
            assert sess.run(number).tolist() == [7, 7, 7] and sess.run(read).tolist() == [1, 2, 3]


def test_rules_of_a_programs_own(monkeypatch):
    monkeypatch.setattr(vectorizer, "_rules", dict(vectorizer._rules))

    @vectorizer.rule("TopKV2")
    def top_k(inputs):
        made = inputs.op_like([inputs.stacked(0), inputs.same(1)])
        return [vectorizer.stacked(t) for t in made.outputs]

    with tf.Graph().as_default():
        found = evaluated(tf.vectorized_map(lambda a: tf.nn.top_k(a, 1)[0], tf.constant(ROWS)))
    np.testing.assert_array_equal(found, ROWS[:, 1:])
