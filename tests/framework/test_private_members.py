"""Members with an underscore that programs ask operations and graphs for, and what acts through them."""

import pytest

import everflow as tf
from everflow.framework import scopes
from everflow.framework.errors import InvalidArgumentError


def test_an_operation_knows_the_contexts_that_ask_for_its_device():
    with tf.Graph().as_default():
        a = tf.constant(1.0, name="a")
        with tf.device("/cpu:0"):
            b = tf.constant(2.0)
        with tf.colocate_with(a.op):
            c = tf.constant(3.0)
    (asked,) = b.op._device_assignments
    assert asked.obj == "/cpu:0" and asked.filename == __file__
    assert c.op._colocation_dict["a"].filename == __file__
    assert b.op._outputs == [b] and not b.op._is_stateful


def test_a_graph_tells_the_devices_that_are_asked_for_now():
    graph = tf.Graph()
    with graph.device("/job:a"), graph.device("/cpu:0"):
        assert graph._device_functions_outer_to_inner == ["/job:a", "/device:CPU:0"]
        assert list(graph._device_function_stack.peek_objs()) == ["/cpu:0", "/job:a"]
        assert [each.obj for each in graph._snapshot_device_function_stack_metadata()] == ["/cpu:0", "/job:a"]


def test_an_input_of_a_shape_that_does_not_fit_is_refused():
    with tf.Graph().as_default():
        total = tf.zeros([3, 1]) + tf.ones([3, 1])
        before = list(total.op.inputs)
        with pytest.raises(InvalidArgumentError):
            total.op._update_input(0, tf.zeros([2, 2]))
    assert list(total.op.inputs) == before


def test_init_scope_leaves_graphs_that_a_program_declared_bodies_of_functions():
    outer, body = tf.Graph(), tf.Graph()
    body._building_function = True
    with outer.as_default(), body.as_default(), tf.init_scope():
        made = tf.constant(1.0)
    assert made.graph is outer


def test_a_v2_name_scope_can_be_entered_inside_of_itself():
    with tf.Graph().as_default():
        scope = tf.compat.v2.name_scope("a")
        with scope, scope as inner:
            assert inner == "a/a/"
        with pytest.raises(ValueError):
            scopes.name_scope_v2(None)
