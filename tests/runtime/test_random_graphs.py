"""Random graphs give the same with all rewrites as with none, run after run."""

import random

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.protos.rewriter_config_pb2 import RewriterConfig

PLAIN = tf.ConfigProto(graph_options=tf.GraphOptions(rewrite_options=RewriterConfig(disable_meta_optimizer=True)))
UNARY = [raw.Neg, raw.Tanh, raw.Square, raw.Sigmoid, raw.Identity, raw.StopGradient, raw.Relu]
BINARY = [raw.AddV2, raw.Sub, raw.Mul, raw.Maximum]
N = 64


class Drawing:
    """A graph of tensors of shape [batch, 64], drawn at random."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.x = tf.placeholder(tf.float32, [None, N])
        self.values = [
            self.x,
            tf.constant(np.linspace(-1, 1, N, dtype=np.float32).reshape(1, N) * np.ones((4, 1), np.float32)),
        ]
        self.inits, self.writes = [], []
        self.variables = [self.variable() for _ in range(3)]
        for _ in range(40):
            self.step()

    def variable(self):
        ref = raw.VariableV2(shape=[4, N], dtype=tf.float32)
        self.inits.append(
            raw.Assign(ref=ref, value=tf.constant(self.random.uniform(-1, 1) * np.ones((4, N), np.float32))).op
        )
        return ref

    def pick(self):
        return self.random.choice(self.values[-8:] + self.values[:2])

    def step(self):
        kind = self.random.randrange(11)
        if kind < 3:
            made = self.random.choice(UNARY)(self.pick())
        elif kind < 6:
            made = self.random.choice(BINARY)(self.pick(), self.pick())
        elif kind == 6:
            made = raw.Mul(self.pick(), tf.constant(self.random.choice([0.0, 0.5, 1.0, -2.0])))
        elif kind == 7:
            value = self.pick()
            made = raw.Reshape(raw.Reshape(value, tf.constant([-1])), raw.Shape(input=value))
        elif kind == 8:
            total = raw.Mean(self.pick(), tf.constant([1]), keep_dims=self.random.random() < 0.9)
            made = (
                raw.AddV2(self.pick(), total) if total.shape.ndims == 2 else raw.AddN(inputs=[self.pick(), self.pick()])
            )
        elif kind == 9:
            made = raw.Identity(input=self.random.choice(self.variables))
        else:
            with tf.control_dependencies([self.random.choice(self.writes)] if self.writes else []):
                made = raw.AddN(inputs=[self.pick() for _ in range(self.random.choice([2, 3]))])
            rate = tf.constant(0.25)
            value = (
                raw.Mul(raw.Sub(raw.Identity(input=self.variables[0]), made), rate)
                if self.random.random() < 0.5
                else raw.Tanh(made)
            )
            self.writes.append(
                self.random.choice([raw.AssignAdd, raw.AssignSub])(self.random.choice(self.variables), value).op
            )
        self.values.append(made)


@pytest.mark.parametrize("seed", range(30))
def test_rewrites_keep_the_values(seed):
    drawing = Drawing(seed)
    fetches = drawing.random.sample(drawing.values, 4) + drawing.variables
    results = []
    for config in (None, PLAIN):
        with tf.Session(config=config) as sess:
            sess.run(drawing.inits)
            got = []
            for run in range(3):
                feed = {drawing.x: np.linspace(-2, 2 + run, 4 * N).reshape(4, N)}
                got.append(sess.run(fetches, feed))
                got.append(sess.run([*fetches, *drawing.writes], feed)[: len(fetches)])
            results.append(got)
    for one, other in zip(*results, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
