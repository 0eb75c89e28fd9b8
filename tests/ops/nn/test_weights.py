"""Weights of losses and metrics: whether they fit, and how they spread."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.nn import weights

VALUES = np.ones([2, 3, 4], np.float32)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("shape", [(), (1, 1, 1), (2, 1, 1), (2, 3, 4), (1, 3, 1)])
def test_weights_that_fit(sess, shape, known):
    given = np.arange(1.0, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(np.float32)
    w = tf.constant(given) if known else tf.placeholder_with_default(given, None)
    v = tf.constant(VALUES) if known else tf.placeholder_with_default(VALUES, None)
    sess.run(weights.assert_broadcastable(w, v))
    np.testing.assert_array_equal(sess.run(weights.broadcast_weights(w, v)), np.broadcast_to(given, VALUES.shape))


@pytest.mark.parametrize("shape", [(4,), (3, 4), (1, 2, 3, 4), (2, 2, 4), (2, 3, 1, 1)])
def test_weights_that_do_not(sess, shape):
    given = np.ones(shape, np.float32)
    with pytest.raises(ValueError, match="can not be broadcast"):
        weights.assert_broadcastable(given, VALUES)
    w, v = tf.placeholder_with_default(given, None), tf.placeholder_with_default(VALUES, None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="can not be broadcast"):
        sess.run(weights.assert_broadcastable(w, v))


def test_what_is_known_is_decided_while_building():
    with tf.Graph().as_default():
        assert weights.assert_broadcastable(2.0, VALUES).type == "NoOp"
        whole = tf.constant(VALUES)
        assert weights.broadcast_weights(whole, VALUES) is whole


@pytest.mark.parametrize("shape", [(), (2, 3), (2, 3, 1), (2, 3, 1, 1)])
def test_one_axis_less_or_more(sess, shape):
    values, given = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    made = weights.with_rank_of(values, given)
    found = sess.run(made, {values: np.ones([2, 3, 1]), given: np.ones(shape)})
    assert found.shape == (() if not shape else (2, 3, 1))
