"""What fetches need, cut where values are fed."""

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan.program import FEED
from everflow.runtime.plan.prune import describe_dtype, prune


def names(pruned):
    return [node.name for node in pruned.nodes if node.type != FEED]


def test_only_what_is_needed_in_the_order_it_was_made():
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    raw.Exp(x=a, name="not_needed")
    y = raw.Neg(x=raw.AddV2(x=b, y=a, name="sum"), name="y")
    assert names(prune([y], [])) == ["a", "b", "sum", "y"]
    assert names(prune([b], [])) == ["b"]
    assert names(prune([], [])) == []


def test_nothing_above_a_feed_is_needed():
    x = tf.placeholder(tf.float32, [2], name="x")
    middle = raw.Neg(x=x, name="middle")
    y = raw.Exp(x=middle, name="y")
    pruned = prune([y, middle], [middle])
    assert names(pruned) == ["y"]
    (feed,) = pruned.feeds
    assert pruned.fetches == [(pruned.nodes[-1], 0), (feed, 0)] and pruned.nodes[-1].inputs == [(feed, 0)]
    assert (feed.value, feed.output_dtypes, feed.output_shapes[0].as_list()) == (0, [tf.float32], [2])


def test_feeds_are_numbered_even_where_nobody_takes_them():
    x, y = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="y")
    pruned = prune([raw.Neg(x=y)], [x, y])
    assert [(f.name, f.value) for f in pruned.feeds] == [("x", 0), ("y", 1)]
    assert [node.index for node in pruned.nodes] == [0, 1, 2]


def test_one_output_may_be_fed_and_another_computed():
    unique = raw.Unique(x=tf.constant([1, 1]), name="u")
    total = raw.AddV2(x=unique.y, y=unique.idx)
    pruned = prune([total], [unique.y])
    assert "u" in names(pruned) and pruned.nodes[-1].inputs[0] == (pruned.feeds[0], 0)
    assert pruned.nodes[-1].inputs[1][1] == 1


def test_what_is_waited_for_is_needed_unless_it_was_done():
    first = tf.no_op(name="first")
    with tf.control_dependencies([first]):
        y = tf.constant(1.0, name="y")
    pruned = prune([y], [])
    assert names(pruned) == ["first", "y"] and pruned.nodes[1].controls == [pruned.nodes[0]]
    assert names(prune([y], [], frozenset([first]))) == ["y"]


def test_waiting_for_a_fed_placeholder_is_waiting_for_its_feed():
    x = tf.placeholder(tf.float32, [])
    with tf.control_dependencies([x]):
        y = tf.constant(1.0, name="y")
    assert names(prune([y], [x])) == ["y"]


def test_an_operation_is_a_fetch_too():
    op = tf.no_op(name="n")
    pruned = prune([op], [])
    assert pruned.fetches == [pruned.nodes[0]]


def test_inputs_come_first_where_a_graph_was_wired_in_another_order():
    a = tf.constant(1.0, name="a")
    early = raw.Neg(x=a, name="early")
    late = raw.Exp(x=a, name="late")
    early.op._update_input(0, late)
    assert names(prune([early], [])) == ["a", "late", "early"]


def test_a_circle_is_told_of_and_a_loop_is_none():
    x = tf.constant(1.0, name="x")
    a = raw.Neg(x=x, name="a")
    b = raw.Exp(x=a, name="b")
    a.op._update_input(0, b)
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 nodes wait for each other, among them 'a', 'b'"):
        prune([b], [])
    assert names(prune([b], [a])) == ["b"]
    loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    assert "while/NextIteration" in names(prune([loop], []))


def test_nodes_by_device():
    pruned = prune([raw.AddV2(x=tf.constant(1.0), y=tf.constant(2.0))], [])
    for node, device in zip(pruned.nodes, "aba", strict=True):
        node.device = device
    assert {device: len(nodes) for device, nodes in pruned.by_device().items()} == {"a": 2, "b": 1}


def test_names_of_types_in_messages():
    assert [describe_dtype(t) for t in (tf.float32, tf.float64._as_ref, tf.float16, tf.int32)] == [
        "float",
        "double",
        "half",
        "int32",
    ]
