"""What is in the newest event file of a folder."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable

import numpy as np

from everflow.protos.event_pb2 import Event
from everflow.protos.summary_pb2 import Summary
from everflow.train import summary_iterator


def assert_summary(
    expected_tags: Iterable[str], expected_simple_values: Iterable[float], summary_proto: Summary
) -> None:
    """Fail unless a summary has just these tags, with these values, in this order."""
    found = [(value.tag, value.simple_value) for value in summary_proto.value]
    expected = list(zip(expected_tags, map(np.float32, expected_simple_values)))
    assert [tag for tag, _ in found] == [tag for tag, _ in expected], f"{found} is not {expected}"
    np.testing.assert_allclose([value for _, value in found], [value for _, value in expected])


def to_summary_proto(summary_str: bytes) -> Summary:
    """The Summary of its bytes."""
    return Summary.FromString(summary_str)


def latest_event_file(base_dir: str) -> str | None:
    """The event file of a folder whose name comes last; None where there is none."""
    return max(glob.glob(os.path.join(base_dir, "events*")), default=None)


def latest_events(base_dir: str) -> list[Event]:
    """The events of the newest event file of a folder."""
    path = latest_event_file(base_dir)
    return list(summary_iterator(path)) if path is not None else []


def latest_summaries(base_dir: str) -> list[Event]:
    """Those of `latest_events` that hold a summary."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


def simple_values_from_events(events: Iterable[Event], tags: Iterable[str]) -> dict[int, dict[str, float]]:
    """{step: {tag: value}} of some tags in events."""
    wanted, found = set(tags), {}
    for event in events:
        for value in event.summary.value if event.HasField("summary") else ():
            if value.tag in wanted:
                found.setdefault(event.step, {})[value.tag] = value.simple_value
    return found
