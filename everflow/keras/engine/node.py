"""The graph of layers: a node for each call of a layer on tensors that come from `Input`."""

from __future__ import annotations

import collections

from everflow.framework import nest
from everflow.framework.shapes import TensorShape

KerasHistory = collections.namedtuple("KerasHistory", ["layer", "node_index", "tensor_index"])
KerasHistory.__doc__ = "Where a tensor comes from: which output, of which call, of which layer."


def has_history(structure):
    """Whether all tensors of a structure come from `Input`."""
    return all(hasattr(x, "_keras_history") for x in nest.flatten(structure))


class Node:
    """One call of a layer: from which tensors to which. Joins the layers' lists of nodes and marks the outputs."""

    def __init__(
        self,
        outbound_layer,
        inbound_layers,
        node_indices,
        tensor_indices,
        input_tensors,
        output_tensors,
        arguments=None,
    ):
        self.outbound_layer = outbound_layer
        self.inbound_layers = inbound_layers
        self.node_indices = node_indices
        self.tensor_indices = tensor_indices
        self.input_tensors = input_tensors
        self.output_tensors = output_tensors
        self.arguments = arguments
        self.input_shapes = nest.map_structure(shape_tuple, input_tensors)
        self.output_shapes = nest.map_structure(shape_tuple, output_tensors)
        for layer in nest.flatten(inbound_layers):
            if layer is not None:
                layer._outbound_nodes.append(self)
        outbound_layer._inbound_nodes.append(self)

    @classmethod
    def of_call(cls, layer, inputs, outputs, arguments):
        """Note that `layer` made `outputs` of `inputs`."""
        histories = [
            nest.map_structure(lambda t, part=part: getattr(t._keras_history, part), inputs)
            for part in ("layer", "node_index", "tensor_index")
        ]
        node = cls(layer, *histories, inputs, outputs, arguments)
        for i, tensor in enumerate(nest.flatten(outputs)):
            tensor._keras_history = KerasHistory(layer, len(layer._inbound_nodes) - 1, i)
        return node

    def iterate_inbound(self, include_arguments=False):
        """(layer, node index, tensor index, tensor) for each input, and for each tensor among the other arguments."""
        parts = self.inbound_layers, self.node_indices, self.tensor_indices, self.input_tensors
        found = list(zip(*map(nest.flatten, parts)))
        if include_arguments:
            tensors = [t for t in nest.flatten(self.arguments) if hasattr(t, "_keras_history")]
            found += [(*tensor._keras_history, tensor) for tensor in tensors]
        return iter(found)

    def inbound_tensors(self):
        """What the call needs of others: the inputs, and the tensors among the other arguments."""
        return [tensor for _, _, _, tensor in self.iterate_inbound(include_arguments=True)]

    def inbound_nodes(self):
        """The calls that made the inputs, and the tensors among the other arguments."""
        return [layer._inbound_nodes[index] for layer, index, _, _ in self.iterate_inbound(include_arguments=True)]

    _get_all_node_dependencies = inbound_nodes  # its name inside TensorFlow

    def get_config(self):
        """The node as plain data."""
        return {
            "outbound_layer": self.outbound_layer.name,
            "inbound_layers": nest.map_structure(lambda layer: layer.name, self.inbound_layers),
            "node_indices": self.node_indices,
            "tensor_indices": self.tensor_indices,
        }


def shape_tuple(tensor):
    """A tensor's shape as Keras shows it: a tuple with None for unknown sizes; None for an unknown rank."""
    shape = tensor.shape if isinstance(tensor.shape, TensorShape) else TensorShape(tensor.shape)
    return None if shape.rank is None else tuple(shape.as_list())
