"""RunMetadata of traced runs."""

import numpy as np
import pytest

import everflow as tf
from tests.runtime.traced import traced


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


def test_times_and_memory_of_what_a_node_gave():
    (device,) = traced().step_stats.dev_stats
    for stats in device.node_stats:
        assert stats.all_end_rel_micros >= 1 and stats.all_end_rel_nanos > 0
        assert stats.all_start_micros == stats.all_start_nanos // 1000
        assert stats.scheduled_micros <= stats.all_start_micros + 1
    memory = {n.node_name: n.output[0].tensor_description.allocation_description for n in device.node_stats}
    assert memory["product"].requested_bytes == 16 and memory["w"].requested_bytes == 24
    assert memory["product"].ptr and memory["w/read"].ptr == memory["w"].ptr  # a read shows the variable's memory


def test_the_cost_graph_has_edges_and_knows_what_was_fetched():
    nodes = {node.name: node for node in traced().cost_graph.node}
    number = {node.id: name for name, node in nodes.items()}
    assert [number[i.preceding_node] for i in nodes["y"].input_info] == ["act", "one"]
    assert {name for name, node in nodes.items() if node.is_final} == {"y"}
    assert [d.size for d in nodes["y"].output_info[0].shape.dim] == [2, 2] and nodes["y"].output_info[0].size == 16


def test_what_waits_is_in_the_label_and_text_has_a_size():
    metadata = tf.RunMetadata()
    with tf.control_dependencies([tf.random_uniform([], name="before")]):
        y = tf.py_func(lambda: np.array([b"ab", b"c"], object), [], tf.string, name="y")
    with tf.Session() as sess:
        sess.run(y, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    stats = {n.node_name: n for device in metadata.step_stats.dev_stats for n in device.node_stats}
    assert stats["y"].timeline_label.startswith("y = PyFunc(")
    assert [d.size for d in stats["y"].output[0].tensor_description.shape.dim] == [2]


def test_metadata_tells_of_the_last_run_only():
    with tf.Graph().as_default(), tf.Session() as sess:
        x, metadata = tf.random_uniform([2]) + 1.0, tf.RunMetadata()
        everything = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)

        def seen():
            return bool(metadata.step_stats.dev_stats), len(metadata.partition_graphs)

        for _ in range(2):
            sess.run(x, options=everything, run_metadata=metadata)
            assert seen() == (True, 1)
        sess.run(x, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
        assert seen() == (False, 1)
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(tf.placeholder(tf.float32), run_metadata=metadata)
        assert seen() == (False, 1)
        sess.run(x, run_metadata=metadata)
        assert seen() == (False, 0)


def test_a_run_of_constants_is_traced_as_it_was_drawn():
    metadata = tf.RunMetadata()
    with tf.Graph().as_default(), tf.Session() as sess:
        total = tf.constant(1, name="one") + tf.constant(2, name="two")
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        assert sess.run(total, options=options, run_metadata=metadata) == 3
    assert {"one", "two", "add"} <= {node.node_name for node in metadata.step_stats.dev_stats[0].node_stats}


def test_a_session_that_builds_a_cost_model_writes_the_cost_graph():
    options = tf.ConfigProto(graph_options=tf.GraphOptions(build_cost_model=1))
    metadata = tf.RunMetadata()
    with tf.Graph().as_default(), tf.Session(config=options) as sess:
        total = tf.placeholder_with_default(1.0, []) + 2.0
        full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        sess.run(total, options=full, run_metadata=metadata)
    assert [node.name for node in metadata.cost_graph.node if node.is_final] == [total.op.name]
