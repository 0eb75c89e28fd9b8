"""Layers of SavedModels whose classes are not known here: what hangs on them is the file's, and what they do is what was
traced.
"""

from __future__ import annotations

import json

from everflow.framework import nest
from everflow.framework.operation import Tensor
from everflow.framework.type_specs import TensorSpec
from everflow.keras import backend as K
from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.known_classes import known_class
from everflow.keras.saving.saved_model.constants import KERAS_ATTR
from everflow.saved_model.object_loading import ObjectLoader

# Branches of a layer in the file that say again what the layer tells itself.
_TOLD_AGAIN = {"variables", "trainable_variables", "regularization_losses", "metrics", "layers", "_updates", "_losses"}
_FUNCTIONS = {"__call__", "call_and_return_all_conditional_losses", "_default_save_signature"}


class LayerLoader(ObjectLoader):
    """A SavedModel while it is loaded: nodes of Keras become layers."""

    def __init__(self, export_dir, tags=None):
        super().__init__(export_dir, tags)
        told = ((i, node.user_object) for i, node in enumerate(self.nodes) if node.WhichOneof("kind") == "user_object")
        self.about = {i: json.loads(o.metadata) for i, o in told if o.identifier.startswith("_tf_keras")}

    def _user_object(self, number, node):
        if number not in self.about:
            return super()._user_object(number, node)
        return _revived_class(self.about[number], node.user_object.identifier)(self.about[number])

    def load(self):
        """All objects, tied together; gives the root."""
        root = super().load()
        for number in self.about:
            self.object(number)._take_losses()
        return root

    def layer_named(self, class_name, name):
        """The layer of this class and name."""
        for number, about in self.about.items():
            if (about["class_name"], about["name"]) == (class_name, name):
                return self.object(number)
        raise ValueError(f"The file has no {class_name} that is named {name!r}.")


class RevivedLayer(Layer):
    """A layer from a SavedModel whose class is not known here."""

    def __init__(self, about, **kwargs):
        super().__init__(name=about["name"], **kwargs)
        self.__dict__.update(_told=about, _saved={}, _dtype=about.get("dtype"))
        self.trainable = about.get("trainable", True)

    def _attach_loaded(self, name, child):
        """Take what hangs on the layer in the file."""
        if self._saved_kind == "_tf_keras_sequential" and type(child).__name__ == "InputLayer":
            return  # a Sequential doesn't show it
        if name in _TOLD_AGAIN or name in _FUNCTIONS or name in (KERAS_ATTR, "signatures", "optimizer"):
            self._saved[name] = child
        if name in (KERAS_ATTR, "signatures"):
            self.__dict__[name] = child
        elif name not in self._saved:
            setattr(self, name, child)

    def _take_losses(self):
        """Regularizers, which the file keeps as functions, become losses of the layer."""
        api = self._saved.get(KERAS_ATTR)
        if api is not None and hasattr(api, "layer_regularization_losses"):
            self.add_loss(list(api.layer_regularization_losses))

    def _computed(self, inputs, training):
        """The outputs that the traced function gives; its losses are the layer's."""
        function = getattr(self._saved.get(KERAS_ATTR), "call_and_return_conditional_losses", None)
        if function is None:
            raise ValueError(
                f"{self.name} can't be called: it was not before it was saved, so the file has no trace of what it does."
            )
        if not self._told["expects_training_arg"]:
            outputs, losses = function(inputs)
        else:
            training = K.learning_phase() if training is None else training
            if isinstance(training, Tensor):
                phases = [lambda phase=phase: nest.flatten(function(inputs, training=phase)) for phase in (True, False)]
                flat = K.in_train_phase(*phases, training)
                outputs, losses = nest.pack_sequence_as(
                    function.concrete_functions[0].structured_outputs, nest.flatten(flat)
                )
            else:
                outputs, losses = function(inputs, training=bool(training))
        self.add_loss(losses, inputs=True)
        return outputs

    def get_config(self):
        if "config" not in self._told:
            raise NotImplementedError(f"{type(self).__name__} had no configuration when it was saved.")
        return self._told["config"]


def _revived_class(about, identifier):
    """A class for a layer or model of the file, under its name, with the arguments that its `call` had."""
    if about["expects_training_arg"]:

        def call(self, inputs, training=None):
            return self._computed(inputs, training)
    else:

        def call(self, inputs):
            return self._computed(inputs, None)

    is_network = identifier in ("_tf_keras_network", "_tf_keras_model", "_tf_keras_sequential")
    bases = (RevivedLayer, known_class("Model")) if is_network else (RevivedLayer,)
    return type(about["class_name"], bases, {"call": call, "_saved_kind": identifier, "__module__": __name__})


def note_inputs(model):
    """Draw a revived model once, on inputs as its signature for servers has them."""
    signature = model._saved.get("_default_save_signature")
    if signature is None:
        return
    (trace, *_) = signature.concrete_functions
    specs = [s for s in nest.flatten(trace.structured_input_signature) if isinstance(s, TensorSpec)]
    with K.get_graph().as_default():
        tensors = [K.placeholder(shape=s.shape, dtype=s.dtype.name, name=s.name) for s in specs]
        outputs = model(tensors[0] if len(tensors) == 1 else tensors)
    model._note_inputs_and_outputs(tensors, [s.name for s in specs], outputs)


def stand_ins(loader, class_names):
    """{class name: class} for a configuration: its `from_config` gives the file's own layer of the name."""

    def made(class_name):
        def from_config(cls, config, custom_objects=None):
            layer = loader.layer_named(class_name, config["name"])
            layer._batch_input_shape = layer._told.get("batch_input_shape") and tuple(layer._told["batch_input_shape"])
            return layer

        return type(class_name, (), {"from_config": classmethod(from_config)})

    return {name: made(name) for name in class_names}
