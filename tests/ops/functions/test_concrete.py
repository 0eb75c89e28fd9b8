"""Traces of functions: what they say of their arguments, and values that are made at each call."""

from __future__ import annotations

import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")
FLOAT = tf.TensorSpec([], tf.float32)


def test_arguments_are_described_by_their_names_and_the_way_to_them():
    trace = tf.function(lambda x, y, *rest, **named: x["a"] + x["b"] + y).get_concrete_function(
        {"a": FLOAT, "b": FLOAT}, FLOAT, FLOAT, k=FLOAT
    )
    args, kwargs = trace.structured_input_signature
    assert [args[0]["a"].name, args[0]["b"].name, args[1].name, args[2].name] == ["x/a", "x/b", "y", "rest_0"]
    assert kwargs["k"].name == "k"
    assert [t.op.name for t in trace.inputs] == ["x", "x_1", "y", "rest_0", "k"]
    assert [a.name for a in trace.function_def.signature.input_arg] == ["x", "x_1", "y", "rest_0", "k"]


def test_a_spec_of_another_name_is_another_trace():
    function = tf.function(lambda x: x)
    plain, named = (function.get_concrete_function(s) for s in (FLOAT, tf.TensorSpec([], tf.float32, name="w")))
    assert plain is not named
    assert named.structured_input_signature[0][0].name == "w"


def test_arguments_whose_names_no_node_can_have():
    function = tf.function(lambda _x, _y: _x - _y)
    trace = function.get_concrete_function(FLOAT, FLOAT)
    assert [t.op.name for t in trace.inputs] == ["placeholder", "placeholder_1"]
    with tf.Session() as sess:
        assert sess.run(trace(_x=tf.constant(3.0), _y=tf.constant(1.0))) == 2.0


def test_equal_names_are_numbered_in_calls():
    trace = tf.function(lambda x: x[0] - x[1]).get_concrete_function([FLOAT, FLOAT])
    with tf.Session() as sess:
        assert sess.run(trace(x=tf.constant(3.0), x_1=tf.constant(1.0))) == 2.0


def test_ragged_arguments_are_described_as_a_whole():
    ragged = tf.ragged.constant([[1], [2, 3]])
    trace = tf.function(lambda x: x).get_concrete_function(ragged)
    assert isinstance(trace.structured_input_signature[0][0], tf.RaggedTensorSpec)


def test_values_of_call_time():
    numbers = iter([5.0, 7.0])

    @tf.function
    def plus():
        graph = tf.get_default_graph()
        first = graph.capture_call_time_value(lambda: tf.constant(next(numbers)), FLOAT, key="k")
        assert graph.capture_call_time_value(lambda: None, FLOAT, key="k") is first
        return first + 1.0

    with tf.Session() as sess:
        assert [sess.run(plus()) for _ in range(2)] == [6.0, 8.0]


@pytest.mark.parametrize("value", ["text", [1.0, 2.0]])
def test_values_of_call_time_must_fit(value):
    @tf.function
    def plus():
        return tf.get_default_graph().capture_call_time_value(lambda: tf.constant(value), FLOAT)

    with pytest.raises(ValueError):
        plus()


def test_a_tensor_from_outside_that_is_returned_is_named_by_what_returns_it():
    with tf.Graph().as_default():
        outside = tf.constant(1.0, name="outside")
        trace = tf.function(lambda x: (outside, x)).get_concrete_function(tf.constant(2.0))
        assert [t.op.name for t in trace.inputs] == ["x", "Identity/outside"]
        used = tf.function(lambda x: (outside + x, outside)).get_concrete_function(tf.constant(2.0))
        assert [t.op.name for t in used.inputs] == ["x", "add/outside"]


def test_a_variable_that_is_an_argument_is_passed_and_not_captured():
    with tf.Graph().as_default(), tf.Session() as sess:
        one = tf.get_variable("one", initializer=1.0, use_resource=True)
        two = tf.get_variable("two", initializer=2.0, use_resource=True)
        scaled = tf.function(lambda v, x: v * x).get_concrete_function(one, tf.TensorSpec([], tf.float32))
        assert scaled.captured_inputs == [] and [t.op.name for t in scaled.inputs] == ["v", "x"]
        results = [scaled(one, tf.constant(3.0)), scaled(two, tf.constant(3.0))]
        assert list(results[1].op.inputs)[0] is two.handle
        sess.run(tf.global_variables_initializer())
        assert sess.run(results) == [3.0, 6.0]
        assert sess.run(tf.gradients(results[1], two)) == [3.0]
