"""RunMetadata of traced runs."""

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
