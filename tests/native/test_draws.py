"""Random numbers inside regions have the bits of the kernels', and streams go on as they do."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import dtypes
from everflow.kernels.random import distributions
from everflow.kernels.random.philox import Philox
from everflow.native.draws import PLACE, drawn
from everflow.native.values import input_value
from everflow.runtime.plan.program import UPDATE
from tests.native.expressions import compiled


@pytest.mark.parametrize("kind", ["uniform", "normal"])
@pytest.mark.parametrize("shape", [(), (3,), (4,), (5, 7), (1000,)])
@pytest.mark.parametrize("counter", [0, 5 << 64, (1 << 64) - 3, (1 << 128) - 2])
def test_the_bits_of_kernels(kind, shape, counter):
    key = 0x923456789ABCDEF0
    place = np.array([key, counter & ((1 << 64) - 1), counter >> 64], np.uint64).view(np.int64)
    [got] = compiled([drawn(kind, input_value(0, *PLACE), shape)], [place])
    expected = getattr(distributions, kind)(Philox(key, counter), list(shape), dtypes.float32)
    np.testing.assert_array_equal(got, expected.numpy())


def runs(level, build):
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = level
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        tf.set_random_seed(3)
        x = tf.placeholder(tf.float32, [20, 30])
        fetches = build(x)
        shown = [sess.run(fetches, {x: np.ones([20, 30])}) for _ in range(3)]
        return shown, sess.explain(fetches, [x])


@pytest.mark.parametrize(
    "build",
    [
        lambda x: [tf.nn.dropout(x * 2.0, rate=0.4)],
        lambda x: [tf.random_normal([20, 30], 1.0, 0.5) * x, tf.random_uniform([7], -1.0, 1.0)],
        lambda x: [tf.gradients(tf.nn.dropout(tf.tanh(x), rate=0.3) ** 2, x)[0]],
    ],
    ids=["dropout", "two ops", "gradient"],
)
def test_runs_go_on_in_the_stream_as_kernels_do(build):
    (expected, _), (got, text) = runs(-1, build), runs(1, build)
    assert f"({UPDATE})" in text and "(RandomUniform)" not in text
    for a, b in zip(expected, got, strict=True):
        for one, other in zip(a, b, strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-6)


def test_numbers_that_nobody_takes_are_drawn_all_the_same():
    def build(x):
        drawn = tf.random_uniform([4]) * 2.0 + 1.0
        return [tf.cond(tf.reduce_sum(x) > 0, lambda: x + 1.0, lambda: x + tf.reduce_sum(drawn)), drawn]

    (expected, _), (got, _) = runs(-1, build), runs(1, build)
    np.testing.assert_array_equal(expected[2][1], got[2][1])


def test_what_checks_and_what_draws_are_apart():
    """Kernels that are asked after a check has failed draw for themselves."""

    def build(x):
        noisy = x + tf.random_uniform([20, 30])
        return [tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.constant([1] * 20), logits=noisy), noisy * 1.0]

    (expected, _), (got, text) = runs(-1, build), runs(1, build)
    assert text.count("(_Native") == 2
    np.testing.assert_allclose(got[2][0], expected[2][0], rtol=1e-5)
    np.testing.assert_array_equal(got[2][1], expected[2][1])
