"""Flows that stand for TensorArrays in loops and branches."""

import pytest

import everflow as tf
from everflow.ops.tensor_arrays import flows

pytestmark = pytest.mark.usefixtures("own_graph")


def test_only_arrays_have_flows():
    array, tensor = tf.TensorArray(tf.float32, 2), tf.constant(1.0)
    assert flows.flow_of(array) is array.flow and flows.flow_of(tensor) is tensor and flows.flow_of(3) == 3


def test_flows_become_arrays_again():
    array = tf.TensorArray(tf.float32, 2, element_shape=[3])
    flow, number = tf.identity(array.flow), tf.constant(1)
    again, same = flows.with_flows_of([array, None], [flow, number])
    assert isinstance(again, tf.TensorArray) and again.flow is flow and again.handle is array.handle
    assert again.element_shape.as_list() == [3] and same is number


def test_arrays_pass_through_branches_and_loops():
    array = tf.TensorArray(tf.int32, 3)
    _, filled = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, i * i)), [0, array])
    chosen = tf.cond(tf.constant(True), lambda: filled, lambda: filled)
    assert isinstance(filled, tf.TensorArray) and isinstance(chosen, tf.TensorArray)
    with tf.Session() as session:
        assert session.run(chosen.stack()).tolist() == [0, 1, 4]


def test_who_has_a_flow_says_what_another_one_stands_for():
    with pytest.raises(NotImplementedError):
        flows.HasFlow().with_flow(tf.constant(1.0))
