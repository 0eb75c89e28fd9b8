"""tf.graph_util, against what TensorFlow 1.15.5 makes of the same graphs."""

import numpy as np
import pytest

import everflow as tf


def nodes(graph_def):
    return [(node.name, node.op, list(node.input)) for node in graph_def.node]


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        a = tf.identity(x, name="id1")
        checked = tf.check_numerics(a, "bad", name="check")
        with tf.control_dependencies([checked]):
            guarded = tf.identity(a, name="guarded")
        tf.add(guarded, 1.0, name="y")
        tf.add(checked, 1.0, name="z")
        yield graph


def test_extract(graph):
    part = tf.graph_util.extract_sub_graph(graph.as_graph_def(), ["guarded"])
    assert [node.name for node in part.node] == ["x", "id1", "check", "guarded"]
    assert part.versions.producer == 134
    for wrong, error in [("y", TypeError), (["no"], AssertionError), (["y:0"], AssertionError)]:
        with pytest.raises(error):
            tf.graph_util.extract_sub_graph(graph.as_graph_def(), wrong)


def test_remove_training_nodes(graph):
    found = {name: edges for name, _, edges in nodes(tf.graph_util.remove_training_nodes(graph.as_graph_def()))}
    assert found == {"x": [], "y/y": [], "y": ["x", "y/y"], "z/y": [], "z": ["z/y"]}
    found = {
        name: edges
        for name, _, edges in nodes(
            tf.graph_util.remove_training_nodes(graph.as_graph_def(), protected_nodes=["check"])
        )
    }
    assert found["guarded"] == ["x", "^check"] and found["z"] == ["check", "z/y"]


def test_freeze():
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        v = tf.Variable([1.0, 2.0], name="v")
        r = tf.get_variable("r", initializer=[3.0, 4.0], use_resource=True)
        p = tf.placeholder(tf.float32, [2], name="p")
        tf.add(v * p, r, name="o")
        tf.gather(r, [1], name="g")
        sess.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), ["o", "g"])
        kept = tf.graph_util.convert_variables_to_constants(
            sess, graph.as_graph_def(), ["o"], variable_names_blacklist=["v"]
        )
    ops = {name: (op, edges) for name, op, edges in nodes(frozen)}
    assert ops["v"] == ("Const", []) and ops["r"] == ("Const", [])
    assert ops["o/ReadVariableOp"] == ("Identity", ["r"])
    assert ops["g"] == ("GatherV2", ["r", "g/indices", "g/axis"])
    assert {name: op for name, op, _ in nodes(kept)}["v"] == "VariableV2"
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(frozen, name="")
        np.testing.assert_array_equal(sess.run("o:0", {"p:0": [10, 10]}), [13, 24])
        np.testing.assert_array_equal(sess.run("g:0"), [4])


def test_where_nodes_run(graph):
    def on_cpu(node, **kwargs):
        return tf.graph_util.must_run_on_cpu(node, **kwargs)

    variable, constant, number = tf.Variable(1.0).op, tf.constant("text").op, tf.constant(1.0).op
    assert on_cpu(constant) and on_cpu(tf.constant(1).op.node_def) and not on_cpu(number)
    assert on_cpu(variable, pin_variables_on_cpu=True) and not on_cpu(variable)
    assert tf.graph_util.tensor_shape_from_node_def_name(graph, "y").as_list() == [2, 3]
