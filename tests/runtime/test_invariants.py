"""What is the same in every round of a loop is computed before it, and nobody can tell."""

import numpy as np
import pytest

import everflow as tf
from everflow.protos.rewriter_config_pb2 import RewriterConfig

OFF = tf.ConfigProto(
    graph_options=tf.GraphOptions(rewrite_options=RewriterConfig(loop_optimization=RewriterConfig.OFF))
)


def moved(fetches, feeds=()):
    with tf.Session() as sess:
        return sess._executor.compile(fetches, list(feeds)).changes.get("loop invariants", 0)


def same_values(fetches, feed=None):
    results = []
    for config in None, OFF:
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            results.append(sess.run(fetches, feed))
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)
    return results[0]


def rounds(count, body, start):
    return tf.while_loop(lambda i, v: i < count, lambda i, v: (i + 1, body(i, v)), [0, start])[1]


def test_chains_of_invariant_nodes():
    x = tf.placeholder(tf.float32, [3, 3])
    y = rounds(4, lambda i, v: v + tf.transpose(tf.matmul(x, x) * 2.0) + tf.cast(i, tf.float32), tf.zeros([3, 3]))
    assert moved([y], [x]) == 3
    same_values([y], {x: np.arange(9.0).reshape(3, 3)})


def test_gradients():
    w = tf.get_variable("w", [3, 3], initializer=tf.random_uniform_initializer(seed=1))
    y = rounds(4, lambda i, v: tf.tanh(tf.matmul(v, tf.sigmoid(w))), tf.ones([2, 3]))
    gradients = tf.gradients(y, [w])
    assert moved(gradients) > 0
    same_values([y, *gradients])


def test_loops_in_loops():
    x = tf.placeholder(tf.float32, [2])

    def outer(i, v):
        scale = tf.cast(i, tf.float32) + tf.exp(x)
        return rounds(3, lambda j, u: u * 0.5 + tf.square(scale) + tf.exp(x), v)

    y = rounds(4, outer, tf.zeros([2]))
    assert moved([y], [x]) >= 2
    same_values([y], {x: [0.5, -1.0]})


def test_what_takes_invariant_values_runs_once_in_each_round():
    x = tf.placeholder(tf.float32, [2])
    seen = []

    def note(value):
        seen.append(value)
        return np.float32(len(seen))

    y = rounds(3, lambda i, v: v + tf.reshape(tf.py_func(note, [tf.exp(x) * 2.0], tf.float32), []), tf.constant(0.0))
    assert moved([y], [x]) == 2
    with tf.Session() as sess:
        assert sess.run(y, {x: [1.0, 2.0]}) == 6.0
    assert len(seen) == 3


def test_gradients_of_invariant_values_in_loops_in_loops():
    x = tf.placeholder(tf.float32, [1, 3])

    def outer(i, v):
        return rounds(3, lambda j, u: u * 0.1 + tf.tanh(v * 1.1 + x), v)

    y = rounds(4, outer, x)
    gradients = tf.gradients(y, x)
    assert moved(gradients, [x]) >= 2
    same_values([y, *gradients], {x: [[0.5, -1.0, 2.0]]})


def test_loops_and_branches_that_take_invariant_values_stay_in_the_body():
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    seen = []

    def note(value):
        seen.append(value)
        return value

    def noted(value):
        return tf.reshape(tf.py_func(note, [value], tf.float32), [2])

    def body(i, v):
        inner = rounds(2, lambda j, u: noted(u), tf.exp(x))
        return v + inner + tf.cond(p, lambda: noted(tf.square(x) + 1.0), lambda: x)

    y = rounds(3, body, tf.zeros([2]))
    assert moved([y], [x, p])
    with tf.Session() as sess:
        sess.run(y, {x: [1.0, 2.0], p: True})
    assert len(seen) == 3 * (2 + 1)


def test_a_body_that_never_runs_does_not_fail():
    x = tf.placeholder(tf.float32, [0, 2])
    y = rounds(
        tf.shape(x)[0], lambda i, v: v + tf.gather(x, 0) + 1.0 // tf.cast(tf.shape(x)[0], tf.float32), tf.ones([2])
    )
    assert same_values([y], {x: np.zeros((0, 2))})[0].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_that_the_loop_writes(use_resource):
    v = tf.get_variable("v", initializer=1.0, use_resource=use_resource)
    read = v.read_value() if use_resource else v

    def body(i, total):
        with tf.control_dependencies([v.assign_add(1.0)]):
            return total + tf.identity(read) * 3.0

    y = rounds(3, body, 0.0)
    same_values([y])


def test_branches_inside_and_around():
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    inside = rounds(4, lambda i, v: tf.cond(tf.equal(i % 2, 0), lambda: v + tf.exp(x), lambda: v * 2.0), tf.ones([2]))
    around = tf.cond(p, lambda: rounds(3, lambda i, v: v + tf.exp(x), tf.ones([2])), lambda: x)
    for value in True, False:
        same_values([inside, around], {x: [1.0, 2.0], p: value})


def test_an_invariant_of_the_condition():
    x = tf.placeholder(tf.float32, [2])
    y = tf.while_loop(lambda v: tf.reduce_sum(v) < tf.reduce_sum(x) * 10.0, lambda v: v + x, [tf.zeros([2])])
    assert moved([y], [x]) == 2
    same_values([y], {x: [1.0, 2.0]})
