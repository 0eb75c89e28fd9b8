"""Gradients that a loop adds up: the same sums as one by one, however many rounds there are."""

import numpy as np
import pytest

import everflow as tf
from everflow.protos.rewriter_config_pb2 import RewriterConfig

OFF = tf.ConfigProto(
    graph_options=tf.GraphOptions(rewrite_options=RewriterConfig(arithmetic_optimization=RewriterConfig.OFF))
)


def changes(fetches, feeds=()):
    with tf.Session() as sess:
        return sess._executor.compile(fetches, list(feeds)).changes


def same_values(fetches, feed=None):
    with tf.Session() as on, tf.Session(config=OFF) as off:
        for sess in on, off:
            sess.run(tf.global_variables_initializer())
        found = on.run(fetches, feed)
        for a, b in zip(found, off.run(fetches, feed), strict=True):
            np.testing.assert_allclose(a, b, 1e-5, 1e-5)
    return found


def weights(use_resource=False, dtype=tf.float32):
    start = tf.random_uniform_initializer(-0.5, 0.5, seed=3, dtype=dtype)
    return [
        tf.get_variable(name, size, dtype, start, use_resource=use_resource)
        for name, size in (("w", [4, 4]), ("b", [4]))
    ]


def recurrence(x, rounds, w, b):
    """x ← tanh(x·w + b), so many times."""

    def body(i, x):
        return i + 1, tf.tanh(tf.nn.bias_add(tf.matmul(x, w), b))

    return tf.while_loop(lambda i, x: i < rounds, body, [0, x])[1]


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("rows, rounds", [(3, 5), (100, 13), (600, 2), (3, 0), (3, 400)])
def test_weights_of_a_recurrence(use_resource, dtype, rows, rounds):
    w, b = weights(use_resource, dtype)
    x = tf.constant(np.random.RandomState(0).rand(rows, 4), dtype)
    many = tf.placeholder(tf.int32, [])
    gradients = tf.gradients(recurrence(x, many, w, b), [w, b])
    assert changes(gradients, [many])["running sums"] == 2
    same_values(gradients, {many: rounds})


@pytest.mark.parametrize("transpose_a, transpose_b", [(False, False), (False, True), (True, False), (True, True)])
def test_products_of_all_kinds(transpose_a, transpose_b):
    w, _ = weights()
    x = tf.random_uniform([4, 4], seed=1)
    step = lambda i, x: (i + 1, tf.matmul(x, w, transpose_a, transpose_b))  # noqa: E731
    gradients = tf.gradients(tf.while_loop(lambda i, x: i < 6, step, [0, x])[1], [w])
    assert changes(gradients)["running sums"] == 1
    same_values(gradients)


def test_loops_in_loops_begin_anew_each_time():
    w, b = weights()
    x = tf.ones([2, 4])
    outer = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, recurrence(x, i + 2, w, b)), [0, x])[1]
    gradients = tf.gradients(outer, [w, b])
    assert changes(gradients)["running sums"] == 2
    same_values(gradients)


def test_what_lies_in_a_ref_variable_is_added_at_once():
    """An assignment may write the variable's memory before a later product reads it."""
    w, _ = weights()
    total = tf.while_loop(lambda i, t: i < 4, lambda i, t: (i + 1, t + tf.matmul(w, w, True)), [0, tf.zeros([4, 4])])[1]
    assert "running sums" not in changes([total])
    same_values([total, *tf.gradients(total, [w])])


def test_a_first_state_in_a_ref_variable_is_not_kept_for_later():
    """It goes over a stack to the product, and its own update may come before all is added up."""
    w, b = weights()
    first = tf.get_variable("first", [3, 4], initializer=tf.ones_initializer())
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(recurrence(first, 5, w, b)))
    assert changes([train])["running sums"] == 1  # the bias: what it adds is never a state
    results = []
    for config in None, OFF:
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                sess.run(train)
            results.append(sess.run([w, b, first]))
    for a, c in zip(*results, strict=True):
        np.testing.assert_allclose(a, c, 1e-5, 1e-6)


def test_a_total_that_the_loop_looks_at_is_added_up_at_once():
    x = tf.random_uniform([2, 2], seed=1)
    total = tf.while_loop(lambda t: tf.reduce_sum(t) < 20.0, lambda t: t + tf.matmul(x, x), [tf.zeros([2, 2])])
    assert "running sums" not in changes([total])
    same_values([total])


def test_a_trace_shows_such_loops():
    w, b = weights()
    gradients = tf.gradients(recurrence(tf.ones([2, 4]), 4, w, b), [w, b])
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        plain = sess.run(gradients)
        traced = sess.run(gradients, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    for a, c in zip(plain, traced, strict=True):
        np.testing.assert_allclose(a, c, 1e-6)
    assert metadata.step_stats.dev_stats
