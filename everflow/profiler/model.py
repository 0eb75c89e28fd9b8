"""What a profile knows of a graph: nodes with their sizes and float operations, and what they took in each step."""

from __future__ import annotations

import dataclasses
import math

from everflow.framework.shapes import TensorShape
from everflow.platform import logging
from everflow.profiler.statistics import get_stats_for_node_def
from everflow.protos import tfprof_log_pb2

TRAINABLE = "_trainable_variables"


@dataclasses.dataclass
class Stats:
    """The numbers that views add up."""

    run_count: int = 0
    definition_count: int = 0
    exec_micros: int = 0
    accelerator_exec_micros: int = 0
    cpu_exec_micros: int = 0
    requested_bytes: int = 0
    peak_bytes: int = 0
    residual_bytes: int = 0
    output_bytes: int = 0
    parameters: int = 0
    float_ops: int = 0

    def __iadd__(self, other):
        for field in FIELDS:
            setattr(self, field, getattr(self, field) + getattr(other, field))
        return self


FIELDS = [field.name for field in dataclasses.fields(Stats)]


@dataclasses.dataclass
class Node:
    """A node of the graph, or one that only a run knew."""

    name: str
    op: str
    number: int
    types: list = dataclasses.field(default_factory=list)
    inputs: list = dataclasses.field(default_factory=list)  # names
    input_shapes: dict = dataclasses.field(default_factory=dict)
    output_shapes: dict = dataclasses.field(default_factory=dict)
    shape: list | None = None  # of variables and placeholders
    float_ops: int = 0
    device: str = ""
    data_format: str = ""
    of_gradient: bool = False
    frames: list = dataclasses.field(default_factory=list)
    steps: dict = dataclasses.field(default_factory=dict)  # step → Stats
    times: dict = dataclasses.field(default_factory=dict)  # step → [(start, micros)]

    parameters = property(lambda self: math.prod(self.shape) if self.shape and min(self.shape) >= 0 else 0)

    def stats(self, step):
        """The numbers of one step, or their average over all (-1)."""
        stats = Stats(definition_count=1, parameters=self.parameters, float_ops=self.float_ops)
        found = list(self.steps.values()) if step < 0 else [self.steps[step]] if step in self.steps else []
        for one in found:
            stats += one
        if len(found) > 1:
            for field in FIELDS:
                if field not in ("definition_count", "parameters", "float_ops"):
                    setattr(stats, field, getattr(stats, field) // len(found))
        return stats


class Model:
    """The nodes of a graph by name, and the steps that were traced."""

    def __init__(self, graph, op_log=None, run_meta=None):
        self.nodes: dict[str, Node] = {}
        self.steps: set[int] = set()
        print("Parsing Inputs...")
        self.update(graph, op_log, run_meta)

    def update(self, graph, op_log=None, run_meta=None):
        """Take in what the graph has gained; run metadata gives shapes to tensors that lack them."""
        if run_meta is not None:
            fill_missing_shapes(graph, run_meta)
        for op in graph.get_operations():
            if op.name not in self.nodes:
                self.nodes[op.name] = self._node(op)
        for entry in default_op_log(graph, op_log, add_trace=False).log_entries:
            if entry.name in self.nodes:
                node = self.nodes[entry.name]
                node.types += [kind for kind in entry.types if kind not in node.types]
                node.float_ops = entry.float_ops or node.float_ops

    def _node(self, op):
        node = Node(op.name, op.type, len(self.nodes), [op.type])
        node.inputs = [tensor.op.name for tensor in op.inputs]
        node.input_shapes = {i: t.shape.as_list() for i, t in enumerate(op.inputs) if t.shape.ndims is not None}
        node.output_shapes = {i: t.shape.as_list() for i, t in enumerate(op.outputs) if t.shape.ndims is not None}
        shape = op.attrs.get("shape")
        if isinstance(shape, TensorShape) and shape.ndims is not None:
            node.shape = [-1 if size is None else size for size in shape.as_list()] or [1]
        node.data_format = op.attrs.get("data_format", b"").decode()
        # The gradient of an op belongs to the line that made the op.
        node.of_gradient = op._original_op is not None
        node.frames = (op._original_op or op).traceback
        return node

    def add_step(self, step, run_meta):
        """Take in what nodes took in a traced step."""
        self.steps.add(step)
        for device_stats in run_meta.step_stats.dev_stats:
            device = device_stats.device.lower()
            for taken in device_stats.node_stats:
                if taken.node_name not in self.nodes:
                    self.nodes[taken.node_name] = Node(
                        taken.node_name, taken.node_name, len(self.nodes), [taken.node_name]
                    )
                node = self.nodes[taken.node_name]
                node.device = device
                if device not in node.types:
                    node.types.insert(0, device)
                self._add_run(node, step, device, taken)

    @staticmethod
    def _add_run(node, step, device, taken):
        size = sum(output.tensor_description.allocation_description.requested_bytes for output in taken.output)
        stats = node.steps.setdefault(step, Stats())
        on_host = "gpu" not in device
        micros = taken.all_end_rel_micros
        sizes = dict.fromkeys(("requested_bytes", "peak_bytes", "residual_bytes", "output_bytes"), size)
        where = "cpu_exec_micros" if on_host else "accelerator_exec_micros"
        stats += Stats(run_count=1, exec_micros=micros, **{where: micros}, **sizes)
        node.times.setdefault(step, []).append((taken.all_start_micros, micros))

    def as_proto(self):
        """All of it as a ProfileProto."""
        proto = tfprof_log_pb2.ProfileProto(
            has_trace=any(node.frames for node in self.nodes.values()), steps=sorted(self.steps)
        )
        texts: dict[str, int] = {}
        for node in self.nodes.values():
            self._write_node(proto.nodes[node.number], node, texts)
        for text, number in texts.items():
            proto.id_to_string[number] = text
        return proto

    def _write_node(self, message, node, texts):
        message.name, message.op, message.id, message.float_ops = node.name, node.op, node.number, int(node.float_ops)
        message.shape.extend(node.shape or [])
        message.op_types.extend(node.types)
        message.canonical_device = node.device
        for i, name in enumerate(node.inputs):
            message.inputs[i] = self.nodes[name].number
        for shapes, field in ((node.input_shapes, message.input_shapes), (node.output_shapes, message.output_shapes)):
            for i, shape in shapes.items():
                field[i].int64_values.extend(-1 if size is None else size for size in shape)
        write_trace(message.trace, node.frames, texts)
        for step, stats in node.steps.items():
            execution = message.execs[step]
            execution.run_count = stats.run_count
            execution.devices.append(node.device)
            execution.all_start_micros = min(start for start, _ in node.times[step])
            execution.latest_end_micros = max(start + micros for start, micros in node.times[step])
            for start, micros in node.times[step]:
                execution.cpu_execs[node.device].times.add(int64_values=[start, micros])
            execution.memory_execs.add(
                requested_bytes=stats.requested_bytes, peak_bytes=stats.peak_bytes, output_bytes=stats.output_bytes
            )


def write_trace(message, frames, texts):
    """The frames of a node, their texts numbered once for all nodes."""

    def number(text):
        return texts.setdefault(text, len(texts) + 1)

    for file, line, function, text in frames:
        message.traces.add(file_id=number(file), lineno=line, function_id=number(function), line_id=number(text))


def fill_missing_shapes(graph, run_meta):
    """Set the shapes that tensors had in a run, as static shapes of the graph."""
    for device_stats in run_meta.step_stats.dev_stats:
        for taken in device_stats.node_stats:
            try:
                op = graph.get_operation_by_name(taken.node_name)
            except KeyError:
                continue
            for output in taken.output:
                if output.slot < len(op.outputs) and not op.outputs[output.slot].shape.is_fully_defined():
                    sizes = [dim.size for dim in output.tensor_description.shape.dim]
                    if op.outputs[output.slot].shape.is_compatible_with(sizes):
                        op.outputs[output.slot].set_shape(sizes)


def default_op_log(graph, op_log=None, run_meta=None, add_trace=True, add_trainable_var=True):
    """An op log of float operations, trainable variables and code, with the entries of another on top."""
    if run_meta is not None:
        fill_missing_shapes(graph, run_meta)
    log = tfprof_log_pb2.OpLogProto()
    entries: dict = {}
    texts: dict[str, int] = {}

    def entry(name):
        if name not in entries:
            entries[name] = log.log_entries.add(name=name)
        return entries[name]

    incomplete = 0
    for op in graph.get_operations():
        try:
            counted = get_stats_for_node_def(graph, op.node_def, "flops").value
        except ValueError:
            # Its shapes aren't known.
            incomplete += 1
            counted = None
        if counted or add_trace:
            entry(op.name).float_ops = int(counted or 0)
        if add_trace:
            write_trace(entry(op.name).code_def, op.traceback, texts)
    if incomplete and op_log is None:
        logging.info("%d ops have no count of float operations, as their shapes are not known.", incomplete)
    for variable in graph.get_collection("trainable_variables") if add_trainable_var else ():
        if TRAINABLE not in entry(variable.op.name).types:
            entry(variable.op.name).types.append(TRAINABLE)
    for given in op_log.log_entries if op_log is not None else ():
        mine = entry(given.name)
        mine.float_ops = given.float_ops or mine.float_ops
        mine.types.extend(kind for kind in given.types if kind not in mine.types)
        if given.HasField("code_def"):
            mine.code_def.CopyFrom(given.code_def)
    for text, number in texts.items():
        log.id_to_string[number] = text
    return log


merge_default_with_oplog = default_op_log  # its name in TensorFlow
