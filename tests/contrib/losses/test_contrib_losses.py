"""tf.contrib.losses: values, weights and the collection of losses."""

import numpy as np
import pytest

import everflow as tf

C = tf.contrib.losses
P, Q = np.array([[0.2, 0.9], [0.4, 0.6]], np.float32), np.array([[0.0, 1.0], [1.0, 0.0]], np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def softmax(x):
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (C.absolute_difference, np.abs(P - Q).mean()),
        (C.mean_squared_error, ((P - Q) ** 2).mean()),
        (C.log_loss, -(Q * np.log(P) + (1 - Q) * np.log(1 - P)).mean()),
        (C.softmax_cross_entropy, -(Q * np.log(softmax(P))).sum(-1).mean()),
        (C.sigmoid_cross_entropy, (np.log1p(np.exp(P)) - P * Q).mean()),
        (lambda p, q: C.cosine_distance(p, q, axis=1), (1 - (P * Q).sum(1)).mean()),
        (lambda p, q: C.sparse_softmax_cross_entropy(p, tf.argmax(q, 1)), -(Q * np.log(softmax(P))).sum(-1).mean()),
        (lambda p, q: C.mean_squared_error(p, q, weights=tf.constant([1.0, 0.0])), ((P - Q) ** 2)[0].mean()),
        (lambda p, q: C.mean_squared_error(p, q, weights=2.0), 2 * ((P - Q) ** 2).mean()),
    ],
)
def test_values(loss, expected):
    value = loss(tf.constant(P), tf.constant(Q))
    assert C.get_losses() == [value]
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(value), expected, rtol=1e-4)


def test_the_total_has_regularization():
    C.add_loss(tf.constant(1.0))
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(2.0))
    with tf.Session() as sess:
        assert sess.run([C.get_total_loss(), C.get_total_loss(False)]) == [3.0, 1.0]
