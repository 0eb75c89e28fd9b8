"""Collective ops in plans begin early and are waited for late."""

import re

import everflow as tf
from everflow.ops.array import collectives

CONFIG = tf.ConfigProto(device_count={"CPU": 2})


def _twice(value, device):
    with tf.device(device):
        x = tf.constant(value)
        once = collectives.all_reduce(x, 2, 1, 1, "Add", "Id")
        return collectives.all_reduce(once * 2.0, 2, 1, 2, "Add", "Id")


def test_one_exchange_after_the_other():
    """Both members must have left the first before one waits for the second."""
    with tf.Graph().as_default():
        fetches = [_twice([1.0], "/cpu:0"), _twice([2.0], "/cpu:1")]
        with tf.Session(config=CONFIG) as sess:
            assert [v.tolist() for v in sess.run(fetches)] == [[12.0], [12.0]]
            lines = re.findall(r"\((_CollectiveStart|_CollectiveWait)\)", sess.explain(fetches))
    assert [line[11:] for line in lines] == ["Start", "Start", "Wait", "Start", "Wait", "Start", "Wait", "Wait"]


def test_the_rest_is_computed_in_between():
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, [4])
        other = tf.reduce_sum(tf.exp(x))
        total = collectives.all_reduce(tf.sin(x), 2, 1, 1, "Add", "Id") + 1.0
        with tf.Session(config=CONFIG) as sess:
            lines = re.findall(r"\((_Collective\w+|Exp|Sin|AddV2)\)", sess.explain([total, other], [x]))
    assert lines == ["Sin", "_CollectiveStart", "Exp", "_CollectiveWait", "AddV2"] or lines == [
        "Exp", "Sin", "_CollectiveStart", "_CollectiveWait", "AddV2",
    ]  # fmt: skip


def test_in_branches():
    with tf.Graph().as_default():
        made = []
        for i in range(2):
            with tf.device(f"/cpu:{i}"):
                x = tf.constant([1.0 + i])
                use = tf.placeholder_with_default(True, [])
                made.append(tf.cond(use, lambda x=x: collectives.all_reduce(x, 2, 1, 5, "Add", "Id"), lambda x=x: x))
        with tf.Session(config=CONFIG) as sess:
            assert [v.tolist() for v in sess.run(made)] == [[3.0], [3.0]]


def test_partition_graphs_have_the_op_once():
    with tf.Graph().as_default():
        fetches = [_twice([1.0], "/cpu:0"), _twice([2.0], "/cpu:1")]
        metadata = tf.RunMetadata()
        with tf.Session(config=CONFIG) as sess:
            sess.run(fetches, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
    for graph in metadata.partition_graphs:
        assert [n.op for n in graph.node].count("CollectiveReduce") == 2
        assert len({n.name for n in graph.node}) == len(graph.node)
