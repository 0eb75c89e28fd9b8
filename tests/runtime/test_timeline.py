"""Timelines of traced runs, in the form Chrome reads."""

import json

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
