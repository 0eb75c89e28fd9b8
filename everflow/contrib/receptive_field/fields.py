"""The receptive field of a network's output: its size, how far apart those of neighbours are, and where they begin."""

from __future__ import annotations

import numpy as np

from everflow.contrib.receptive_field.layer_parameters import get_layer_params
from everflow.contrib.receptive_field.order import get_compute_order, source_of
from everflow.framework.graph import Graph
from everflow.platform import logging


class ReceptiveField:
    """The field of each feature: its size, the stride from one to the next, and the padding before the first, along each
    direction.
    """

    def __init__(self, size, stride, padding):
        self.size = np.asarray(size)
        self.stride = np.asarray(stride)
        self.padding = np.asarray(padding)

    def compute_input_center_coordinates(self, y, axis=None):
        """Where in the input the fields of features have their centres.

        Args:
          y: Features' coordinates, a row for each.
          axis: Which directions the columns are; all where None.

        Raises:
          ValueError: If there are more or fewer columns than directions.
        """
        axis = self._directions(y, axis)
        return -self.padding[axis] + y * self.stride[axis] + (self.size[axis] - 1) / 2

    def compute_feature_coordinates(self, x, axis=None):
        """Which features have their field's centre at coordinates of the input, a row for each; takes what
        `compute_input_center_coordinates` does.
        """
        axis = self._directions(x, axis)
        return (x + self.padding[axis] + (1 - self.size[axis]) / 2) / self.stride[axis]

    def _directions(self, coordinates, axis):
        axis = range(self.size.size) if axis is None else axis
        if np.asarray(coordinates).shape[-1] != len(axis):
            raise ValueError(
                f"There are {np.asarray(coordinates).shape[-1]} columns of coordinates for {len(axis)} directions"
            )
        return list(axis)

    def __iter__(self):
        """The sizes, the strides and the paddings, horizontal before vertical."""
        return iter(np.concatenate([self.size, self.stride, self.padding]))


def compute_receptive_field_from_graph_def(
    graph_def, input_node, output_node, stop_propagation=None, input_resolution=None
):
    """The receptive field of a node.

    Args:
      graph_def: A GraphDef, or a Graph.
      input_node: The name of the node that is the image.
      output_node: The name of the node whose features are asked for.
      stop_propagation: Names of nodes beyond which nothing is looked at.
      input_resolution: [height, width] of the image. Layers that pad to the same size may need it.

    Returns:
      A `ReceptiveField`; it unpacks into six numbers, too.

    Raises:
      ValueError: If there is no such node, an op isn't known, or ways through the network have other strides or centres.
    """
    if isinstance(graph_def, Graph):
        graph_def = graph_def.as_graph_def()
    infos, name_to_node = get_compute_order(graph_def, input_node, input_resolution)
    for name in (input_node, output_node):
        if name not in name_to_node:
            raise ValueError(f"There is no node {name!r} in the graph")
    stops = frozenset(stop_propagation or ())
    fields = {output_node: (np.array([1, 1]), np.array([1, 1]), [0, 0])}
    for info in sorted(infos.values(), key=lambda info: info.order, reverse=True):
        name = info.node.name
        if name not in fields:
            continue
        if name == input_node:
            return ReceptiveField(*fields[name])
        if name in stops:
            continue
        field = _before(info, fields[name], name_to_node)
        for tensor in info.node.input:
            source = source_of(tensor)
            if tensor.startswith("^"):
                logging.warning("Control input %s of %s isn't followed", source, name)
            elif source not in stops:
                fields[source] = _joined(source, fields.get(source), field)
    raise ValueError(f"Node {output_node!r} doesn't depend on {input_node!r}")


def _before(info, field, name_to_node):
    """(size, stride, padding) of a node's input, from those of its output."""
    size, stride, padding = field
    parameters = get_layer_params(info.node, name_to_node, info.input_size)
    kernel, step = np.array(parameters[0:2]), np.array(parameters[2:4])
    before = [
        None if outer is None or own is None else along * outer + own
        for along, outer, own in zip(step, padding, parameters[4:6], strict=True)
    ]
    return step * size + kernel - step, step * stride, before


def _joined(source, known, field):
    """The field of a node that is reached in two ways."""
    if known is None:
        return field
    if (known[1] != field[1]).any():
        raise ValueError(f"Ways from node {source!r} have strides of {known[1].tolist()} and {field[1].tolist()}")
    for size, other_size, padding, other_padding in zip(known[0], field[0], known[2], field[2], strict=True):
        unknown = padding is None or other_padding is None
        if not unknown and 2 * padding - size != 2 * other_padding - other_size:
            raise ValueError(f"Ways from node {source!r} aren't aligned: their fields have other centres")
    paddings = [None if None in pair else max(pair) for pair in zip(known[2], field[2], strict=True)]
    return np.maximum(known[0], field[0]), known[1], paddings
