"""RunMetadata of traced runs, and timelines made of it."""

import json

import numpy as np

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.protos.rewriter_config_pb2 import RewriterConfig
from everflow.runtime import timeline

FULL = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
PLAIN = tf.ConfigProto(
    graph_options=tf.GraphOptions(rewrite_options=RewriterConfig(disable_meta_optimizer=True), build_cost_model=1)
)


def traced():
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    w = raw.VariableV2(shape=[3, 2], dtype=tf.float32, name="w")
    init = raw.Assign(ref=w, value=tf.constant(np.ones((3, 2), np.float32)))
    product = raw.MatMul(a=x, b=raw.Identity(input=w, name="w/read"), name="product")
    y = raw.AddV2(x=raw.Relu(features=product, name="act"), y=tf.constant(1.0, name="one"), name="y")
    raw.Exp(x=y, name="not_needed")
    metadata = tf.RunMetadata()
    with tf.Session(config=PLAIN) as sess:
        sess.run(init)
        value = sess.run(y, {x: np.ones((2, 3))}, options=FULL, run_metadata=metadata)
        assert value.tolist() == [[4, 4], [4, 4]]
        plain = tf.RunMetadata()
        sess.run(y, {x: np.ones((2, 3))}, run_metadata=plain)
        assert not plain.step_stats.dev_stats
    return metadata


def test_step_stats():
    metadata = traced()
    (device,) = metadata.step_stats.dev_stats
    assert device.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    stats = {n.node_name: n for n in device.node_stats}
    assert set(stats) == {"w", "w/read", "product", "act", "one", "y"}
    assert stats["act"].timeline_label == "act = Relu(product)"
    output = stats["product"].output[0].tensor_description
    assert output.dtype == 1 and [d.size for d in output.shape.dim] == [2, 2]
    assert stats["product"].all_start_micros > 0
    assert {n.name for n in metadata.cost_graph.node} == set(stats)


def test_timeline():
    stats = traced().step_stats
    trace = json.loads(timeline.Timeline(stats).generate_chrome_trace_format(show_memory=True))
    events = {e["args"]["name"]: e for e in trace["traceEvents"] if e["ph"] == "X"}
    assert events["y"]["args"] == {"name": "y", "op": "AddV2", "input0": "act", "input1": "one"}
    assert {e["ph"] for e in trace["traceEvents"]} >= {"M", "X", "N", "O", "D", "C"}
    plain = json.loads(timeline.Timeline(stats).generate_chrome_trace_format(show_dataflow=False))
    assert {e["ph"] for e in plain["traceEvents"]} == {"M", "X"}
    analysis = timeline.Timeline(stats).analyze_step_stats()
    assert analysis.allocator_maximums["cpu"].num_bytes > 0
