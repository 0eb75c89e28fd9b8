"""The graph of layers between the inputs and outputs of a model: its nodes and layers, from the inputs to the outputs."""

from __future__ import annotations

import collections

from everflow.framework import nest


class Topology:
    """The nodes (calls of layers) that lead from `inputs` to `outputs`.

    `nodes_by_depth` and `layers_by_depth` have a list for each depth, the distance from the outputs; `layers` are all
    layers in the order in which a model lists them.
    """

    def __init__(self, inputs, outputs):
        self._layer_indices: dict = {}
        order = self._nodes_in_order(outputs)
        self.nodes = set(order)
        depths, layer_depths = self._depths(order)
        for tensor in inputs:
            # An input that no output needs belongs to the model nevertheless.
            layer = tensor._keras_history.layer
            if layer not in layer_depths:
                layer_depths[layer] = 0
                self._layer_indices[layer] = -1
                depths[layer._inbound_nodes[0]] = 0
                self.nodes.add(layer._inbound_nodes[0])
        self.nodes_by_depth = _grouped(depths)
        by_depth = _grouped(layer_depths)
        self.layers_by_depth = {
            d: sorted(by_depth[d], key=lambda layer: self._layer_indices[layer]) for d in sorted(by_depth, reverse=True)
        }
        self.layers = [layer for layers in self.layers_by_depth.values() for layer in layers]
        self._check_connected(inputs)
        self._check_names()
        refuse_legacy(self.layers)

    def in_order(self):
        """The nodes from the inputs to the outputs: those of each depth after all that are deeper."""
        return [node for depth in sorted(self.nodes_by_depth, reverse=True) for node in self.nodes_by_depth[depth]]

    def insert(self, layers, nodes):
        """Let nodes beside the way to the outputs, and their layers, be part of the graph: after what they need."""
        depths = {node: depth for depth, found in self.nodes_by_depth.items() for node in found}
        waiting = [node for node in nodes if node not in depths]
        while waiting:
            ready = [node for node in waiting if all(before in depths for before in node.inbound_nodes())]
            if not ready:
                raise ValueError(
                    f"{[node.outbound_layer.name for node in waiting]} take what can't be computed from the inputs."
                )
            for node in ready:
                depths[node] = min((depths[before] for before in node.inbound_nodes()), default=1) - 1
                self.nodes_by_depth.setdefault(depths[node], []).append(node)
                self.layers_by_depth.setdefault(depths[node], []).append(node.outbound_layer)
            waiting = [node for node in waiting if node not in depths]
        self.nodes.update(nodes)
        self.layers = [*self.layers, *layers]

    def has(self, layer, node_index):
        """Whether a call of a layer is part of the graph."""
        return layer._inbound_nodes[node_index] in self.nodes

    def _nodes_in_order(self, outputs):
        """Nodes so that each comes after those it needs."""
        finished, order, open_nodes = set(), [], set()

        def visit(tensor):
            # Each entry: a node and the tensors that are still to be visited before it.
            stack = []

            def enter(tensor):
                layer, node_index, _ = tensor._keras_history
                node = layer._inbound_nodes[node_index]
                if node in finished:
                    return
                if node in open_nodes:
                    raise ValueError(f'The tensor {tensor} at layer "{layer.name}" is part of a cycle.')
                self._layer_indices.setdefault(layer, len(self._layer_indices))
                open_nodes.add(node)
                is_input = not nest.flatten(node.inbound_layers)
                stack.append((node, iter([] if is_input else node.inbound_tensors())))

            enter(tensor)
            while stack:
                node, waiting = stack[-1]
                following = next(waiting, None)
                if following is not None:
                    enter(following)
                    continue
                stack.pop()
                open_nodes.discard(node)
                finished.add(node)
                order.append(node)

        for tensor in outputs:
            visit(tensor)
        return order

    def _depths(self, order):
        depths: dict = {}
        layer_depths: dict = {}
        for node in reversed(order):
            depth = max(depths.setdefault(node, 0), layer_depths.get(node.outbound_layer, 0))
            layer_depths[node.outbound_layer] = depths[node] = depth
            for before in node.inbound_nodes():
                depths[before] = max(depth + 1, depths.get(before, 0))
        return depths, layer_depths

    def _check_connected(self, inputs):
        computable = {id(t) for t in inputs}
        fine = []
        for node in self.in_order():
            for tensor in node.inbound_tensors() if nest.flatten(node.inbound_layers) else node.input_tensors:
                if id(tensor) not in computable:
                    raise ValueError(
                        f"Graph disconnected: cannot obtain value for tensor {tensor}, which layer {node.outbound_layer.name} "
                        f"needs, from the inputs of the model. Layers that can be computed: {fine}"
                    )
            computable.update(id(t) for t in nest.flatten(node.output_tensors))
            if nest.flatten(node.inbound_layers):
                fine.append(node.outbound_layer.name)

    def _check_names(self):
        counts = collections.Counter(layer.name for layer in self.layers)
        for name, count in counts.items():
            if count != 1:
                raise ValueError(
                    f"The name {name!r} is used {count} times in the model; each layer needs one of its own."
                )


def refuse_legacy(layers):
    """Layers of `tf.layers` keep their variables in scopes, which models don't know."""
    legacy = [layer for layer in layers if getattr(layer, "_is_legacy_layer", False)]
    if legacy:
        named = "\n".join(f"  {layer}" for layer in legacy)
        raise TypeError(
            f"The following are legacy layers, of tf.layers:\n{named}\nA Keras model is made of those of tf.keras.layers, and of classes "
            "derived from them."
        )


def _grouped(depths):
    groups: dict = collections.defaultdict(list)
    for thing, depth in depths.items():
        groups[depth].append(thing)
    return groups
