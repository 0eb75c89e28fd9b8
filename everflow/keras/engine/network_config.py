"""A graph of layers as plain data and back."""

from __future__ import annotations

import collections
import json

import numpy as np

from everflow.framework import nest
from everflow.framework.operation import Tensor
from everflow.keras import backend as K
from everflow.keras.engine.known_classes import deserialize
from everflow.keras.generic import serialize_keras_object
from everflow.keras.saving.json_data import default
from everflow.platform import logging


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

    def ends(nested):
        """The places of inputs or outputs, in their structure; a single one in a list."""
        places = _mapped(lambda tensor: coordinates(*tensor._keras_history), nested)
        return places if isinstance(nested, (list, tuple, dict)) else [places]

    layers = []
    for layer in network.layers:
        calls = []
        for node in kept[layer]:
            if not nest.flatten(node.inbound_layers):
                continue
            arguments = _plain_arguments(node.arguments or {}, lambda tensor: coordinates(*tensor._keras_history))
            calls.append(_written_call(node.input_tensors, coordinates, arguments))
        written = serialize_keras_object(layer)
        kind = {"class_name": written["class_name"], "config": written["config"]}
        layers.append({"name": layer.name, **kind, "inbound_nodes": calls})
    return {
        "name": network.name,
        "layers": layers,
        "input_layers": ends(network._nested_inputs),
        "output_layers": ends(network._nested_outputs),
    }


def _nodes_of_its_own(layer):
    """A model's first node is the one from its own inputs to its outputs; it counts, also where it is missing."""
    return 1 if hasattr(layer, "_is_graph_network") else 0


def _written_call(inputs, coordinates, arguments):
    """The inputs of a call by their places, each with the call's other arguments; a single one in a list."""
    written = _mapped(lambda tensor: coordinates(*tensor._keras_history, arguments), inputs)
    return [written] if isinstance(inputs, Tensor) else written


def _mapped(function, structure):
    """What a function makes of the leaves of lists, tuples and dicts; dicts keep their order."""
    if isinstance(structure, dict):
        return {key: _mapped(function, value) for key, value in structure.items()}
    if isinstance(structure, (list, tuple)) and not hasattr(structure, "_fields"):
        kind = tuple if isinstance(structure, tuple) else list
        return kind(_mapped(function, value) for value in structure)
    return function(structure)


def _plain_arguments(arguments, place):
    """The arguments of a call as they can be written down: tensors of the model by their places, others by value."""

    def plain(value):
        if hasattr(value, "_keras_history"):
            return place(value)
        if isinstance(value, Tensor):
            value = K.get_value(value)
        return value.tolist() if isinstance(value, np.ndarray) else value

    written = {key: _mapped(plain, value) for key, value in arguments.items() if value is not None}
    try:
        json.dumps(written, default=default)
    except TypeError:
        logging.warning(f"Arguments of a layer's call that are no plain data are not written down: {sorted(arguments)}")
        return {}
    return written


def _is_place(value):
    """Whether plain data is the place of a tensor: [name of a layer, number of its call, number of the output]."""
    return (
        isinstance(value, (list, tuple))
        and len(value) in (3, 4)
        and isinstance(value[0], str)
        and all(isinstance(number, int) for number in value[1:3])
    )


def _at_places(function, data):
    """What a function makes of the places in plain data."""
    if _is_place(data):
        return function(data)
    if isinstance(data, dict):
        return {key: _at_places(function, value) for key, value in data.items()}
    return type(data)(_at_places(function, x) for x in data) if isinstance(data, (list, tuple)) else data


def _places(data):
    """The places in plain data."""
    found = []
    _at_places(found.append, data)
    return found


def reconstruct(config, custom_objects=None):
    """(inputs, outputs, {name: layer}) of a config, with new layers."""
    created: dict = {}
    node_numbers: dict = {}
    waiting: dict = collections.OrderedDict()

    def tensor_at(place):
        name, number, output = place[:3]
        return nest.flatten(created[name]._inbound_nodes[node_numbers[name, number]].output_tensors)[output]

    def make_call(layer, call, number):
        """Call a layer; False while what it takes is not made yet."""
        places = _places(call)
        arguments = places[0][3] if len(places[0]) > 3 else {}
        places += [place for place in _places(arguments) if place[0] in created]
        if any((name, node) not in node_numbers for name, node, *_ in places):
            return False
        tensors = _at_places(tensor_at, call)
        arguments = _at_places(lambda place: tensor_at(place) if place[0] in created else place, arguments)
        layer(tensors[0] if isinstance(call, (list, tuple)) and len(call) == 1 else tensors, **arguments)
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

    inputs, outputs = (_at_places(tensor_at, _listed(config[f"{end}_layers"])) for end in ("input", "output"))
    return inputs, outputs, created


def _listed(coordinates):
    """Coordinates as a list of them; a single one may be written without the list around it."""
    return [coordinates] if _is_place(coordinates) else coordinates
