"""`FuncGraph` and its neighbours, as programs and tests draw bodies by hand; devices around functions."""

import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.framework.functions import FuncGraph as FrameworkFuncGraph
from everflow.ops.functions.defun import Defun


@pytest.fixture
def func_graph():
    from tensorflow.python.framework import func_graph

    with tf.Graph().as_default():
        yield func_graph


def test_what_is_captured_joins_the_inputs(func_graph):
    outside = tf.constant([1.0, 2.0], name="outside")
    body = func_graph.FuncGraph("body")
    with body.as_default():
        inside = body.capture(outside)
        assert (outside + 1.0).op.inputs[0] is inside and body.capture(inside) is inside
    assert body.inputs == [inside] and inside.name == "outside:0"
    assert isinstance(body, func_graph.FuncGraph) and type(body).__name__ == "FuncGraph"


def test_collections_are_copied_or_given(func_graph):
    tf.add_to_collection("mine", 1)
    assert func_graph.FuncGraph("a").get_collection("mine") == [1]
    assert func_graph.FuncGraph("b", collections={}).get_collection("mine") == []


def test_variables_are_read_outside_where_that_is_asked_for(func_graph):
    v = tf.get_variable("v", [], use_resource=True)
    body = func_graph.func_graph_from_py_func("body", lambda: v + 1.0, (), {}, capture_by_value=True)
    assert body.get_operations()[0].name == "ReadVariableOp/ReadVariableOp"
    assert [t.op.type for t in body.external_captures] == ["ReadVariableOp"]


def test_functions_that_change_their_arguments_are_refused(func_graph):
    with pytest.raises(ValueError):
        func_graph.func_graph_from_py_func("body", lambda parts: parts.append(3), ([tf.constant(1.0)],), {})


def test_placeholders_by_hand(func_graph):
    like = tf.constant([1.0], name="like")
    stand_in = func_graph._create_substitute_placeholder(like, "other")
    assert stand_in.name == "other:0" and stand_in.shape == [1]
    number, three = func_graph._get_defun_inputs_from_args((like, 3), ["a", "b"])
    assert number.op.get_attr("_user_specified_name") == b"a" and three == 3


def _devices(body):
    return {op.device for op in body.graph.get_operations()}


def test_functions_are_where_they_are_called_but_those_of_version_1(func_graph):
    spec = tf.TensorSpec([], tf.float32)
    with tf.device("/cpu:0"):
        assert _devices(tf.function(lambda x: x + 1.0).get_concrete_function(spec)) == {""}
        assert {node.device for node in Defun(tf.float32)(lambda x: x + 1.0).definition.node_def} == {"/device:CPU:0"}
        assert FrameworkFuncGraph("f")._device_stack == []
    with tf.device(lambda op: "/cpu:0"):
        assert _devices(tf.function(lambda x: x + 1.0).get_concrete_function(spec)) == {"/cpu:0"}
    with tf.distribute.MirroredStrategy(["/cpu:0"]).scope(), tf.device("/cpu:0"):
        assert _devices(tf.function(lambda x: x + 1.0).get_concrete_function(spec)) == {"/device:CPU:0"}


def test_names_of_what_defuns_capture(func_graph):
    five = tf.constant(5.0)
    names = []

    @Defun(tf.float32)
    def times(x):
        y = x * five
        names.extend(op.name for op in tf.get_default_graph().get_operations())
        return y

    assert times.definition.signature.input_arg[1].name == "mul_placeholder" and "mul/Placeholder" in names
