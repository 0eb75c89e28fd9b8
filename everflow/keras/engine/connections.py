"""What a layer knows of its calls on tensors that come from `Input`: `layer.input`, `layer.output_shape`, …"""

from __future__ import annotations

from everflow.framework import nest
from everflow.framework.scopes import name_scope
from everflow.keras.engine.node import Node
from everflow.ops import array


def _at_node(attribute, what, doc):
    def get(self, node_index):
        return self._get_node_attribute_at_index(node_index, attribute, what)

    get.__name__ = get.__qualname__ = f"get_{what.replace(' ', '_')}_at"
    get.__doc__ = doc
    return get


class Connections:
    """The part of a layer that has to do with its place in the graph of layers."""

    inbound_nodes = property(lambda self: self._inbound_nodes, doc="A node for each call.")
    outbound_nodes = property(lambda self: self._outbound_nodes, doc="The nodes that use what the layer made.")

    def _connect(self, inputs, outputs, arguments):
        """Note a call; outputs that are inputs become tensors of their own, so that each has one history."""
        given = {id(x) for x in nest.flatten(inputs)}
        scope = self.name

        def own(x):
            if id(x) not in given:
                return x
            with name_scope(scope):
                return array.identity(x)

        outputs = nest.map_structure(own, outputs)
        Node.of_call(self, inputs, outputs, arguments)
        return outputs

    def _require_calls(self, what, error=AttributeError):
        if not self._inbound_nodes:
            raise error(f"Layer {self.name} has never been called on the tensors of a model, so it has no {what}.")

    get_input_shape_at = _at_node("input_shapes", "input shape", "The shape of the input of one call.")
    get_output_shape_at = _at_node("output_shapes", "output shape", "The shape of the output of one call.")
    get_input_at = _at_node("input_tensors", "input", "The input of one call.")
    get_output_at = _at_node("output_tensors", "output", "The output of one call.")

    def get_input_mask_at(self, node_index):
        """The mask that came with the input of one call."""
        return _masks(self.get_input_at(node_index))

    def get_output_mask_at(self, node_index):
        """The mask that goes on with the output of one call."""
        return _masks(self.get_output_at(node_index))

    @property
    def input(self):
        """The input of the first call."""
        self._require_calls("input")
        return self.get_input_at(0)

    @property
    def output(self):
        """The output of the first call."""
        self._require_calls("output")
        return self.get_output_at(0)

    @property
    def input_mask(self):
        self._require_calls("input mask")
        return self.get_input_mask_at(0)

    @property
    def output_mask(self):
        self._require_calls("output mask")
        return self.get_output_mask_at(0)

    @property
    def input_shape(self):
        """The shape of the input; AttributeError where calls differ in it."""
        return self._common_shape("input_shapes", "input")

    @property
    def output_shape(self):
        """The shape of the output; AttributeError where calls differ in it."""
        return self._common_shape("output_shapes", "output")

    def _common_shape(self, attribute, what):
        self._require_calls(what + " shape")
        shapes = [getattr(node, attribute) for node in self._inbound_nodes]
        if any(shape != shapes[0] for shape in shapes):
            raise AttributeError(self._is_ambiguous(what + " shape"))
        return shapes[0]

    def _is_ambiguous(self, what):
        return (
            f'Layer {self.name} has multiple inbound nodes ({len(self._inbound_nodes)}), so "layer {what}" is ill-defined: '
            f"`get_{what.replace(' ', '_')}_at(node_index)` tells it for one of them."
        )


def _masks(tensors):
    if isinstance(tensors, (list, tuple)):
        return [getattr(t, "_keras_mask", None) for t in tensors]
    return getattr(tensors, "_keras_mask", None)
