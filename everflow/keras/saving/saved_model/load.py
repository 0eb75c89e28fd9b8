"""Models from SavedModels: made from the configuration where the classes of all layers are known, or else revived from
their traced functions.
"""

from __future__ import annotations

import json

from everflow.framework import nest
from everflow.framework.operation import Tensor
from everflow.framework.type_specs import TensorSpec
from everflow.keras import backend as K
from everflow.keras import optimizers
from everflow.keras.engine.known_classes import known_class
from everflow.keras.saving import hdf5
from everflow.keras.saving.model_config import model_from_config
from everflow.saved_model.object_loading import ObjectLoader


def load(path, compile=True, custom_objects=None):
    """The model of a SavedModel that `model.save` or `tf.saved_model.save` wrote."""
    loader = ObjectLoader(path)
    root = loader.nodes[0].user_object
    if not root.identifier.startswith("_tf_keras"):
        raise ValueError(f"{path} has no Keras model; load it with `tf.saved_model.load_v2`.")
    about = json.loads(root.metadata)
    model = _from_config(about, custom_objects) or _revived(loader, about)
    held = {child.local_name: child.node_id for child in loader.nodes[0].children}
    numbers = [child.node_id for child in loader.nodes[held["variables"]].children]
    K.batch_set_value(
        [(variable, loader.value(number)) for variable, number in zip(model.weights, numbers, strict=True)]
    )
    training = about.get("training_config")
    if compile and training is not None:
        optimizer = optimizers.deserialize(training["optimizer_config"], custom_objects=custom_objects)
        model.compile(optimizer=optimizer, **hdf5.compile_arguments(training, custom_objects or {}))
    elif compile:
        hdf5.warn_of_missing_training(model)
    return model


def _from_config(about, custom_objects):
    """The model made from its configuration; None where that names classes that nobody knows."""
    config = about.get("model_config", {})
    if "config" not in config:
        return None
    try:
        model = model_from_config(config, custom_objects=custom_objects)
    except ValueError:
        return None
    shape = about.get("batch_input_shape")
    if not model.built and shape is not None:
        model.build(shape)
    return model if model.built else None


def _revived(loader, about):
    """A model of which only the traced functions are known."""
    loaded = loader.load()

    class Revived(known_class("Model")):  # type: ignore[misc]
        """A model from a SavedModel whose class is not known here."""

        def __init__(self):
            super().__init__(name=about["name"])
            for variable in loaded.variables:
                K.track_variable(variable)
                self._track(variable.name, variable)
                (self._trainable_weights if variable.trainable else self._non_trainable_weights).append(variable)

        def call(self, inputs, training=None):
            function = loaded.keras_api.call_and_return_conditional_losses
            training = K.learning_phase() if training is None else training
            if not about["expects_training_arg"]:
                outputs, losses = function(inputs)
            elif isinstance(training, Tensor):
                phases = [lambda phase=phase: nest.flatten(function(inputs, training=phase)) for phase in (True, False)]
                flat = K.in_train_phase(*phases, training)
                outputs, losses = nest.pack_sequence_as(function._concretes[0].structured_outputs, nest.flatten(flat))
            else:
                outputs, losses = function(inputs, training=bool(training))
            self.add_loss(losses, inputs=True)
            self.add_loss([make() for make in loaded.regularization_losses], inputs=True)
            return outputs

    Revived.__name__ = Revived.__qualname__ = about["class_name"]
    model = Revived()
    (trace, *_) = loaded._default_save_signature._concretes
    specs = [s for s in nest.flatten(trace.structured_input_signature) if isinstance(s, TensorSpec)]
    with K.get_graph().as_default():
        tensors = [K.placeholder(shape=s.shape, dtype=s.dtype.name, name=s.name) for s in specs]
        outputs = model(tensors[0] if len(tensors) == 1 else tensors)
    model._note_inputs_and_outputs(tensors, [s.name for s in specs], outputs)
    return model
