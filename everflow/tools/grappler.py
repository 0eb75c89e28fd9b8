"""`tensorflow.python.grappler`: a MetaGraph made simpler by named rewrites, for those who convert graphs. Sessions here
don't need it: they rewrite when they plan.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from everflow.framework.errors import InvalidArgumentError
from everflow.framework.graph import Graph
from everflow.framework.graph_surgery import extract_sub_graph
from everflow.framework.importer import import_graph_def
from everflow.kernels import registry
from everflow.ops.functions.inlining import inlined
from everflow.protos.config_pb2 import ConfigProto, RunMetadata, RunOptions
from everflow.protos.device_properties_pb2 import DeviceProperties, NamedDevice
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.meta_graph_pb2 import MetaGraphDef
from everflow.protos.rewriter_config_pb2 import RewriterConfig
from everflow.protos.step_stats_pb2 import StepStats
from everflow.protos.tensor_shape_pb2 import TensorShapeProto
from everflow.protos.variable_pb2 import VariableDef
from everflow.runtime.process_options import PROCESS
from everflow.runtime.session import Session
from everflow.tools.graph_files import node_name_from_input
from everflow.tools.graph_transforms import TransformGraph

_Rewrite = Callable[[GraphDef, list[str], list[str]], GraphDef]
_FEWEST_NODES = 4  # a graph of fewer is left alone
_NOTHING_TO_RUN = "The MetaGraph has neither a collection 'train_op' nor a signature, which say what to run"


def _inline(graph: GraphDef, inputs: list[str], outputs: list[str]) -> GraphDef:
    return inlined(graph) if graph.library.function else graph


def _fold(graph: GraphDef, inputs: list[str], outputs: list[str]) -> GraphDef:
    return TransformGraph(graph, inputs, outputs, ["fold_constants(ignore_errors=true, clear_output_shapes=false)"])


def _prune(graph: GraphDef, inputs: list[str], outputs: list[str]) -> GraphDef:
    needed = extract_sub_graph(graph, outputs)
    return TransformGraph(needed, inputs, outputs, ["remove_nodes(op=Identity)"])


# Names of rewrites in a RewriterConfig. What the others do changes no values, and is left to whoever runs the graph.
_REWRITES: dict[str, _Rewrite] = {
    "function": _inline,
    "constfold": _fold,
    "pruning": _prune,
    "dependency": _prune,
}


def _switched_off(options: RewriterConfig, name: str) -> bool:
    """Whether a RewriterConfig that names no rewrites leaves this one out."""
    if options.disable_meta_optimizer or name == "pruning" and options.disable_model_pruning:
        return True
    field = {
        "function": "function_optimization",
        "constfold": "constant_folding",
        "dependency": "dependency_optimization",
    }
    return name in field and getattr(options, field[name]) == RewriterConfig.OFF


def OptimizeGraph(
    config_proto: ConfigProto,
    metagraph: MetaGraphDef,
    verbose: bool = True,
    graph_id: bytes = b"graph_to_optimize",
    cluster: Cluster | None = None,
) -> GraphDef:
    """A MetaGraph's graph after the rewrites that `config_proto.graph_options.rewrite_options` asks for, all where it
    names none; what the collection "train_op" names stays.
    """
    if not isinstance(config_proto, ConfigProto):
        raise TypeError(f"OptimizeGraph() takes a ConfigProto, not a {type(config_proto).__name__}")
    options: RewriterConfig = config_proto.graph_options.rewrite_options
    graph = GraphDef()
    graph.CopyFrom(metagraph.graph_def)
    outputs = _outputs(metagraph)
    if len(graph.node) < (options.min_graph_nodes or _FEWEST_NODES):
        return graph
    inputs = [node.name for node in graph.node if node.op.startswith("Placeholder")]
    wanted = list(options.optimizers) or [name for name in _REWRITES if not _switched_off(options, name)]
    for name in wanted:
        if name in _REWRITES:
            graph = _REWRITES[name](graph, [n for n in inputs if any(n == node.name for node in graph.node)], outputs)
    return graph


def _outputs(metagraph: MetaGraphDef) -> list[str]:
    """The nodes that a MetaGraph is run for: those of its collection, or of its signatures."""
    named = list(metagraph.collection_def["train_op"].node_list.value) if "train_op" in metagraph.collection_def else []
    if named:  # what collections name is to be kept besides
        named += [name for each in metagraph.collection_def.values() for name in each.node_list.value]
    for signature in metagraph.signature_def.values():
        named += [info.name for info in signature.outputs.values()]
    if not named:
        raise InvalidArgumentError(None, None, _NOTHING_TO_RUN)
    return list(dict.fromkeys(map(node_name_from_input, named)))


class TensorProperties(NamedTuple):
    """What is known of an output: its type, as protos number types, and its shape, as a proto."""

    dtype: int
    shape: TensorShapeProto


class Item:
    """A MetaGraph with something to run, and what can be asked of it."""

    def __init__(
        self, metagraph: MetaGraphDef, ignore_colocation: bool = True, ignore_user_placement: bool = False
    ) -> None:
        if not isinstance(metagraph, MetaGraphDef):
            raise TypeError(f"An Item is made of a MetaGraphDef, not of a {type(metagraph).__name__}")
        if "train_op" not in metagraph.collection_def and not metagraph.signature_def:
            raise InvalidArgumentError(None, None, _NOTHING_TO_RUN)
        self._metagraph = metagraph
        self._ignores_colocation = ignore_colocation
        self._graph_seen, self._made = b"", object()

    metagraph = property(lambda self: self._metagraph)

    @property
    def tf_item(self) -> object:
        """What stands for it as it is now: another object once the MetaGraph has changed."""
        now = self._metagraph.SerializeToString(deterministic=True)
        if now != self._graph_seen:
            self._graph_seen, self._made = now, object()
        return self._made

    def _graph(self) -> Graph:
        with Graph().as_default() as graph:
            import_graph_def(self._metagraph.graph_def, name="")
        return graph

    def IdentifyImportantOps(self, sort_topologically: bool = False) -> list[str]:
        """The names of the nodes that its outputs need."""
        return [node.name for node in extract_sub_graph(self._metagraph.graph_def, _outputs(self._metagraph)).node]

    def GetOpProperties(self) -> dict[str, list[TensorProperties]]:
        """{name: what is known of each output} of its nodes."""
        return {
            op.name: [TensorProperties(t.dtype.as_datatype_enum, t.shape.as_proto()) for t in op.outputs]
            for op in self._graph().get_operations()
        }

    def GetColocationGroups(self) -> list[list[str]]:
        """The names of nodes that must be on one device, group by group: those that share a variable's memory, and those
        that ask for it where that isn't to be ignored.
        """
        groups: dict[str, list[str]] = {}
        for op in self._graph().get_operations():
            owners = [t.op.name for t, kind in zip(op.inputs, op._input_types, strict=True) if kind._is_ref_dtype]
            if not self._ignores_colocation:
                owners += [group.decode().removeprefix("loc:@") for group in op.attrs.get("_class", ())]
            for owner in dict.fromkeys(owners):
                group = groups.setdefault(owner, [owner])
                if op.name not in group:
                    group.append(op.name)
        return [group for group in groups.values() if len(group) > 1]


# How many operations a core does at once, as an estimate counts it. A GPU's core is a group of small ones, of which
# there are more or fewer by its architecture, and each multiplies and adds.
_SMALL_CORES = (("3", 32), ("4", 192), ("6", 128))


def _ops_at_once(properties: DeviceProperties) -> int:
    if properties.type != "GPU":
        return 1
    architecture = properties.environment.get("architecture", "")
    return 2 * next((count for above, count in _SMALL_CORES if architecture < above), 64)


class OpPerformance(NamedTuple):
    """What an op costs, in nanoseconds."""

    node: str
    compute_cost: int


class Cluster:
    """The devices of this process, or some that are only described."""

    def __init__(
        self,
        allow_soft_placement: bool = True,
        disable_detailed_stats: bool = True,
        disable_timeline: bool = True,
        devices: Sequence[Any] | None = None,
    ) -> None:
        self._devices = _own_devices() if devices is None else list(devices)
        self._described = devices is not None
        self._stats_wanted = not disable_detailed_stats

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *error: Any) -> None:
        self.Shutdown()

    def Shutdown(self) -> None:
        """Let go of the devices."""
        self._devices = []

    def ListDevices(self) -> list[Any]:
        """The devices."""
        return list(self._devices)

    def ListAvailableOps(self) -> list[str]:
        """The op types that can run."""
        return sorted(registry.names())

    def GetSupportedDevices(self, item: Item) -> dict[str, list[str]]:
        """{name: the devices that it can run on} of an item's nodes."""
        names = [device.name for device in self._devices]
        return {node.name: list(names) for node in item.metagraph.graph_def.node}

    def EstimatePerformance(self, device: NamedDevice) -> float:
        """How many operations a device may do in a nanosecond, by what is said of it."""
        properties = device.properties
        return properties.num_cores * properties.frequency * _ops_at_once(properties) / 1000.0

    def MeasureCosts(self, item: Item) -> tuple[list[Any], float, StepStats]:
        """(costs of ops where they are estimated, seconds of a run, what the run tells of its nodes if that is wanted)."""
        if self._described:
            return self._estimated(item)
        with Session(graph=item._graph()) as session:
            for name in _initializers(item.metagraph):
                session.run(name)
            metadata = RunMetadata()
            options = RunOptions(trace_level=RunOptions.FULL_TRACE if self._stats_wanted else RunOptions.NO_TRACE)
            start = time.perf_counter()
            session.run(_outputs(item.metagraph), options=options, run_metadata=metadata)
            return [], time.perf_counter() - start, metadata.step_stats

    def _estimated(self, item: Item) -> tuple[list[OpPerformance], float, StepStats]:
        """What a run would cost on the first of the devices, which needn't be there: an operation for each number made."""
        speed = self.EstimatePerformance(self._devices[0]) or 1.0
        device = StepStats().dev_stats.add(device=self._devices[0].name)
        costs, now = [], 0
        for op in item._graph().get_operations():
            made = 0 if op.type == "Const" else sum(t.shape.num_elements() or 0 for t in op.outputs)
            costs.append(OpPerformance(op.name, round(made / speed)))
            node = device.node_stats.add(node_name=op.name, all_start_micros=now // 1000)
            now += costs[-1].compute_cost
            node.all_end_rel_micros = now // 1000 - node.all_start_micros
        return costs, max(now, 1) / 1e9, StepStats(dev_stats=[device])

    def DeterminePeakMemoryUsage(self, item: Item) -> dict[str, tuple[int, list[tuple[str, int, int, int, int]]]]:
        """{device: (most bytes at once, (node, output, bytes, when made, when last used) of each tensor then)}, where
        all that is made stays until the end.
        """
        needed = set(item.IdentifyImportantOps())
        held = [
            (op.name, index, t.shape.num_elements() * t.dtype.size, 0, 1)
            for op in item._graph().get_operations()
            if op.name in needed
            for index, t in enumerate(op.outputs)
            if t.shape.is_fully_defined()
        ]
        return {device.name: (sum(each[2] for each in held), held) for device in self._devices}


def _own_devices() -> list[NamedDevice]:
    found = []
    for device in PROCESS.logical_devices():
        named = NamedDevice(name=device.name)
        named.properties.type = device.device_type
        named.properties.num_cores = os.cpu_count() or 1
        found.append(named)
    return found


def _initializers(metagraph: MetaGraphDef) -> list[str]:
    """The ops that give a MetaGraph's variables values."""
    if "variables" not in metagraph.collection_def:
        return []
    kept = metagraph.collection_def["variables"].bytes_list.value
    return [VariableDef.FromString(each).initializer_name for each in kept]


def Provision(
    allow_soft_placement: bool = True,
    disable_detailed_stats: bool = True,
    disable_timeline: bool = True,
    devices: Sequence[Any] | None = None,
) -> Cluster:
    """A cluster of the devices of this process."""
    return Cluster(allow_soft_placement, disable_detailed_stats, disable_timeline, devices)
