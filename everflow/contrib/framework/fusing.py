"""`fuse_op`: a part of a GraphDef replaced by one node, as tools do that hand it to a kernel of their own."""

from __future__ import annotations

from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.node_def_pb2 import NodeDef


def fuse_op(graph_def, input_nodes, output_nodes, output_dtypes, output_quantized, op_name, op_type):
    """A GraphDef with one node of type `op_type` in place of what lies between input nodes and output nodes.

    It takes the input nodes, and each output node, which has one input, takes an output of it. `output_dtypes` are
    numbers of the DataType enum.
    """
    if not isinstance(graph_def, GraphDef):
        raise TypeError(f"fuse_op takes a GraphDef, not a {type(graph_def)}")
    if isinstance(input_nodes, str):
        raise TypeError("input_nodes must be a list.")
    if isinstance(output_nodes, str):
        raise TypeError("output_nodes must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    for name in [*input_nodes, *output_nodes]:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    before = _upstream(nodes, input_nodes)
    replaced = _upstream(nodes, output_nodes)
    fused = NodeDef(name=op_name, op=op_type, input=input_nodes)
    fused.attr["_output_quantized"].b = output_quantized
    fused.attr["_output_types"].list.type[:] = output_dtypes
    result = GraphDef(versions=graph_def.versions)
    result.node.extend(node for node in graph_def.node if node.name in before)
    result.node.append(fused)
    for index, name in enumerate(output_nodes):
        if len(nodes[name].input) != 1:
            raise AssertionError(f"An output node has one input, {name} has {len(nodes[name].input)}")
        node = result.node.add()
        node.CopyFrom(nodes[name])
        node.input[:] = [op_name if index == 0 else f"{op_name}:{index}"]
    result.node.extend(node for node in graph_def.node if node.name not in replaced and node.name not in before)
    return result


def _upstream(nodes, names):
    """These nodes and all that they depend on."""
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [source.removeprefix("^").partition(":")[0] for source in nodes[name].input]
    return found
