"""Graphs of functions that run are collected once each, while somebody has asked for them."""

import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.ops.functions import collection


@pytest.fixture(autouse=True)
def eagerly():
    with eager_mode():
        yield
    collection.stop()


def test_each_function_is_collected_once():
    double, square = tf.function(lambda x: x * 2.0), tf.function(lambda x: x * x)
    double(tf.constant(1.0))
    assert not collection.active() and collection.take() is None
    collection.start()
    for function in (double, square, double):
        function(tf.constant(3.0))
    [first, second] = collection.take().partition_graphs
    assert [node.op for node in first.node if node.op != "Identity"][:1] == ["_Arg"]
    assert {node.op for node in second.node} >= {"_Arg", "Mul", "_Retval"}
    double(tf.constant(4.0))
    assert not collection.take().partition_graphs


def test_what_was_collected_is_forgotten_at_the_end():
    collection.start()
    tf.function(lambda x: x + 1.0)(tf.constant(1.0))
    collection.stop()
    assert collection.take() is None
