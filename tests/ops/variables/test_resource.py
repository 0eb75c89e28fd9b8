"""Resource variables: reads are snapshots."""

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def nodes(graph):
    return [(n.name, n.op, list(n.input)) for n in graph.as_graph_def().node]


def test_resource_variable_nodes(graph):
    tf.Variable(lambda: tf.zeros([2]), name="v", use_resource=True)
    assert nodes(graph) == [
        ("v/Initializer/zeros", "Const", []),
        ("v", "VarHandleOp", []),
        ("v/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp", ["v"]),
        ("v/Assign", "AssignVariableOp", ["v", "v/Initializer/zeros"]),
        ("v/Read/ReadVariableOp", "ReadVariableOp", ["v"]),
    ]


def test_resource_reads_are_snapshots():
    v = tf.Variable(1.0, use_resource=True)
    before = v.read_value()
    with tf.control_dependencies([before]):
        change = v.assign_add(1.0)
    with tf.control_dependencies([change]):
        after = v.read_value()
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run([before, after]) == [1.0, 2.0]


def test_reads_after_a_change_stand_where_the_program_says():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    w = tf.get_variable("w", initializer=1.0, use_resource=True)
    changed = v.assign_add(1.0)
    with tf.colocate_with(w.op):
        assert changed.value().op.colocation_groups() == [b"loc:@w"]
        assert changed.read_value().op.type == "ReadVariableOp"
