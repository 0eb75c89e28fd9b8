"""tf.contrib.sparsemax: projection onto the simplex and its loss."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def test_projection_loss_and_gradient():
    logits = tf.placeholder(tf.float32, [None, 3])
    probabilities = tf.contrib.sparsemax.sparsemax(logits)
    loss = tf.contrib.sparsemax.sparsemax_loss(logits, probabilities, tf.constant([[1.0, 0.0, 0.0]]))
    (slope,) = tf.gradients(loss, logits)
    with tf.Session() as session:
        p, value, gradient = session.run([probabilities, loss, slope], {logits: [[1, 2, 2.5], [1, -np.inf, 2]]})
    np.testing.assert_allclose(p, [[0, 0.25, 0.75], [0, 0, 1]])
    np.testing.assert_allclose(value, [1.5625, 1.0])
    np.testing.assert_allclose(gradient[0], [-1, 0.25, 0.75])


def test_rows_without_a_projection_are_nan():
    with tf.Session() as session:
        p = session.run(tf.contrib.sparsemax.sparsemax([[1.0, np.nan], [-np.inf, -np.inf], [1.0, 2.0]]))
    assert np.isnan(p[:2]).all()
    np.testing.assert_allclose(p[2], [0, 1])
