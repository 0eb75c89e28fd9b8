"""What a traced run leaves behind: the times of its nodes as StepStats, and a cost graph."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.protos import config_pb2, step_stats_pb2
    from everflow.runtime.hints import Runnable, Value
    from everflow.runtime.plan.program import Node


class Output(NamedTuple):
    """What a trace tells of one output: its memory, not its values."""

    dtype: int
    sizes: list[int]
    size_in_bytes: int
    address: int


class Record(NamedTuple):
    """One node that ran, with times in nanoseconds since the epoch."""

    node: Node
    start: int
    end: int
    outputs: list[Output]


NOT_THERE: Any = object()  # what recorders get for an output whose branch isn't taken


class StepTrace:
    """Collects one record for each node that a traced plan runs."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def record(self, node: Node, start: int, end: int, values: list[Value]) -> None:
        """Called by the emitted function after each node: times in nanoseconds since the epoch, values of the outputs
        in use.
        """
        described = [
            _describe(value, dtype)
            for value, dtype in zip(values, node.output_dtypes, strict=False)
            if value is not NOT_THERE
        ]
        self.records.append(Record(node, start, end, described))

    def write(self, step_stats: step_stats_pb2.StepStats, started: float) -> None:
        """Fill a StepStats proto: a DeviceStepStats for each device, its nodes in the order they ran."""
        by_device: dict = {}
        thread = threading.get_ident() & 0x7FFFFFFF
        for node, start, end, outputs in self.records:
            if node.device not in by_device:
                by_device[node.device] = step_stats.dev_stats.add(device=node.device)
            stats = by_device[node.device].node_stats.add(
                node_name=node.name,
                all_start_micros=start // 1000,
                op_start_rel_micros=0,
                op_end_rel_micros=max(1, (end - start) // 1000),
                all_end_rel_micros=max(1, (end - start) // 1000),
                all_start_nanos=start,
                op_end_rel_nanos=end - start,
                all_end_rel_nanos=end - start,
                scheduled_micros=int(started * 1e6),
                thread_id=thread,
                timeline_label=_label(node),
            )
            for slot, (dtype, sizes, size_in_bytes, pointer) in enumerate(outputs):
                output = stats.output.add(slot=slot)
                description = output.tensor_description
                description.dtype = dtype
                for size in sizes:
                    description.shape.dim.add(size=size)
                description.allocation_description.requested_bytes = size_in_bytes
                description.allocation_description.allocated_bytes = size_in_bytes
                description.allocation_description.allocator_name = "cpu"
                description.allocation_description.ptr = pointer


def _describe(value: Value, dtype: DType) -> Output:
    """A kernel's value as a trace shows it."""
    number = dtype.as_datatype_enum
    value = getattr(value, "value", value)
    if isinstance(value, np.ndarray):
        return Output(number, list(value.shape), int(value.nbytes), int(value.ctypes.data))
    if hasattr(value, "data_ptr"):
        return Output(number, list(value.shape), value.numel() * value.element_size(), value.data_ptr())
    return Output(number, [], 0, 0)


def _label(node: Node) -> str:
    """`name = Type(input, input)`, as timelines show it."""
    names = [source.name if output == 0 else f"{source.name}:{output}" for source, output in node.inputs]
    names += ["^" + source.name for source in node.controls]
    op_type = node.op.type if node.type.startswith("_") and node.op is not None else node.type
    return f"{node.name} = {op_type}({', '.join(names)})"


def write_cost_graph(run_metadata: config_pb2.RunMetadata, plan: Runnable, trace: StepTrace) -> None:
    """Fill RunMetadata.cost_graph: each node with its device, time and size of outputs."""
    cost_graph = run_metadata.cost_graph
    numbers = {record.node: i for i, record in enumerate(trace.records)}
    # A run that is interpreted, node by node, has the part of the graph as it was drawn for a program.
    program = plan.program
    ends = program.top.end.inputs if hasattr(program, "top") else program.fetches
    final = {end[0] if isinstance(end, tuple) else end for end in ends}
    for node, start, end, outputs in trace.records:
        cost = cost_graph.node.add(
            name=node.name,
            device=node.device,
            id=numbers[node],
            compute_time=(end - start) // 1000,
            compute_cost=(end - start) // 1000,
        )
        for source, output in node.inputs:
            if source in numbers:
                cost.input_info.add(preceding_node=numbers[source], preceding_port=output)
        for dtype, sizes, size_in_bytes, _ in outputs:
            info = cost.output_info.add(size=size_in_bytes, alias_input_port=-1, dtype=dtype)
            for size in sizes:
                info.shape.dim.add(size=size)
        cost.is_final = node in final
