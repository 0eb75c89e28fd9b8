"""The order in which a graph's nodes can be computed, and the sizes of their grids."""

from __future__ import annotations

import collections
import math

from everflow.contrib.receptive_field.layer_parameters import get_layer_params

NodeInfo = collections.namedtuple("NodeInfo", ["order", "node", "input_size", "output_size"])


def parse_graph_nodes(graph_def):
    """{name: NodeDef} of a graph."""
    return {node.name: node for node in graph_def.node}


def get_compute_order(graph_def, input_node_name="", input_node_size=None):
    """How many nodes one after the other come before each.

    Args:
      graph_def: A GraphDef.
      input_node_name: The node that is the image; empty where no sizes are asked for.
      input_node_size: [height, width] of the image, where known.

    Returns:
      ({name: (order, node, input_size, output_size)}, {name: NodeDef}). Sizes are None where they aren't known.

    Raises:
      ValueError: If nodes wait for each other.
    """
    name_to_node = parse_graph_nodes(graph_def)
    found = collections.defaultdict(NodeInfo)
    waiting = [node.name for node in reversed(graph_def.node)]
    begun = set()
    while waiting:
        name = waiting[-1]
        if name in found:
            waiting.pop()
            continue
        inputs = [source_of(tensor) for tensor in name_to_node[name].input]
        missing = [source for source in inputs if source not in found]
        if not missing:
            found[name] = _info(name, inputs, found, name_to_node, input_node_name, input_node_size)
        elif name in begun:
            raise ValueError(f"Node {name!r} waits for itself: graphs with loops have no order")
        begun.add(name)
        waiting.extend(missing)
    return found, name_to_node


def source_of(tensor_name):
    """The name of the node that makes a tensor, or that a control input names."""
    return tensor_name.removeprefix("^").partition(":")[0]


def _info(name, inputs, found, name_to_node, input_node_name, input_node_size):
    order = 1 + max((found[source].order for source in inputs), default=-1)
    node = name_to_node[name]
    if name == input_node_name:
        return NodeInfo(order, node, None, input_node_size)
    size = next((found[source].output_size for source in inputs if found[source].output_size is not None), None)
    if size is None:
        return NodeInfo(order, node, None, None)
    kernel_x, kernel_y, stride_x, stride_y, _, _, total_x, total_y = get_layer_params(
        node, name_to_node, size, force=True
    )
    after = [
        _compute_output_resolution(size[0], kernel_y, stride_y, total_y),
        _compute_output_resolution(size[1], kernel_x, stride_x, total_x),
    ]
    return NodeInfo(order, node, size, None if None in after else after)


def _compute_output_resolution(input_spatial_resolution, kernel_size, stride, total_padding):
    """The size behind a layer along one direction; None where something isn't known."""
    if None in (input_spatial_resolution, kernel_size, stride, total_padding):
        return None
    return math.ceil((input_spatial_resolution + total_padding - kernel_size + 1) / stride)
