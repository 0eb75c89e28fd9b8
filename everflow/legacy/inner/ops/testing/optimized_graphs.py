"""tensorflow.python.kernel_tests.signal.test_util: a graph as Grappler leaves it, for tests that look at what is folded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from everflow.framework.graph import Graph
from everflow.framework.graph_keys import GraphKeys
from everflow.ops.io.meta_graph import export_scoped_meta_graph
from everflow.protos.config_pb2 import ConfigProto
from everflow.protos.graph_pb2 import GraphDef
from everflow.tools.grappler import OptimizeGraph

__all__ = ["grappler_optimize"]


def grappler_optimize(
    graph: Graph, fetches: Iterable[Any] | None = None, config_proto: ConfigProto | None = None
) -> GraphDef:
    """A graph after Grappler's rewrites, every one of them and however small the graph is.

    Args:
        graph: The graph.
        fetches: What is asked of it; what they don't need may go.
        config_proto: The options of the rewrites, where others are wanted.

    Returns:
        A GraphDef.
    """
    if config_proto is None:
        config_proto = ConfigProto()
        config_proto.graph_options.rewrite_options.min_graph_nodes = -1
    if fetches is not None:
        for fetch in fetches:
            graph.add_to_collection(GraphKeys.TRAIN_OP, fetch)
    described, _ = export_scoped_meta_graph(graph=graph)
    return OptimizeGraph(config_proto, described)
