"""A model drawn anew, with its optimizer and metrics, for another graph: what is exported, or trained as an Estimator."""

from __future__ import annotations

from everflow.framework import nest
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, get_collection
from everflow.keras import backend as K
from everflow.keras.engine.network import Network
from everflow.keras.engine.tracked_attributes import is_layer
from everflow.keras.generic import CustomObjectScope
from everflow.keras.metrics import clone_metrics
from everflow.keras.models import Sequential, clone_model
from everflow.keras.optimizers import TFOptimizer
from everflow.ops.control_flow.grouping import group
from everflow.platform.signatures import takes


def clone_with(model, inputs, custom_objects):
    """The model drawn anew, on these inputs or placeholders."""
    with CustomObjectScope(custom_objects or {}):
        return clone_model(model, input_tensors=inputs)


def copy_of(optimizer, global_step, config=None):
    """An optimizer with the same settings that counts in the global step, or in one of its own where that is None;
    `config` has them where they are known.
    """
    if isinstance(optimizer, TFOptimizer):
        copy = TFOptimizer(optimizer.optimizer, global_step)
        K.track_tf_optimizer(copy)
        return copy
    copy = optimizer.__class__.from_config(config or optimizer.get_config())
    if global_step is not None:
        copy.iterations = global_step
    return copy


def as_metric_op(metric):
    """(result, update) of a metric, as tf.metrics gives them; its state starts anew with each evaluation."""
    for collection in (GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES):
        known = get_collection(collection)
        for variable in metric.variables:
            if all(variable is not other for other in known):
                add_to_collection(collection, variable)
    return metric.result(), group(*metric.updates)


@takes(
    """model, input_tensors=None, target_tensors=None, custom_objects=None, compile_clone=True, in_place_reset=False,
    optimizer_iterations=None, optimizer_config=None"""
)
def clone_and_build_model(
    model, input_tensors, target_tensors, custom_objects, compile_clone, in_place_reset, **counted
):
    """The model drawn anew, and compiled as it was; one with a `call` of its own is reset in place, where that is asked
    for.
    """
    if compile_clone and not model.optimizer:
        raise ValueError(f"{model.name} isn't compiled, so its copy can't be: pass compile_clone=False.")
    arguments = dict(model._compile_arguments or {})
    optimizer = model.optimizer
    if model._is_graph_network or isinstance(model, Sequential):
        clone = clone_with(model, input_tensors, custom_objects)
        if not clone.inputs and model.inputs:
            clone._set_inputs([K.placeholder(shape=x.shape, dtype=x.dtype) for x in model.inputs])
    elif in_place_reset:
        clone = model
        reset_in_place(clone)
        if input_tensors is not None:
            given = nest.flatten(input_tensors)
            clone._set_inputs(given[0] if len(given) == 1 else given)
    else:
        raise ValueError(f"{model.name} has a `call` of its own, so it can't be copied: pass in_place_reset=True.")
    if compile_clone:
        for kind in ("metrics", "weighted_metrics"):
            arguments[kind] = clone_metrics(arguments[kind])
        arguments["target_tensors"] = target_tensors
        copy = copy_of(optimizer, counted["optimizer_iterations"], counted["optimizer_config"])
        clone.compile(optimizer=copy, **arguments)
    return clone


# --- models with a `call` of their own ---------------------------------------------------------

_KEPT = "_before_reset"


def reset_in_place(model):
    """Give a model new layers, like those it has, and forget what they were trained for, until `restore_in_place`."""
    if model._is_graph_network:
        raise AssertionError(f"{model.name} is made of inputs and outputs: `clone_model` copies it.")
    held = {name: value for name, value in model.__dict__.get("_tracked", {}).items() if name in vars(model)}
    for name, value in held.items():
        if isinstance(value, (list, dict)) and any(is_layer(x) for x in nest.flatten(value)):
            raise ValueError(f"`{name}` is a list of layers; a model can only be reset if each is an attribute.")
        if isinstance(value, Network):
            raise ValueError(f"`{name}` is a model itself; a model can only be reset if it holds plain layers.")
    layers = {name: value for name, value in held.items() if is_layer(value)}
    model.__dict__[_KEPT] = layers, {name: value for name, value in vars(model).items() if name not in held}
    for name, layer in layers.items():
        setattr(model, name, type(layer).from_config(layer.get_config()))
    _begin_anew(model)


def restore_in_place(model):
    """Put back what `reset_in_place` took out of a model."""
    if _KEPT not in model.__dict__:
        return
    layers, state = model.__dict__.pop(_KEPT)
    for name, layer in layers.items():
        setattr(model, name, layer)
    model.__dict__.update(state)  # also what it was compiled to


def _begin_anew(model):
    model.inputs = model.outputs = None
    model.built = False
    model._forget_compilation()


_in_place_subclassed_model_reset = reset_in_place  # their names inside TensorFlow
in_place_subclassed_model_state_restoration = restore_in_place
