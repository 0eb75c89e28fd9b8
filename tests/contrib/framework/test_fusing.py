"""fuse_op: one node in place of many."""

import pytest

import everflow as tf

fuse_op = tf.contrib.framework.fuse_op


@pytest.fixture
def graph_def():
    with tf.Graph().as_default() as graph:
        a, b = tf.placeholder(tf.float32, name="a"), tf.placeholder(tf.float32, name="b")
        c = tf.add(a, b, name="c")
        d = tf.multiply(c, c, name="d")
        tf.identity(d, name="f")
        tf.identity(c, name="h")
        tf.identity(a, name="y")
        return graph.as_graph_def()


def test_what_lies_between_is_replaced(graph_def):
    fused = fuse_op(graph_def, ["a", "b"], ["f", "h"], [tf.float32.as_datatype_enum] * 2, False, "fused", "MyOp")
    assert [(node.name, node.op, list(node.input)) for node in fused.node] == [
        ("a", "Placeholder", []),
        ("b", "Placeholder", []),
        ("fused", "MyOp", ["a", "b"]),
        ("f", "Identity", ["fused"]),
        ("h", "Identity", ["fused:1"]),
        ("y", "Identity", ["a"]),
    ]
    assert list(fused.node[2].attr["_output_types"].list.type) == [1, 1]


def test_wrong_arguments(graph_def):
    for arguments, error in [
        (("graph", ["a"], ["f"]), TypeError),
        ((graph_def, "a", ["f"]), TypeError),
        ((graph_def, ["other"], ["f"]), AssertionError),
        ((graph_def, ["a"], ["d"]), AssertionError),
    ]:
        with pytest.raises(error):
            fuse_op(*arguments, [1], False, "fused", "MyOp")
