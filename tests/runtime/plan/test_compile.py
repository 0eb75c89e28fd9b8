"""Planning takes time in proportion to the graph: counted in calls of functions, which no clock disturbs."""

import sys

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw


def calls_to_plan(build, count) -> int:
    """How many functions planning calls, Python's and C's, for a graph of some size; the second time, when everything
    is loaded.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        fetches, feeds = build(count)
        executor = sess._executor
        executor.extend()
        executor.compile(fetches, feeds)
        calls = 0

        def profile(frame, event, argument):
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(profile)
        try:
            executor.compile(fetches, feeds)
        finally:
            sys.setprofile(None)
        return calls


def unrolled(count):
    """A recurrent net, unrolled, with its gradients and an optimizer."""
    x = tf.placeholder(tf.float32, [4, count, 3])
    w, b = tf.get_variable("w", [8, 5]), tf.get_variable("b", [5])
    state = tf.zeros([4, 5])
    for step in range(count):
        state = tf.tanh(tf.nn.bias_add(tf.matmul(tf.concat([x[:, step], state], 1), w), b))
    train = tf.train.AdamOptimizer().minimize(tf.reduce_sum(tf.square(state)))
    return [train], [x]


def layers(count):
    """Many layers with variables of their own, each with an update."""
    x = tf.placeholder(tf.float32, [4, 5])
    y = x
    for i in range(count):
        y = tf.nn.relu(
            tf.matmul(y, tf.get_variable(f"w{i}", [5, 5], use_resource=bool(i % 2))) + tf.get_variable(f"b{i}", [5])
        )
    loss = tf.reduce_sum(y)
    return [loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)], [x]


def branches(count):
    """Branches in a row, each on a predicate of its own."""
    x = tf.placeholder(tf.float32, [4])
    y = x
    for i in range(count):
        y = tf.cond(y[i % 4] > 0.0, lambda y=y: tf.exp(y) - 1.0, lambda y=y: y * 2.0)
    return [y], [x]


def one_predicate(count):
    """Branches in a row, all on the same predicate."""
    x, p = tf.placeholder(tf.float32, [4]), tf.placeholder(tf.bool, [])
    y = x
    for _ in range(count):
        y = tf.cond(p, lambda y=y: tf.exp(y) - 1.0, lambda y=y: y * 2.0)
    return [y], [x, p]


def known_branches(count):
    """Branches in a row on a constant, as `training=False` leaves them."""
    x, p = tf.placeholder(tf.float32, [4]), tf.constant(False)
    y = x
    for _ in range(count):
        y = tf.cond(p, lambda y=y: tf.exp(y) - 1.0, lambda y=y: y * 2.0)
    return [y], [x]


def loops(count):
    """Loops in a row, with gradients."""
    x = tf.placeholder(tf.float32, [4])
    y = x
    for _ in range(count):
        y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.tanh(v) * x), [0, y])[1]
    return [tf.gradients(y, x)[0]], [x]


def long_body(count):
    """One loop with a long body."""
    x = tf.placeholder(tf.float32, [4])

    def body(i, v):
        for _ in range(count):
            v = tf.tanh(v) * x + tf.exp(x)
        return i + 1, v

    return [tf.while_loop(lambda i, v: i < 3, body, [0, x])[1]], [x]


def writes(count):
    """Reads and writes of one variable by turns."""
    v = tf.get_variable("v", [4], use_resource=True)
    last = []
    for _ in range(count):
        with tf.control_dependencies(last):
            read = v.read_value() * 0.5
            last = [v.assign_sub(read, read_value=False)]
    return last, []


def one_user_of_many(count):
    """A value that many take, and a sum of what they make."""
    x = tf.placeholder(tf.float32, [4])
    shared = raw.Exp(x=x)
    return [raw.AddN(inputs=[raw.Mul(x=shared, y=tf.constant(float(i))) for i in range(count)])], [x]


def folded(count):
    """A row of constants that are computed when planning."""
    y = tf.constant(1.0)
    for _ in range(count):
        y = raw.Mul(x=y, y=tf.constant(1.5))
    return [y], []


@pytest.mark.parametrize(
    ("build", "count"),
    [
        (unrolled, 40), (layers, 40), (branches, 40), (one_predicate, 40), (known_branches, 40), (loops, 10), (long_body, 60), (writes, 60),
        (one_user_of_many, 150), (folded, 150),
    ],
)  # fmt: skip
def test_twice_the_graph_takes_about_twice_the_calls(build, count):
    once, twice = calls_to_plan(build, count), calls_to_plan(build, 2 * count)
    assert twice / once < 2.6, (once, twice)
