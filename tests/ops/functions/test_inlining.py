"""Calls replaced by bodies, and handles by values."""

import everflow as tf
from everflow.ops.functions.defun import Defun
from everflow.ops.functions.inlining import inlined, takes_handles


def _run(graph_def, fetch, feeds):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        return sess.run(fetch, feeds)


def test_calls_in_calls():
    with tf.Graph().as_default() as graph:

        @tf.function
        def inner(x):
            return x + 1.0, x * 2.0

        @tf.function
        def outer(x):
            a, b = inner(x)
            return a * b

        tf.identity(outer(tf.placeholder(tf.float32, [], name="x")), name="y")
        graph_def = graph.as_graph_def()
    flat = inlined(graph_def)
    assert not any("Call" in node.op for node in flat.node)
    assert _run(flat, "y:0", {"x:0": 3.0}) == _run(graph_def, "y:0", {"x:0": 3.0}) == 24.0


def test_calls_by_the_functions_name():
    with tf.Graph().as_default() as graph:

        @Defun(tf.float32, func_name="Twice")
        def twice(x):
            return x * 2.0

        tf.identity(twice(tf.placeholder(tf.float32, [], name="x")), name="y")
        graph_def = graph.as_graph_def()
    flat = inlined(graph_def)
    assert "Twice" not in {node.op for node in flat.node}
    assert _run(flat, "y:0", {"x:0": 3.0}) == 6.0


def test_effects_of_a_call_stay_before_what_follows_it():
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", initializer=1.0, use_resource=True)

        @tf.function
        def change():
            v.assign(5.0)
            return tf.constant(0.0)

        with tf.control_dependencies([change()]):
            tf.identity(v.read_value(), name="y")
        graph_def = graph.as_graph_def()
        initializer = v.initializer.name
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(inlined(graph_def), name="")
        sess.run(initializer)
        assert sess.run("y:0") == 5.0


def test_only_some_calls_and_their_devices():
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", initializer=2.0, use_resource=True)
        scaled = tf.function(lambda x: x * v)
        doubled = tf.function(lambda x: x + x)
        with tf.device("/cpu:1"):
            tf.identity(doubled(scaled(tf.constant(3.0))), name="y")
        graph_def = graph.as_graph_def()
    flat = inlined(graph_def, takes_handles(graph_def))
    assert [node.op for node in flat.node if "Call" in node.op] == ["PartitionedCall"]
    (product,) = (node for node in flat.node if node.op == "Mul")
    assert product.device == "/device:CPU:1"


def test_a_function_that_calls_itself_stays():
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", initializer=2.0, use_resource=True)
        tf.identity(tf.function(lambda x: x * v)(tf.constant(3.0)), name="y")
        graph_def = graph.as_graph_def()
    (function,) = graph_def.library.function
    function.node_def[0].attr["f"].func.name = function.signature.name
    assert any("Call" in node.op for node in inlined(graph_def, takes_handles(graph_def)).node)
