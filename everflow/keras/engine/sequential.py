"""`tf.keras.Sequential`: layers one after the other."""

from __future__ import annotations

import copy
import functools

from everflow.framework import nest
from everflow.keras.backend.state import get_graph
from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.input_layer import Input, InputLayer
from everflow.keras.engine.known_classes import deserialize, serialize
from everflow.keras.engine.topology import refuse_legacy
from everflow.keras.engine.tracked_attributes import untracked
from everflow.keras.engine.training import Model
from everflow.platform import logging


class Sequential(Model):
    """A stack of layers, each called on what the one before gave.

    Args:
        layers: The layers.
        name: Its name; made from its class if None.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu", input_shape=[4]), tf.keras.layers.Dense(1)])
        >>> model.output_shape, model.count_params()
        ((None, 1), 49)
    """

    _object_identifier = "_tf_keras_sequential"

    @untracked
    def __init__(self, layers=None, name=None):
        super().__init__(name=name)
        self.supports_masking = True
        self.inputs, self.outputs = [], []  # none yet
        self._build_input_shape = None
        for layer in layers if isinstance(layers, (list, tuple)) else [layers] if layers else ():
            self.add(layer)

    @property
    def layers(self):
        """The layers, without the one for the input that they imply."""
        layers = list(self._graph_layers)
        return layers[1:] if layers and isinstance(layers[0], InputLayer) else layers

    @untracked
    def add(self, layer):
        """Put a layer at the end."""
        if hasattr(layer, "_keras_history") and isinstance(layer._keras_history.layer, InputLayer):
            layer = layer._keras_history.layer
        if not isinstance(layer, Layer):
            raise TypeError(f"Sequential models are made of layers; {layer!r} is none.")
        refuse_legacy([layer])
        self.built = False
        if not self._graph_layers:
            self._add_first(layer)
        elif self.outputs and not self._is_graph_network and not hasattr(self.outputs[0], "_keras_history"):
            # It was drawn for data, and goes on from there.
            with get_graph().as_default():
                self.outputs = [layer(self.outputs[0])]
            self._graph_layers = [*self._graph_layers, layer]
            self.built = True
            return
        elif self.outputs:
            outputs = layer(self.outputs[0])
            self._require_one(layer, nest.flatten(outputs), TypeError)
            self.outputs = [outputs]
        if self.outputs:
            self._graph_layers = [*self._graph_layers, layer]
            self._become_graph()
        else:
            self._graph_layers = [*self._graph_layers, layer]
            self.built = False

    def _add_first(self, layer):
        if isinstance(layer, InputLayer):
            self.outputs = [layer._inbound_nodes[-1].output_tensors[0]]
            return
        shape, dtype = _known_input(layer)
        if not shape:
            return
        x = Input(batch_shape=tuple(shape), dtype=dtype, name=layer.name + "_input")
        layer(x)
        self._graph_layers = [x._keras_history.layer]
        self.outputs = nest.flatten(layer._inbound_nodes[-1].output_tensors)
        self._require_one(layer, self.outputs, ValueError)

    @staticmethod
    def _require_one(layer, outputs, error):
        if len(outputs) != 1:
            raise error(
                f"Layers of a Sequential model have one output; {layer.name} has {len(outputs)}: use tf.keras.Model(inputs, outputs)."
            )

    def _become_graph(self):
        """From the first input to the last output, a graph of layers like any other."""
        first = self._graph_layers[0]
        inputs = [first._inbound_nodes[0].output_tensors[0]] if isinstance(first, InputLayer) else self.inputs
        layers, optimizer, tracked = self._graph_layers, self.optimizer, self.__dict__.get("_tracked", {})
        nodes = self.__dict__.get("_outbound_nodes", [])
        trainable = self._trainable
        self._init_graph_network(inputs, self.outputs, name=self.name)
        # Layers keep the order in which they were added.
        self._graph_layers, self.optimizer, self._trainable = layers, optimizer, trainable
        self.__dict__["_tracked"] = tracked
        self._outbound_nodes = nodes
        self.supports_masking = True
        self.built = True

    @untracked
    def pop(self):
        """Take the last layer off."""
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        layer = self._graph_layers[-1]
        self._graph_layers = self._graph_layers[:-1]
        if not self.layers:
            self.inputs = self.outputs = None
            self._inbound_nodes, self._outbound_nodes = [], []
            self.built = False
            self._is_graph_network = False
            self._graph_layers = []
        elif self._is_graph_network:
            self.outputs = [self.layers[-1].output]
            self._become_graph()
        del layer

    def build(self, input_shape=None):
        """Make the weights for inputs of this shape, if the first layer didn't know it."""
        if self._is_graph_network:
            self._become_graph()
            return
        if input_shape is None:
            raise ValueError("You must provide an `input_shape` argument.")
        self.__dict__["_build_input_shape"] = tuple(getattr(s, "value", s) for s in input_shape)
        super().build(self._build_input_shape)

    build._is_default = True

    def call(self, inputs, training=None, mask=None):
        if self._is_graph_network:
            return super().call(inputs, training=training, mask=mask)
        outputs = inputs
        for layer in self.layers:
            kwargs = {}
            if layer._call_takes("mask"):
                kwargs["mask"] = mask
            if layer._call_takes("training"):
                kwargs["training"] = training
            outputs = layer(inputs, **kwargs)
            inputs = outputs
            mask = getattr(outputs, "_keras_mask", None)
        return outputs

    def _set_inputs(self, inputs, outputs=None, training=None):
        """Data tell for which shape the model is made again; tensors that it is called with don't."""
        super()._set_inputs(inputs, outputs, training)
        if self._build_input_shape is None and self.inputs[0].shape.rank is not None:
            self.__dict__["_build_input_shape"] = tuple(self.inputs[0].shape.as_list())

    def compute_output_shape(self, input_shape):
        return functools.reduce(lambda shape, layer: layer.compute_output_shape(shape), self.layers, input_shape)

    def compute_mask(self, inputs, mask=None):
        outputs = self.call(inputs, mask=mask)
        return getattr(outputs, "_keras_mask", None)

    def predict_proba(self, x, batch_size=32, verbose=0):
        """The outputs as probabilities: `predict`, with a warning where they can't be."""
        preds = self.predict(x, batch_size, verbose)
        if preds.min() < 0.0 or preds.max() > 1.0:
            logging.warning(
                f"Model {self.name} gives values from {preds.min()} to {preds.max()}, which are no probabilities: "
                "a last layer with softmax or sigmoid would make them."
            )
        return preds

    def predict_classes(self, x, batch_size=32, verbose=0):
        """The most probable class of each example."""
        proba = self.predict(x, batch_size=batch_size, verbose=verbose)
        return proba.argmax(axis=-1) if proba.shape[-1] > 1 else (proba > 0.5).astype("int32")

    def get_config(self):
        layers = copy.deepcopy([serialize(layer) for layer in self.layers])
        if self._is_graph_network and layers:
            # A model that was begun with an InputLayer must know its input's shape when it is made again.
            layers[0]["config"].setdefault(
                "batch_input_shape", getattr(self._graph_layers[0], "_batch_input_shape", None)
            )
        config = {"name": self.name, "layers": layers}
        if self._build_input_shape:
            config["build_input_shape"] = self._build_input_shape
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A model from what `get_config` gave, with new weights."""
        name, shape = (
            (config.get("name"), config.get("build_input_shape")) if isinstance(config, dict) else (None, None)
        )
        layers = config["layers"] if isinstance(config, dict) else config
        model = cls(name=name)
        for layer in layers:
            model.add(deserialize(layer, custom_objects=custom_objects))
        if not model.inputs and shape:
            model.build(shape)
        return model


def _known_input(layer):
    """(batch shape, dtype) of a layer's input, where it is known; of a nested model, that of its first layer.

    A nested Sequential doesn't count an InputLayer among its layers, as in TensorFlow: what holds it waits for data then.
    """
    while isinstance(layer, Model):
        if not isinstance(layer, Sequential) and not layer._is_graph_network:
            return None, None
        if not layer.layers:
            raise ValueError(f"{layer.name} has no layers yet, and can't be added to a Sequential model.")
        layer = layer.layers[0]
    return getattr(layer, "_batch_input_shape", None), layer.dtype
