"""The variables that get_variable made, by name."""

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_defaults_and_regularizers():
    with tf.variable_scope(
        "s", initializer=tf.ones_initializer(), regularizer=lambda v: tf.reduce_sum(v, name="loss"), dtype=tf.float64
    ):
        v = tf.get_variable("v", [2])
    assert v.dtype.base_dtype == tf.float64
    (loss,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert loss.name == "s/v/Regularizer/loss:0"
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(loss) == 2.0
