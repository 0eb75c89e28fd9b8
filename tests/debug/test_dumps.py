"""What is dumped of a run, beside the values of its nodes, and what a dump is asked."""

import os
import re

import numpy as np
import pytest

import everflow as tf
from everflow.debug import dumps, watches


def _dump(folder, sess, fetches, *watched, feed_dict=None, **options):
    """The dump of a run in which outputs are watched, or all."""
    run = tf.RunOptions()
    for name, debug_op in watched:
        watches.add_debug_tensor_watch(run, name, 0, debug_ops=debug_op, debug_urls=f"file://{folder}", **options)
    if not watched:
        watches.watch_graph(run, sess.graph, debug_urls=f"file://{folder}")
    sess.run(fetches, feed_dict, options=run)
    return dumps.DebugDumpDir(str(folder))


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _variable(sess, value, name="v"):
    v = tf.Variable(value, name=name)
    sess.run(v.initializer)
    return v


def test_what_is_fed_and_fetched_has_nodes(sess, tmp_path):
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.add(x, x, name="y")
    dump = _dump(tmp_path / "d", sess, y, feed_dict={x: [1.0, 2.0]})
    assert sorted(dump.nodes()) == ["_arg_x_0_0", "_retval_y_0_0", "y"]
    assert dump.get_tensors("_arg_x_0_0", 0, "DebugIdentity")[0].tolist() == [1.0, 2.0]
    assert dump.node_inputs("y") == ["_arg_x_0_0", "_arg_x_0_0"]


def test_what_is_no_array(sess, tmp_path):
    unset = tf.Variable(np.zeros([2, 3], np.float32), name="unset")
    queue = tf.FIFOQueue(1, tf.float32, name="queue")
    dump = _dump(tmp_path / "d", sess, [tf.is_variable_initialized(unset), queue.size()])
    values = {datum.node_name: datum.get_tensor() for datum in dump.dumped_tensor_data}
    assert not values["unset"].initialized and "size: 3" in str(values["unset"])
    assert values["queue"].initialized


def _summary(folder, sess, value, settings=""):
    v = _variable(sess, value)
    data = _dump(folder, sess, v.read_value(), (v.op.name, "DebugNumericSummary" + settings)).dumped_tensor_data
    return [datum.get_tensor().tolist()[1:8] for datum in data]


def test_summaries_with_bounds(sess, tmp_path):
    assert _summary(tmp_path / "d", sess, [1.0, -5.0, 10.0], "(lower_bound=-2.0; upper_bound=3.0)") == [
        [3, 0, 1, 0, 0, 1, 1]
    ]


@pytest.mark.parametrize(("value", "count"), [([1.0, 2.0], 0), ([1.0, np.nan], 1)])
def test_what_is_healthy_can_be_left_out(sess, tmp_path, value, count):
    os.makedirs(tmp_path / "d")
    assert len(_summary(tmp_path / "d", sess, value, "(mute_if_healthy=true)")) == count


def test_summaries_that_can_not_be(sess, tmp_path):
    with pytest.raises(tf.errors.FailedPreconditionError, match="foo, bar"):
        _summary(tmp_path / "d", sess, [1.0], "(foo=1.0; bar=false)")
    with pytest.raises(tf.errors.FailedPreconditionError, match="strings"):
        _summary(tmp_path / "d", sess, ["a"])
    text = _variable(sess, ["a"])
    both = [(text.op.name, debug_op) for debug_op in ("DebugNumericSummary", "DebugIdentity")]
    dump = _dump(tmp_path / "e", sess, text.read_value(), *both, tolerate_debug_op_creation_failures=True)
    assert [datum.debug_op for datum in dump.dumped_tensor_data] == ["DebugIdentity"]


def test_the_order_of_dumps_is_checked(sess, tmp_path):
    v = _variable(sess, 2.0)
    dump = _dump(tmp_path / "d", sess, tf.multiply(v, v, name="w"))
    first, last = dump.dumped_tensor_data[0], dump.dumped_tensor_data[-1]
    os.rename(first.file_path, re.sub(r"\d+$", str(last.timestamp + 1), first.file_path))
    with pytest.raises(ValueError, match="older"):
        dumps.DebugDumpDir(str(tmp_path / "d"))
    dumps.DebugDumpDir(str(tmp_path / "d"), validate=False)


def test_ways_through_what_is_written_by_reference(sess, tmp_path):
    v = _variable(sess, 1.0)
    more = tf.assign_add(v, tf.constant(2.0, name="delta"), name="more")
    dump = _dump(tmp_path / "d", sess, more)
    assert dump.find_some_path("delta", "v") is None
    assert dump.find_some_path("delta", "v", include_reversed_ref=True) == ["delta", "more", "v"]
    assert dump.transitive_inputs("more") == ["v", "delta"] and dump.transitive_inputs("v") == []
    with pytest.raises(KeyError):
        dump.node_inputs("more", device_name="/device:CPU:7")


def test_the_branch_that_is_taken(sess, tmp_path):
    x = _variable(sess, 10.0)
    dump = _dump(tmp_path / "d", sess, tf.cond(x > 5.0, lambda: x + 1.0, lambda: x - 1.0))
    assert dump.get_tensors("cond/Merge", 0, "DebugIdentity") == [11.0]
    assert dump.debug_watch_keys("cond/Switch") == ["cond/Switch:1:DebugIdentity"]
