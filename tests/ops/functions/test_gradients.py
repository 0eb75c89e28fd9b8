"""Gradients through calls: backward functions, what forward ones keep for them, and calls that would multiply."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.functions import gradients

pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def traced(function):
    return tf.function(function, autograph=False)


def calls():
    return [op for op in tf.get_default_graph().get_operations() if "PartitionedCall" in op.type]


def test_the_forward_call_keeps_what_the_backward_one_needs():
    x = tf.constant([1.0, 2.0])
    y = traced(lambda t: tf.exp(t))(x)
    [call] = calls()
    assert len(call.outputs) == 1
    (grad,) = tf.gradients(y, x)
    assert len(call.outputs) == 2  # the exponential is its own derivative
    assert call.get_attr("f").name.startswith("__forward_")
    assert calls()[-1].get_attr("f").name.startswith("__inference___backward_")
    np.testing.assert_allclose(run(grad), np.exp([1.0, 2.0]), rtol=1e-6)


def test_outputs_that_nothing_flows_back_to():
    x = tf.constant(3.0)
    a, _ = traced(lambda t: (t * t, t + 1.0))(x)
    assert run(tf.gradients(a, x)) == [6.0]


def test_inputs_without_a_gradient():
    x, n = tf.constant(3.0), tf.constant(2)
    y = traced(lambda t, k: t * tf.cast(k, tf.float32))(x, n)
    of_x, of_n = tf.gradients(y, [x, n])
    assert of_n is None and run(of_x) == 2.0
    assert tf.gradients(traced(lambda t: tf.stop_gradient(t))(x), x) == [None]


def test_variables_and_tables_that_a_body_captures():
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], use_resource=True)
    x = tf.constant(2.0)
    y = traced(lambda t: t * tf.reduce_sum(tf.gather(v, [0, 0, 2])))(x)
    of_v, of_x = tf.gradients(y, [v, x])
    found = run([tf.convert_to_tensor(of_v), of_x])
    assert found[0].tolist() == [4.0, 0.0, 2.0] and found[1] == 5.0


def test_derivatives_of_derivatives():
    x = tf.constant(2.0)
    y = traced(lambda t: t * t * t * t)(x)
    for expected in (32.0, 48.0, 48.0, 24.0):
        (y,) = tf.gradients(y, x)
        assert run(y) == expected


def test_calls_that_would_multiply_are_differentiated_by_their_inputs(monkeypatch):
    monkeypatch.setattr(gradients, "MOST_KEPT", 8)
    function = traced(lambda t: t * 1.01)
    for _ in range(5):
        function = traced(lambda t, inner=function: inner(inner(t)))
    x = tf.constant(1.0)
    y = function(x)
    (grad,) = tf.gradients(y, x)
    assert "SymbolicGradient" in [op.type for op in tf.get_default_graph().get_operations()]
    np.testing.assert_allclose(run(grad), 1.01**32, rtol=1e-3)


def test_more_that_is_known_of_arguments_is_known_of_results():
    double = tf.function(lambda t: t * 2.0, input_signature=[tf.TensorSpec([None, None], tf.float32)], autograph=False)
    assert double(tf.ones([3, 4])).shape.as_list() == [3, 4]
    assert double(tf.placeholder(tf.float32, [None, 5])).shape.as_list() == [None, 5]


@pytest.mark.parametrize(("asked", "found"), [("A", b"A"), (None, b"")])
def test_the_executor_is_asked_for_in_a_context_only(asked, found):
    with gradients.function_executor_type(asked):
        traced(lambda t: t)(tf.constant(1.0))
    traced(lambda t: t)(tf.constant(1.0))
    assert [c.get_attr("executor_type") for c in calls()] == [found, b""]


def test_gradients_of_rows_stay_slices_through_a_function():
    with tf.Graph().as_default():
        table = tf.get_variable("table", [3, 2], use_resource=True, initializer=tf.ones_initializer())

        @tf.function
        def looked_up():
            return tf.reduce_sum(tf.nn.embedding_lookup(table, [0, 2]))

        (grad,) = tf.gradients(looked_up(), table)
        assert isinstance(grad, tf.IndexedSlices)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            assert sess.run(tf.convert_to_tensor(grad)).tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]


def test_a_tape_in_a_graph_starts_from_a_constant():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.exp(x)
        tape.gradient(y, x)
        assert [(op.name, op.type) for op in graph.get_operations()][2] == ("ones", "Const")


def test_a_backward_function_has_two_numbers_in_its_name():
    x = tf.constant(3.0)
    tf.gradients(traced(lambda t: t * t)(x), x)
    name = calls()[-1].get_attr("f").name
    assert all(number.isdigit() for number in name.rsplit("_", 2)[1:]), name
