"""What graphs hold: two GraphDefs compared node by node, whatever the order of their nodes, and ops that must be there."""

from __future__ import annotations

from everflow.protos import graph_pb2


def assert_equal_graph_def(actual, expected, checkpoint_v2=False, hash_table_shared_name=False):
    """Raise AssertionError unless two GraphDefs have equal nodes.

    Args:
        actual: One GraphDef.
        expected: The other.
        checkpoint_v2: Whether what names temporary checkpoint files is left out.
        hash_table_shared_name: Whether the shared names of tables are left out.

    Returns:
        None.

    Raises:
        AssertionError: If they differ.
        TypeError: If they are no GraphDefs.

    Example:
        >>> c = tf.constant(1.0)
        >>> tf.test.assert_equal_graph_def(sess.graph.as_graph_def(), sess.graph.as_graph_def())
    """
    for name, graph_def in (("actual", actual), ("expected", expected)):
        if not isinstance(graph_def, graph_pb2.GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {name}, got {type(graph_def).__name__}")
    ours, theirs = (
        {node.name: _comparable(node, checkpoint_v2, hash_table_shared_name) for node in graph_def.node}
        for graph_def in (actual, expected)
    )
    if missing := sorted(set(theirs) - set(ours)):
        raise AssertionError(f"Expected nodes are missing: {missing}")
    if unexpected := sorted(set(ours) - set(theirs)):
        raise AssertionError(f"Nodes are there that are not expected: {unexpected}")
    for name, node in ours.items():
        other = theirs[name]
        if node.op != other.op:
            raise AssertionError(f"Node named {name!r} has op {node.op!r} that is not expected {other.op!r}")
        if node != other:
            raise AssertionError(f"Node named {name!r} differs:\n{node}\nexpected:\n{other}")


assert_equal_graph_def_v1 = assert_equal_graph_def


def assert_equal_graph_def_v2(expected, actual):
    """Raise AssertionError unless GraphDefs have equal nodes, whatever temporary files and tables are called."""
    assert_equal_graph_def(actual, expected, checkpoint_v2=True, hash_table_shared_name=True)


def assert_ops_in_graph(expected_ops, graph):
    """The nodes of a graph with the names in {name: op type}; ValueError where one is missing or of another type."""
    found = {node.name: node for node in graph.as_graph_def().node if node.name in expected_ops}
    for name, node in found.items():
        if node.op != expected_ops[name]:
            raise ValueError(f"Expected op for node {name} is different. {expected_ops[name]} vs {node.op}")
    if set(found) != set(expected_ops):
        raise ValueError(
            f"Not all expected ops are there: {sorted(set(expected_ops) - set(found))} are missing among {sorted(found)}."
        )
    return found


def get_node_def_from_graph(node_name, graph_def):
    """The node of a GraphDef that has a name, or None."""
    return next((node for node in graph_def.node if node.name == node_name), None)


def _comparable(node, checkpoint_v2, hash_table_shared_name):
    copy = type(node)()
    copy.CopyFrom(node)
    # Control inputs may come in any order.
    data = [name for name in copy.input if not name.startswith("^")]
    control = sorted(name for name in copy.input if name.startswith("^"))
    del copy.input[:]
    copy.input.extend(data + control)
    if hash_table_shared_name and copy.op in ("HashTable", "HashTableV2"):
        copy.attr.pop("shared_name", None)
    if (
        checkpoint_v2
        and copy.op == "Const"
        and any("_temp_" in value.decode(errors="replace") for value in copy.attr["value"].tensor.string_val)
    ):
        copy.attr.pop("value")
    return copy


def assert_meta_graph_protos_equal(tester, a, b):
    """That two MetaGraphDefs are equal, for a TestCase: their collections as messages, whatever the order of nodes."""
    a, b = (type(meta_graph).FromString(meta_graph.SerializeToString()) for meta_graph in (a, b))
    tester.assertEqual(set(a.collection_def), set(b.collection_def))
    for key in a.collection_def:
        tester.assertEqual(a.collection_def[key], b.collection_def[key], f"in the collection {key!r}")
    assert_equal_graph_def(a.graph_def, b.graph_def)
    for meta_graph in (a, b):
        meta_graph.ClearField("collection_def")
        meta_graph.ClearField("graph_def")
    tester.assertEqual(a, b)


def set_producer_version(graph, producer_version):
    """Let a graph say that a TensorFlow of this version made it."""
    graph._producer = producer_version
