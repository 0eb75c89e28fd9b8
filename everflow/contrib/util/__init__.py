"""tf.contrib.util: TensorProtos, constant values, and the op definitions that a graph needs."""

from everflow.framework import op_defs as _op_defs
from everflow.framework.static_values import get_static_value as constant_value
from everflow.framework.tensor_values import make_ndarray, make_tensor_proto
from everflow.ops.io import meta_graph as _meta_graph
from everflow.ops.io.meta_graph import ops_used_by_graph_def

__all__ = ["constant_value", "make_ndarray", "make_tensor_proto", "ops_used_by_graph_def", "stripped_op_list_for_graph"]


def stripped_op_list_for_graph(graph_def):
    """The definitions of the op types that a GraphDef uses, as an OpList; ValueError where one isn't known."""
    for op in ops_used_by_graph_def(graph_def):
        if _op_defs.find(op) is None:
            raise ValueError(f"Op {op} is used by the graph, yet nothing defines it")
    return _meta_graph.stripped_op_list_for_graph(graph_def)
