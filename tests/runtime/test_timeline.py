"""Timelines of traced runs, in the form Chrome reads."""

import json

from everflow.protos import step_stats_pb2
from everflow.runtime import timeline
from tests.runtime.traced import traced


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


def step_stats(*nodes):
    """StepStats of (device, name, label, start, duration, bytes of its output)."""
    stats = step_stats_pb2.StepStats()
    devices = {}
    for device, name, label, start, duration, size in nodes:
        if device not in devices:
            devices[device] = stats.dev_stats.add(device=device)
        made = devices[device].node_stats.add(
            node_name=name, timeline_label=label, all_start_micros=start, all_end_rel_micros=duration
        )
        description = made.output.add(slot=0).tensor_description.allocation_description
        description.requested_bytes, description.allocator_name = size, "mine"
    return stats


def events(stats, **options):
    return json.loads(timeline.Timeline(stats).generate_chrome_trace_format(**options))["traceEvents"]


def test_nodes_that_overlap_are_drawn_side_by_side():
    stats = step_stats(
        ("d", "a", "a = A()", 0, 10, 1), ("d", "b", "b = B()", 5, 10, 1), ("d", "c", "c = C()", 10, 5, 1)
    )
    lanes = {e["name"]: e["tid"] for e in events(stats) if e["ph"] == "X"}
    assert lanes == {"A": 0, "B": 1, "C": 0}


def test_arrows_lead_from_device_to_device_and_none_along_one_lane():
    nodes = [("d", "a", "a = A()", 0, 1, 1), ("d", "b", "b = B(a)", 2, 1, 1), ("e", "c", "c = C(b, ^a)", 4, 1, 1)]
    arrows = [e for e in events(step_stats(*nodes)) if e.get("cat") == "DataFlow"]
    assert [(e["ph"], e["name"]) for e in arrows] == [("s", "b"), ("t", "b")]
    assert arrows[0]["id"] == arrows[1]["id"] and arrows[0]["pid"] != arrows[1]["pid"]


def test_the_most_memory_that_was_held_at_a_time():
    nodes = [("d", "a", "a = A()", 0, 1, 100), ("d", "b", "b = B(a)", 2, 1, 50), ("d", "c", "c = C(b)", 9, 1, 30)]
    maximum = timeline.Timeline(step_stats(*nodes)).analyze_step_stats().allocator_maximums["mine"]
    assert (maximum.timestamp, maximum.num_bytes, maximum.tensors) == (2, 150, {"a", "b"})


def test_a_label_of_another_form_is_shown_by_name():
    (event,) = [e for e in events(step_stats(("d", "a", "something", 0, 1, 1))) if e["ph"] == "X"]
    assert event["args"] == {"name": "a", "op": "unknown"}


def test_every_device_has_rows_of_its_own():
    stats = step_stats(("d", "a", "a = A()", 0, 1, 1), ("e", "b", "b = B()", 0, 1, 1))
    names = [e["args"]["name"] for e in events(stats) if e["ph"] == "M"]
    assert names == ["Allocators", "d Compute", "d Tensors", "e Compute", "e Tensors"]
    assert events(step_stats()) == [e for e in events(stats) if e["args"]["name"] == "Allocators"]
