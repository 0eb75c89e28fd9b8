"""The text of `model.summary()`."""

from __future__ import annotations

import numpy as np

from everflow.framework import nest


def count_params(weights):
    """How many numbers variables hold."""
    return int(sum(np.prod(w.shape.as_list()) for w in {id(w): w for w in weights}.values()))


def _is_sequential_like(model):
    """Whether the layers form a chain, so that a summary needs no column for connections."""
    if type(model).__name__ == "Sequential" or not model._is_graph_network:
        return True
    nodes_by_depth = model._topology.nodes_by_depth
    nodes = []
    for at_depth in nodes_by_depth.values():
        if len(at_depth) > 1 or (len(at_depth) == 1 and len(nest.flatten(at_depth[0].inbound_layers)) > 1):
            return False
        nodes += at_depth
    return all(sum(node in nodes for node in layer._inbound_nodes) <= 1 for layer in model.layers)


def print_summary(model, line_length=None, positions=None, print_fn=None):
    """Print a line for each layer, and the sums below."""
    print_fn = print if print_fn is None else print_fn
    simple = _is_sequential_like(model)
    headings = ["Layer (type)", "Output Shape", "Param #", *([] if simple else ["Connected to"])]
    line_length = line_length or (65 if simple else 98)
    positions = positions or ([0.45, 0.85, 1.0] if simple else [0.33, 0.55, 0.67, 1.0])
    if positions[-1] <= 1:
        positions = [int(line_length * p) for p in positions]

    def row(fields):
        line = ""
        for i, field in enumerate(fields):
            if i > 0:
                line = line[:-1] + " "
            line += str(field)
            line = line[: positions[i]]
            line += " " * (positions[i] - len(line))
        print_fn(line)

    def layer_row(layer):
        fields = [f"{layer.name} ({type(layer).__name__})", _output_shape(layer), _params(layer)]
        if simple:
            row(fields)
            return
        connections = _connections(layer, model)
        row([*fields, connections[0] if connections else ""])
        for connection in connections[1:]:
            row(["", "", "", connection])

    print_fn(f'Model: "{model.name}"')
    print_fn("_" * line_length)
    row(headings)
    print_fn("=" * line_length)
    layers = model.layers
    for i, layer in enumerate(layers):
        layer_row(layer)
        print_fn(("=" if i == len(layers) - 1 else "_") * line_length)
    trainable = count_params(getattr(model, "_collected_trainable_weights", None) or model.trainable_weights)
    frozen = count_params(model.non_trainable_weights)
    print_fn(f"Total params: {trainable + frozen:,}")
    print_fn(f"Trainable params: {trainable:,}")
    print_fn(f"Non-trainable params: {frozen:,}")
    print_fn("_" * line_length)


def _connections(layer, model):
    """The inputs of a layer in a model, as a summary names them."""
    entries = [e for node in layer._inbound_nodes if node in model._topology.nodes for e in node.iterate_inbound()]
    return [f"{entry[0].name}[{entry[1]}][{entry[2]}]" for entry in entries]


def _output_shape(layer):
    try:
        return layer.output_shape
    except AttributeError:
        return "multiple"
    except RuntimeError:
        return "?"


def _params(layer):
    if not layer.built and not getattr(layer, "_is_graph_network", False):
        return "0 (unused)"
    return layer.count_params()
