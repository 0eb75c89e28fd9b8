"""tf.keras.models: models, copies of them, and models from files and configurations."""

# ruff: noqa: F401  Model and Sequential are public here.

from __future__ import annotations

import everflow.keras.layers  # they are made by name from configurations
from everflow.framework import nest
from everflow.keras.engine.input_layer import Input, InputLayer
from everflow.keras.engine.network import Network
from everflow.keras.engine.sequential import Sequential
from everflow.keras.engine.training import Model
from everflow.keras.saving.model_config import model_from_config, model_from_json, model_from_yaml
from everflow.keras.saving.models import load_model, save_model


def _clone_layer(layer):
    return type(layer).from_config(layer.get_config())


def share_weights(layer):
    """The layer itself, for `clone_model(model, clone_function=share_weights)`."""
    return layer


def clone_model(model, input_tensors=None, clone_function=None):
    """A model with the same layers and new weights; on `input_tensors` instead of placeholders where they are given.

    Args:
        model: The model.
        input_tensors: Tensors to use as inputs.
        clone_function: A function of a layer that gives its copy; one from its configuration if None.

    Returns:
        A model.

    Raises:
        ValueError: If it is no model of layers.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=[2])])
        >>> tf.keras.models.clone_model(model).output_shape
        (None, 3)
    """
    clone = clone_function or _clone_layer
    if not callable(clone):
        raise ValueError("Expected `clone_function` argument to be a callable.")
    if isinstance(model, Sequential):
        return _clone_sequential_model(model, input_tensors, clone)
    return _clone_functional_model(model, input_tensors, clone)


def _clone_sequential_model(model, input_tensors=None, layer_fn=_clone_layer):
    if not isinstance(model, Sequential):
        raise ValueError(f"{model!r} is no Sequential model.")
    layers = [layer_fn(layer) for layer in model.layers if not isinstance(layer, InputLayer)]
    if input_tensors is None:
        first = [_clone_layer(layer) for layer in model._graph_layers[:1] if isinstance(layer, InputLayer)]
        return Sequential(layers=first + layers, name=model.name)
    tensors = nest.flatten(input_tensors)
    if len(tensors) != 1:
        raise ValueError(f"A Sequential model has one input; `input_tensors` has {len(tensors)}.")
    x = tensors[0]
    if not hasattr(x, "_keras_history"):
        x = Input(tensor=x, name="input_wrapper_for_" + x.name.replace(":", "_"))
    origin = x._keras_history.layer
    if not isinstance(origin, InputLayer):
        raise ValueError(
            f"The input of a Sequential model comes from `tf.keras.Input`, or is a tensor that no layer made; {x} is what layer "
            f"{origin.name} made."
        )
    return Sequential(layers=[origin, *layers], name=model.name)


def _clone_functional_model(model, input_tensors=None, layer_fn=_clone_layer):
    if not isinstance(model, Model):
        raise ValueError(f"Only a model can be cloned; {model!r} is none.")
    if isinstance(model, Sequential):
        raise ValueError(f"{model.name} is a Sequential model, and not one of inputs and outputs.")
    if not model._is_graph_network:
        raise ValueError(f"{model.name} has a `call` of its own: only models of inputs and outputs can be cloned.")
    copies = {}
    if input_tensors is None:
        given = [
            Input(batch_shape=layer._batch_input_shape, dtype=layer.dtype, sparse=layer.sparse, name=layer.name)
            for layer in model._input_layers
        ]
    else:
        given = []
        if len(nest.flatten(input_tensors)) != len(model._input_layers):
            raise AssertionError(
                f"{model.name} has {len(model._input_layers)} inputs, and {len(nest.flatten(input_tensors))} tensors are given."
            )
        for tensor, layer in zip(nest.flatten(input_tensors), model._input_layers):
            of_keras = hasattr(tensor, "_keras_history")
            given.append(tensor if of_keras else Input(tensor=tensor, name="input_wrapper_for_" + layer.name))
    made = {id(x): y for x, y in zip(model.inputs, given)}
    for node in model._topology.in_order():
        if not nest.flatten(node.inbound_layers):
            continue
        layer = node.outbound_layer
        if layer not in copies:
            copies[layer] = layer_fn(layer)
        inputs = nest.map_structure(lambda x: made[id(x)], node.input_tensors)
        arguments = nest.map_structure(lambda x: made.get(id(x), x), node.arguments or {})
        outputs = copies[layer](inputs, **arguments)
        for x, y in zip(nest.flatten(node.output_tensors), nest.flatten(outputs)):
            made[id(x)] = y
    outputs = [made[id(x)] for x in model.outputs]
    copy = Model(given, outputs, name=model.name)
    beside = [layer for layer in copies.values() if layer not in copy._graph_layers]
    if beside:
        copy._insert_layers(beside)
    return copy
