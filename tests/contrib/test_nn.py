"""tf.contrib.nn: dropout that keeps mean and variance, the scaled softplus and its gradients, losses over sampled
classes.
"""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import nn


def test_alpha_dropout_keeps_mean_and_variance():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.random_normal([400, 400], seed=1)
        y = session.run(nn.alpha_dropout(x, 0.8, seed=2))
        assert nn.alpha_dropout(x, 1.0) is x
    assert y.mean() == pytest.approx(0.0, abs=0.02) and y.var() == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("clip", [None, 2.0])
def test_scaled_softplus(clip):
    x, alpha = np.array([[1.0, -2.0, 3.0], [0.0, -0.5, 4.0]]), np.array([0.5, 1.0, 2.0])
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.constant(x), tf.constant(alpha)]
        y = nn.scaled_softplus(*inputs, clip=clip)
        found, grads = session.run([y, tf.gradients(y, inputs)])

    def value(x, alpha):
        y = alpha * np.logaddexp(x / alpha, 0)
        return y if clip is None else np.minimum(y, clip)

    np.testing.assert_allclose(found, value(x, alpha))
    step = 1e-6
    np.testing.assert_allclose(grads[0], (value(x + step, alpha) - value(x - step, alpha)) / (2 * step), atol=1e-5)
    np.testing.assert_allclose(
        grads[1], ((value(x, alpha + step) - value(x, alpha - step)) / (2 * step)).sum(0), atol=1e-5
    )


def test_sampled_losses():
    random = np.random.RandomState(3)
    weights, biases, inputs = (random.normal(size=s).astype(np.float32) for s in ((8, 3), (8,), (4, 3)))
    labels = np.array([[1], [5], [1], [7]])
    with tf.Graph().as_default(), tf.Session() as session:
        sampled = (tf.constant([0, 2, 6], tf.int64), tf.fill([4, 1], 0.5), tf.constant([0.5, 0.3, 0.2]))
        given = (tf.constant(weights), tf.constant(biases), tf.constant(labels), tf.constant(inputs), 3, 8)
        sparse = nn.sampled_sparse_softmax_loss(*given, sampled_values=sampled)
        dense = tf.nn.sampled_softmax_loss(*given, sampled_values=sampled)
        np.testing.assert_allclose(*session.run([sparse, dense]), rtol=1e-5)
        ranked = nn.rank_sampled_softmax_loss(*given[:4], 3, 2, 8, 1, sampled, 1.0, True, "mod")
        assert session.run(ranked).shape == (4,)
