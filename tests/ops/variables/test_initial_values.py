"""Initial values that depend on other variables."""

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_initial_value_from_another_variable(graph):
    v = tf.Variable(2.0, name="v")
    w = tf.Variable(v * 3.0, name="w")
    with tf.Session() as sess:
        sess.run(w.initializer)
        assert sess.run(w) == 6.0
    assert graph.get_operation_by_name("mul_w").type == "Mul"
