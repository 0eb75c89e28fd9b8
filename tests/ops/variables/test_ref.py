"""Variables of the old kind: a buffer that reads show without a copy."""

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def nodes(graph):
    return [(n.name, n.op, list(n.input)) for n in graph.as_graph_def().node]


def test_ref_variable_nodes(graph):
    tf.Variable([1.0, 2.0], name="v")
    assert nodes(graph) == [
        ("v/initial_value", "Const", []),
        ("v", "VariableV2", []),
        ("v/Assign", "Assign", ["v", "v/initial_value"]),
        ("v/read", "Identity", ["v"]),
    ]
    assert graph.get_operation_by_name("v/Assign").get_attr("_class") == [b"loc:@v"]


def test_a_view_of_a_variable_can_be_assigned_to_it():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    op = v.assign(tf.transpose(v))
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(op).tolist() == [[1.0, 3.0], [2.0, 4.0]]
        assert sess.run(op).tolist() == [[1.0, 2.0], [3.0, 4.0]]
