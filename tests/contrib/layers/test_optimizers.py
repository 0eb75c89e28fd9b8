"""optimize_loss: what a step does to a variable, and what it refuses."""

import numpy as np
import pytest

import everflow as tf

L = tf.contrib.layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def stepped(**options):
    """w after one step on a gradient of [2, -4], from [1, -2]; and the global step."""
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=[1.0, -2.0])
    train = L.optimize_loss(tf.reduce_sum(w * w), step, 0.1, **{"optimizer": "SGD", **options})
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(train) == 5.0
        return sess.run([w, step])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [0.8, -1.6]),
        ({"optimizer": tf.train.GradientDescentOptimizer}, [0.8, -1.6]),
        ({"optimizer": lambda rate: tf.train.GradientDescentOptimizer(rate * 2)}, [0.6, -1.2]),
        ({"clip_gradients": 1.0}, [1 - 0.1 * 2 / 20**0.5, -2 + 0.1 * 4 / 20**0.5]),
        ({"gradient_multipliers": {"w:0": 0.5}}, [0.9, -1.8]),
        ({"learning_rate_decay_fn": lambda rate, step: rate * 0.5}, [0.9, -1.8]),
    ],
)
def test_steps(options, expected):
    w, step = stepped(**options)
    np.testing.assert_allclose(w, expected, rtol=1e-5)
    assert step == 1


def test_summaries():
    stepped(summaries=["loss", "gradients"])
    assert [t.op.type for t in tf.get_collection(tf.GraphKeys.SUMMARIES)] == ["ScalarSummary", "HistogramSummary"]


@pytest.mark.parametrize(
    "options", [{"optimizer": "Nothing"}, {"summaries": ["nothing"]}, {"optimizer": 3.0}, {"clip_gradients": "much"}]
)
def test_refusals(options):
    with pytest.raises(ValueError):
        stepped(**options)
