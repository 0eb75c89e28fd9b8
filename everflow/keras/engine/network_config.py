"""A graph of layers as plain data and back."""

from __future__ import annotations

import collections

import numpy as np

from everflow.framework import nest
from everflow.framework.operation import Tensor
from everflow.keras.engine.known_classes import deserialize
from everflow.keras.generic import serialize_keras_object


def network_config(network):
    """The layers of a model with their configs, and which outputs of which calls they are called on."""
    topology = network._topology
    # Calls are numbered within the model: those of a layer outside it don't count.
    numbers: dict = {}
    kept: dict = {}
    for layer in network.layers:
        nodes = [node for node in layer._inbound_nodes if node in topology.nodes]
        kept[layer] = nodes
        numbers.update({node: i for i, node in enumerate(nodes, start=_nodes_of_its_own(layer))})

    def coordinates(layer, node_index, tensor_index, *rest):
        return [layer.name, numbers[layer._inbound_nodes[node_index]], tensor_index, *rest]

    layers = []
    for layer in network.layers:
        calls = []
        for node in kept[layer]:
            if not nest.flatten(node.inbound_layers):
                continue
            arguments = _plain_arguments(node.arguments or {})
            structure = [coordinates(*entry[:3], arguments) for entry in node.iterate_inbound()]
            calls.append(structure)
        written = serialize_keras_object(layer)
        kind = {"class_name": written["class_name"], "config": written["config"]}
        layers.append({"name": layer.name, **kind, "inbound_nodes": calls})
    return {
        "name": network.name,
        "layers": layers,
        "input_layers": [coordinates(*c) for c in network._input_coordinates],
        "output_layers": [coordinates(*c) for c in network._output_coordinates],
    }


def _nodes_of_its_own(layer):
    """A model's first node is the one from its own inputs to its outputs; it counts, also where it is missing."""
    return 1 if hasattr(layer, "_is_graph_network") else 0


def _plain_arguments(arguments):
    """The arguments of a call that can be written down."""
    plain = {}
    for key, value in arguments.items():
        if any(isinstance(leaf, Tensor) for leaf in nest.flatten(value)):
            continue
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if value is not None:
            plain[key] = value
    return plain


def reconstruct(config, custom_objects=None):
    """(inputs, outputs, {name: layer}) of a config, with new layers."""
    created: dict = {}
    node_numbers: dict = {}
    waiting: dict = collections.OrderedDict()

    def tensors_at(coordinates):
        nodes = [created[name]._inbound_nodes[node_numbers[name, node]] for name, node, *_ in coordinates]
        return [nest.flatten(node.output_tensors)[place[2]] for node, place in zip(nodes, coordinates)]

    def make_call(layer, call, number):
        """Call a layer; False while what it takes is not made yet."""
        if any((name, node) not in node_numbers for name, node, *_ in call):
            return False
        tensors = tensors_at(call)
        arguments = call[0][3] if len(call[0]) > 3 else {}
        layer(tensors[0] if len(tensors) == 1 else tensors, **arguments)
        node_numbers[layer.name, number] = len(layer._inbound_nodes) - 1
        return True

    for data in config["layers"]:
        layer = deserialize({"class_name": data["class_name"], "config": data["config"]}, custom_objects=custom_objects)
        name = data["name"]
        created[name] = layer
        for number in range(len(layer._inbound_nodes)):
            # A nested model or an InputLayer has a node from its own making.
            node_numbers[name, number] = number
        offset = _nodes_of_its_own(layer)
        for number, call in enumerate(data["inbound_nodes"]):
            waiting[name, number + offset] = call

    while waiting:
        made = []
        for (name, number), call in waiting.items():
            earlier = all((name, n) not in waiting or (name, n) in made for n in range(number))
            if earlier and make_call(created[name], call, number):
                made.append((name, number))
        if not made:
            raise ValueError(f"The calls of these layers can't be made: {sorted(name for name, _ in waiting)}")
        for key in made:
            del waiting[key]

    return tensors_at(_listed(config["input_layers"])), tensors_at(_listed(config["output_layers"])), created


def _listed(coordinates):
    """Coordinates as a list of them; a single one may be written without the list around it."""
    return [coordinates] if coordinates and isinstance(coordinates[0], str) else coordinates
