"""StepStats as a Chrome trace (about:tracing): which op ran where and when, and what memory its results took."""

from __future__ import annotations

import json
import re
from collections import namedtuple
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from everflow.framework.graph import Graph
    from everflow.protos import step_stats_pb2

# A node's times, and the lane that it is drawn in.
_Laned: TypeAlias = "tuple[step_stats_pb2.NodeExecStats, int]"

AllocationMaximum = namedtuple("AllocationMaximum", ("timestamp", "num_bytes", "tensors"))
StepStatsAnalysis = namedtuple("StepStatsAnalysis", ("chrome_trace", "allocator_maximums"))

_LABEL = re.compile(r"^(?P<name>[^ ]*) = (?P<op>[^(]*)\((?P<inputs>.*)\)$")


class ChromeTrace:
    """Events of a trace, in the JSON form Chrome reads."""

    def __init__(self) -> None:
        self._metadata: list[dict] = []
        self._events: list[dict] = []

    def process(self, name: str, pid: int) -> None:
        self._metadata.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}})

    def event(self, ph: str, category: str, name: str, pid: int, tid: int, ts: int, **fields: Any) -> None:
        self._events.append({"ph": ph, "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts, **fields})

    def format_to_string(self, pretty: bool = False) -> str:
        trace = {"traceEvents": self._metadata + self._events}
        return (
            json.dumps(trace, indent=4, separators=(",", ": ")) if pretty else json.dumps(trace, separators=(",", ":"))
        )


class _TensorLife:
    """A tensor of the step: who made it, when, how big, and when it was last needed."""

    def __init__(
        self,
        name: str,
        number: int,
        pid: int,
        lane: int,
        created: int,
        size: int,
        allocator: str,
        description: str,
    ) -> None:
        self.name = name
        self.number = number
        self.pid = pid
        self.lane = lane
        self.created = created
        self.last_used = created
        self.size = size
        self.allocator = allocator
        self.description = description


class Timeline:
    """Turns `RunMetadata.step_stats` into a trace.

    >>> trace = timeline.Timeline(run_metadata.step_stats).generate_chrome_trace_format()
    """

    def __init__(self, step_stats: step_stats_pb2.StepStats, graph: Graph | None = None) -> None:
        self._step_stats = step_stats
        self._graph = graph
        self._pids: dict[str, tuple[int, int]] = {}
        self._tensors: dict[str, _TensorLife] = {}

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False) -> str:
        """The trace as JSON text; `show_memory` adds the life of each tensor and the memory in use."""
        return self.analyze_step_stats(
            show_dataflow=show_dataflow, show_memory=show_memory
        ).chrome_trace.format_to_string(pretty=True)

    def analyze_step_stats(self, show_dataflow: bool = True, show_memory: bool = True) -> StepStatsAnalysis:
        """The trace, and for each allocator the time and tensors at which it held most."""
        trace = ChromeTrace()
        trace.process("Allocators", 0)
        for number, device in enumerate(self._step_stats.dev_stats):
            self._pids[device.device] = (2 * number + 1, 2 * number + 2)
            trace.process(f"{device.device} Compute", 2 * number + 1)
            trace.process(f"{device.device} Tensors", 2 * number + 2)
        lanes = {device.device: _lanes(device.node_stats) for device in self._step_stats.dev_stats}
        self._find_tensors(lanes)
        arrows = 0
        for device in self._step_stats.dev_stats:
            pid = self._pids[device.device][0]
            for stats, lane in lanes[device.device]:
                name, op, inputs = _parse(stats)
                arguments = {"name": name, "op": op, **{f"input{i}": source for i, source in enumerate(inputs)}}
                trace.event(
                    "X", "Op", op, pid, lane, stats.all_start_micros, dur=stats.all_end_rel_micros, args=arguments
                )
                for source in inputs:
                    tensor = self._tensors.get(source)
                    if tensor is None:
                        continue
                    tensor.last_used = max(tensor.last_used, stats.all_start_micros + stats.all_end_rel_micros)
                    if show_dataflow and (tensor.pid, tensor.lane) != (pid, lane):
                        trace.event("s", "DataFlow", source, tensor.pid, tensor.lane, tensor.created, id=arrows)
                        trace.event("t", "DataFlow", source, pid, lane, stats.all_start_micros, id=arrows)
                        arrows += 1
        maximums = self._memory(trace if show_memory else None)
        return StepStatsAnalysis(chrome_trace=trace, allocator_maximums=maximums)

    def _find_tensors(self, lanes: dict[str, list[_Laned]]) -> None:
        for device in self._step_stats.dev_stats:
            for stats, lane in lanes[device.device]:
                for output in stats.output:
                    name = stats.node_name if output.slot == 0 else f"{stats.node_name}:{output.slot}"
                    allocation = output.tensor_description.allocation_description
                    self._tensors[name] = _TensorLife(
                        name,
                        len(self._tensors),
                        self._pids[device.device][0],
                        lane,
                        stats.all_start_micros,
                        allocation.requested_bytes,
                        allocation.allocator_name or "cpu",
                        str(output.tensor_description).replace('"', ""),
                    )

    def _memory(self, trace: ChromeTrace | None) -> dict[str, AllocationMaximum]:
        changes: dict[str, list] = {}
        for tensor in self._tensors.values():
            changes.setdefault(tensor.allocator, []).append((tensor.created, tensor.size, tensor.name))
            changes[tensor.allocator].append((tensor.last_used, -tensor.size, tensor.name))
            if trace is not None:
                pid = tensor.pid + 1
                trace.event("N", "Tensor", tensor.name, pid, 0, tensor.created, id=tensor.number)
                snapshot = {"snapshot": {"tensor_description": tensor.description}}
                trace.event("O", "Tensor", tensor.name, pid, 0, tensor.created, id=tensor.number, args=snapshot)
                trace.event("D", "Tensor", tensor.name, pid, 0, tensor.last_used, id=tensor.number)
        maximums = {}
        for allocator, events in changes.items():
            total, best, live = 0, AllocationMaximum(0, 0, set()), set()
            for when, size, name in sorted(events, key=lambda event: event[0]):
                total += size
                (live.add if size >= 0 else live.discard)(name)
                if total > best.num_bytes:
                    best = AllocationMaximum(when, total, set(live))
                if trace is not None:
                    trace.event("C", "Memory", allocator, 0, 0, when, args={allocator: total})
            maximums[allocator] = best
        return maximums


def _lanes(node_stats: Iterable[step_stats_pb2.NodeExecStats]) -> list[tuple]:
    """Each node with the first lane that is free when it starts, so that overlapping ones are drawn side by side."""
    free: list[int] = []
    result = []
    for stats in node_stats:
        end = stats.all_start_micros + stats.all_end_rel_micros
        for lane, until in enumerate(free):
            if stats.all_start_micros >= until:
                free[lane] = end
                break
        else:
            lane = len(free)
            free.append(end)
        result.append((stats, lane))
    return result


def _parse(stats: step_stats_pb2.NodeExecStats) -> tuple[str, str, list[str]]:
    """Name, op type and inputs out of a label like `c = MatMul(a, b)`."""
    match = _LABEL.match(stats.timeline_label)
    if match is None:
        return stats.node_name, "unknown", []
    inputs = [name for name in match["inputs"].split(", ") if name and not name.startswith("^")]
    return match["name"], match["op"], inputs
