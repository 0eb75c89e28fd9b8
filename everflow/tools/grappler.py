"""`tensorflow.python.grappler`: a MetaGraph made simpler by named rewrites, for those who convert graphs. Sessions here
don't need it: they rewrite when they plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.framework.graph import Graph
from everflow.framework.graph_surgery import extract_sub_graph
from everflow.framework.importer import import_graph_def
from everflow.kernels import registry
from everflow.ops.functions.inlining import inlined
from everflow.protos.config_pb2 import ConfigProto
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.meta_graph_pb2 import MetaGraphDef
from everflow.protos.rewriter_config_pb2 import RewriterConfig
from everflow.runtime.process_options import PROCESS
from everflow.tools.graph_files import node_name_from_input
from everflow.tools.graph_transforms import TransformGraph

_Rewrite = Callable[[GraphDef, list[str], list[str]], GraphDef]
_FEWEST_NODES = 4  # a graph of fewer is left alone


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
    if len(graph.node) < (options.min_graph_nodes or _FEWEST_NODES):
        return graph
    outputs = _outputs(metagraph)
    inputs = [node.name for node in graph.node if node.op.startswith("Placeholder")]
    wanted = list(options.optimizers) or list(_REWRITES)
    for name in wanted:
        if name in _REWRITES:
            graph = _REWRITES[name](graph, [n for n in inputs if any(n == node.name for node in graph.node)], outputs)
    return graph


def _outputs(metagraph: MetaGraphDef) -> list[str]:
    """The nodes that a MetaGraph is run for: those of its collection, of its signatures, or those that nobody takes."""
    named = list(metagraph.collection_def["train_op"].node_list.value) if "train_op" in metagraph.collection_def else []
    for signature in metagraph.signature_def.values():
        named += [info.name for info in signature.outputs.values()]
    if not named:
        taken = {node_name_from_input(name) for node in metagraph.graph_def.node for name in node.input}
        named = [node.name for node in metagraph.graph_def.node if node.name not in taken]
    return list(dict.fromkeys(map(node_name_from_input, named)))


class Item:
    """A MetaGraph, and what can be asked of it."""

    def __init__(
        self, metagraph: MetaGraphDef, ignore_colocation: bool = True, ignore_user_placement: bool = False
    ) -> None:
        self._metagraph = metagraph

    metagraph = property(lambda self: self._metagraph)

    def IdentifyImportantOps(self, sort_topologically: bool = False) -> list[str]:
        """The names of the nodes that its outputs need."""
        return [node.name for node in extract_sub_graph(self._metagraph.graph_def, _outputs(self._metagraph)).node]

    def GetOpProperties(self) -> dict[str, list[Any]]:
        """{name: (type, shape) of each output} of its nodes."""
        with Graph().as_default() as graph:
            import_graph_def(self._metagraph.graph_def, name="")
        return {op.name: [(t.dtype, t.shape) for t in op.outputs] for op in graph.get_operations()}

    def GetColocationGroups(self) -> list[list[str]]:
        """The names of nodes that must be on one device, group by group."""
        groups: dict[str, list[str]] = {}
        for node in self._metagraph.graph_def.node:
            for group in node.attr["_class"].list.s if "_class" in node.attr else ():
                owner = group.decode().removeprefix("loc:@")
                groups.setdefault(owner, [owner]).append(node.name)
        return list(groups.values())


class Cluster:
    """The devices of this process."""

    def __init__(
        self,
        allow_soft_placement: bool = True,
        disable_detailed_stats: bool = True,
        disable_timeline: bool = True,
        devices: Sequence[Any] | None = None,
    ) -> None:
        self._devices = PROCESS.logical_devices() if devices is None else list(devices)

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


def Provision(
    allow_soft_placement: bool = True,
    disable_detailed_stats: bool = True,
    disable_timeline: bool = True,
    devices: Sequence[Any] | None = None,
) -> Cluster:
    """A cluster of the devices of this process."""
    return Cluster(allow_soft_placement, disable_detailed_stats, disable_timeline, devices)
