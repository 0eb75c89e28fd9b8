"""Random loops, branches and loops in them, with their gradients, give the same with all rewrites as with none."""

import random

import numpy as np
import pytest

import everflow as tf
from everflow.protos.rewriter_config_pb2 import RewriterConfig

PLAIN = tf.ConfigProto(graph_options=tf.GraphOptions(rewrite_options=RewriterConfig(disable_meta_optimizer=True)))
UNARY = [
    tf.tanh,
    tf.sigmoid,
    tf.nn.relu,
    tf.square,
    tf.nn.softmax,
    tf.identity,
    lambda t: t * 0.5,
    lambda t: t + tf.reduce_sum(t, 1, keepdims=True) * 0.1,
]
WIDTH = 3


class Drawing:
    """A loop over matrices whose body is drawn at random, of weights, what is fed, what enters and what goes round."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rows = self.random.choice([1, 2, 130])
        self.x = tf.placeholder(tf.float32, [self.rows if self.random.random() < 0.6 else None, WIDTH])
        self.rounds, self.flag = tf.placeholder(tf.int32, []), tf.placeholder(tf.bool, [])
        self.use_resource = self.random.random() < 0.5
        self.weights, self.bias = (
            [self.variable(f"w{i}", [WIDTH, WIDTH]) for i in range(2)],
            self.variable("b", [WIDTH]),
        )
        first = self.variable("first", [self.rows, WIDTH])
        self.result = self.loop([self.x, first, tf.fill([self.rows, WIDTH], 0.3)])
        gradients = tf.gradients(tf.reduce_sum(tf.square(self.result)), [*self.weights, self.bias, first, self.x])
        self.fetches = [self.result, *(g for g in gradients if g is not None)]

    def variable(self, name, shape):
        start = np.random.RandomState(len(name)).uniform(-0.4, 0.4, shape)
        made = tf.get_variable(name, initializer=start.astype(np.float32), use_resource=self.use_resource)
        # TensorFlow has no gradients of resource variables that branches in loops take.
        return made.read_value() if self.use_resource else made

    def expression(self, values, depth):
        kind = self.random.random() if depth < 4 else 0.0
        part = lambda: self.expression(values, depth + 1)  # noqa: E731
        if kind < 0.2:
            return self.random.choice(values)
        if kind < 0.4:
            return self.random.choice(UNARY)(part())
        if kind < 0.55:
            return tf.nn.bias_add(tf.matmul(part(), self.random.choice(self.weights)), self.bias)
        if kind < 0.7:
            return tf.matmul(tf.matmul(part(), tf.tanh(self.weights[0])), self.weights[1], transpose_b=True)
        if kind < 0.85:
            return part() + part() * tf.sigmoid(part())
        if kind < 0.93 or depth > 1:
            return tf.cond(self.random.choice([self.flag, tf.reduce_sum(part()) > 0.0]), part, part)
        return self.loop(values, depth + 1)

    def loop(self, values, depth=0):
        limit = self.random.choice([self.rounds, tf.minimum(self.rounds, 2) * 1])
        shapes = [tf.TensorShape([]), tf.TensorShape([None, WIDTH]), tf.TensorShape([])]

        def body(i, state, total):
            state = tf.tanh(self.expression([*values, state, state * 1.1], depth + 1))
            return i + 1, state, total + tf.reduce_sum(state)

        _, state, total = tf.while_loop(
            lambda i, *_: i < limit, body, [0, self.random.choice(values), 0.0], shape_invariants=shapes
        )
        return state + total * 0.01


@pytest.mark.parametrize("seed", range(24))
def test_random_loop(seed):
    drawn = Drawing(seed)
    results = []
    for config in None, PLAIN:
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            feeds = [
                {drawn.x: np.random.RandomState(i).randn(drawn.rows, WIDTH), drawn.rounds: i, drawn.flag: i % 2}
                for i in (3, 0, 2, 3)
            ]
            results.append([sess.run(drawn.fetches, feed) for feed in feeds])
    for one, other in zip(*results, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
