"""A profile of the process while it is being taken: what ran, when, and for how long. Eager execution and sessions write
into it; `profiler/live.py` begins and ends it.
"""

from __future__ import annotations

import threading
import time
from typing import NamedTuple

from everflow.protos import config_pb2


class Event(NamedTuple):
    """Something that ran on a thread, with times in nanoseconds since the epoch."""

    name: str
    kind: str
    thread: int
    start: int
    end: int


class Recorder:
    """Takes events between `begin` and `end`."""

    def __init__(self) -> None:
        self.running = False
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._began = 0

    def begin(self) -> bool:
        """Take events from now on; False where that is done already."""
        with self._lock:
            if self.running:
                return False
            self._events, self._began, self.running = [], time.time_ns(), True
            return True

    def end(self) -> tuple[int, list[Event]] | None:
        """(when it began, what ran since then), and no more of it; None where nothing was being taken."""
        with self._lock:
            if not self.running:
                return None
            self.running = False
            return self._began, self._events

    def record(self, name: str, kind: str, start: int, end: int) -> None:
        """Something ran on this thread."""
        self._events.append(Event(name, kind, threading.get_ident(), start, end))

    def record_run(self, metadata: config_pb2.RunMetadata, start: int, end: int) -> None:
        """A session's run, and each of its nodes."""
        self.record("SessionRun", "SessionRun", start, end)
        for device in metadata.step_stats.dev_stats:
            for node in device.node_stats:
                begun = node.all_start_nanos or node.all_start_micros * 1000
                lasted = node.all_end_rel_nanos or node.all_end_rel_micros * 1000
                # A label is a node's name, its op type and its inputs: "sum = Add(a, b)".
                kind = node.timeline_label.partition("=")[2].partition("(")[0].strip()
                self.record(node.node_name, kind or node.node_name, begun, begun + lasted)


RECORDER = Recorder()
