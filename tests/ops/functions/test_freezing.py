"""Traced functions with the values of their variables in them."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.ops.functions.freezing import convert_variables_to_constants_v2
from everflow.ops.functions.wrapped import function_from_graph_def


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


SCALAR = [tf.TensorSpec([], tf.float32)]


def _frozen(fn, signature=None):
    return convert_variables_to_constants_v2(
        tf.function(fn, input_signature=signature or SCALAR).get_concrete_function()
    )


def test_variables_become_constants():
    v, c = tf.Variable(2.0, use_resource=True), tf.constant(10.0)
    frozen = _frozen(lambda x: x * v + c)
    v.assign(100.0)
    assert [value.numpy() for value in frozen(tf.constant(3.0))] == [16.0]
    kinds = {node.op for node in frozen.graph.as_graph_def().node}
    assert kinds == {"Placeholder", "Const", "Identity", "Mul", "AddV2"}
    assert [t.name for t in frozen.inputs] == ["x:0"] and frozen.captured_inputs == [] and not frozen.variables


def test_variables_of_functions_that_are_called():
    v = tf.Variable(2.0, use_resource=True)

    @tf.function
    def inner(x):
        return x * v

    frozen = _frozen(lambda x: inner(x) + inner(x))
    assert frozen(tf.constant(3.0))[0].numpy() == 12.0
    assert not any("Call" in node.op for node in frozen.graph.as_graph_def().node)


@pytest.mark.parametrize("value, expected", [(3.0, 6.0), (0.5, 2.5)])
def test_variables_in_branches(value, expected):
    v = tf.Variable(2.0, use_resource=True)
    frozen = _frozen(lambda x: tf.cond(x > 1.0, lambda: x * v, lambda: x + v))
    assert frozen(tf.constant(value))[0].numpy() == expected


def test_variables_in_loops():
    v = tf.Variable(2.0, use_resource=True)
    frozen = _frozen(lambda x: tf.while_loop(lambda y: y < 10.0 * v, lambda y: y * v, [x]))
    assert frozen(tf.constant(3.0))[0].numpy() == 24.0


def test_rows_and_shapes_of_variables():
    v = tf.Variable(np.arange(6.0).reshape(3, 2), use_resource=True)
    frozen = _frozen(lambda i: (tf.nn.embedding_lookup(v, i), tf.shape(v)), [tf.TensorSpec([None], tf.int32)])
    rows, shape = frozen(tf.constant([2, 0]))
    assert rows.numpy().tolist() == [[4.0, 5.0], [0.0, 1.0]] and shape.numpy().tolist() == [3, 2]


def test_other_resources_stay_resources():
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    fn = tf.function(lambda x: table.lookup(x), input_signature=[tf.TensorSpec([], tf.string)])
    with pytest.raises(ValueError, match="other than a variable"):
        convert_variables_to_constants_v2(fn.get_concrete_function())


def test_a_function_of_a_graph_def():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, name="x")
        tf.add(tf.multiply(x, 2.0, name="y"), 1.0, name="z")
        graph_def = graph.as_graph_def()
    both = function_from_graph_def(graph_def, ["x:0"], {"a": "z:0", "b": "y:0"})
    assert {key: value.numpy() for key, value in both(tf.constant(2.0)).items()} == {"a": 5.0, "b": 4.0}
