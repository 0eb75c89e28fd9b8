"""Pictures of models, by way of pydot and Graphviz."""

from __future__ import annotations

import os


def _pydot():
    """The module that draws; ImportError that says what to install."""
    for name in ("pydot", "pydotplus", "pydot_ng"):
        try:
            return __import__(name)
        except ImportError:
            continue
    raise ImportError("Drawing models needs the Python package pydot (pip install pydot) and the programs of Graphviz.")


def model_to_dot(
    model, show_shapes=False, show_layer_names=True, rankdir="TB", expand_nested=False, dpi=96, subgraph=False
):
    """A model as a `pydot` graph, a box for each layer."""
    pydot = _pydot()
    from everflow.keras.engine.network import Network  # loads google_crc32c
    from everflow.keras.engine.sequential import Sequential  # builds on this module

    if subgraph:
        dot = pydot.Cluster(style="dashed", graph_name=model.name)
        dot.set("label", model.name)
        dot.set("labeljust", "l")
    else:
        dot = pydot.Dot()
        dot.set("rankdir", rankdir)
        dot.set("concentrate", True)
        dot.set("dpi", dpi)
        dot.set_node_defaults(shape="record")
    layers = getattr(model, "layers", None)
    if isinstance(model, Sequential) and not model.built:
        raise ValueError(
            "A Sequential model that isn't built yet can't be drawn: give its first layer an input_shape, or call it"
        )
    if not layers or not getattr(model, "_is_graph_network", True):
        dot.add_node(pydot.Node(str(id(model)), label=model.name))
        return dot
    for layer in layers:
        if expand_nested and isinstance(layer, Network) and layer._is_graph_network:
            dot.add_subgraph(model_to_dot(layer, show_shapes, show_layer_names, rankdir, expand_nested, subgraph=True))
            continue
        dot.add_node(pydot.Node(str(id(layer)), label=_label(layer, show_shapes, show_layer_names)))
    relevant = set(map(id, layers))
    for layer in layers:
        for node in layer._inbound_nodes:
            for inbound in _layers_into(node):
                if id(inbound) in relevant:
                    dot.add_edge(pydot.Edge(str(id(inbound)), str(id(layer))))
    return dot


def _layers_into(node):
    layers = node.inbound_layers
    return layers if isinstance(layers, (list, tuple)) else [layers]


def _label(layer, show_shapes, show_layer_names):
    kind = type(layer).__name__
    label = f"{layer.name}: {kind}" if show_layer_names else kind
    if not show_shapes:
        return label

    def text(attribute):
        try:
            return str(getattr(layer, attribute))
        except (AttributeError, RuntimeError):
            return "multiple"

    return f"{label}\n|{{input:|output:}}|{{{{{text('input_shape')}}}|{{{text('output_shape')}}}}}"


def plot_model(
    model, to_file="model.png", show_shapes=False, show_layer_names=True, rankdir="TB", expand_nested=False, dpi=96
):
    """Write a picture of a model to a file; in a notebook, it is shown too."""
    dot = model_to_dot(model, show_shapes, show_layer_names, rankdir, expand_nested, dpi)
    extension = os.path.splitext(to_file)[1][1:]
    if not extension:
        extension = "png"
        to_file += ".png"
    dot.write(to_file, format=extension)
    if extension != "pdf":
        try:
            from IPython import display
        except ImportError:
            return None
        return display.Image(filename=to_file)
    return None
