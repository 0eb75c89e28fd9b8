"""Initial values that depend on other variables."""

import pytest

import everflow as tf
from everflow.ops.variables.initial_values import guarded


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


@pytest.mark.parametrize("use_resource", [False, True])
def test_chains_of_variables_initialize_in_any_order(use_resource):
    a = tf.get_variable("a", initializer=2.0, use_resource=use_resource)
    b = tf.Variable(a.initialized_value() * 3.0, use_resource=use_resource)
    c = tf.Variable(tf.stack([a.initialized_value(), b.initialized_value()]) + 1.0, use_resource=use_resource)
    with tf.Session() as sess:
        sess.run(c.initializer)
        assert sess.run(c).tolist() == [3.0, 7.0]


def test_a_value_is_used_that_is_there_already():
    a = tf.Variable(2.0)
    b = tf.Variable(a * 3.0)
    with tf.Session() as sess:
        sess.run(a.initializer)
        sess.run(a.assign(5.0))
        sess.run(b.initializer)
        assert sess.run(b) == 15.0


def test_values_from_inside_of_loops_and_branches():
    made = []

    def body(i):
        with pytest.raises(ValueError):
            tf.Variable(i)
        made.append(tf.Variable(lambda: 5))
        return i + 1

    tf.while_loop(lambda i: i < 2, body, [0])
    with tf.Session() as sess:
        sess.run(made[0].initializer)
        assert sess.run(made[0]) == 5


def test_only_tensors_are_guarded():
    with pytest.raises(TypeError):
        guarded("name", 3)
    constant = tf.constant(1.0)
    assert guarded("name", constant) is constant
