"""What a layer adds to a SavedModel to be made again: its configuration, and its `call`, traced for training and for use."""

from __future__ import annotations

import contextlib
import inspect
import json

from everflow.framework import nest
from everflow.framework.scopes import executing_eagerly
from everflow.framework.type_specs import TensorSpec
from everflow.keras import __version__
from everflow.keras import backend as K
from everflow.keras.engine.call_context import call_context
from everflow.keras.engine.layer_losses import as_before
from everflow.keras.engine.saved_form import register_forms
from everflow.keras.generic import named_config
from everflow.keras.metrics.metric import Metric
from everflow.keras.optimizers import Optimizer
from everflow.keras.saving import hdf5
from everflow.keras.saving.json_data import default
from everflow.keras.saving.saved_model.constants import KERAS_ATTR
from everflow.ops.functions.traced import Function
from everflow.ops.variables.auto_trackable import AutoTrackable
from everflow.saved_model.object_saving import save as save_object


def save(model, filepath, overwrite=True, include_optimizer=True, signatures=None):
    """Write a model as a SavedModel."""
    if not model._is_graph_network and not model.inputs:
        raise ValueError(
            f"Model {model.name} can't be saved: its input shapes have not been set. They are once it was called on data, by `fit` or "
            "`predict` for instance."
        )
    if not overwrite and not hdf5.may_write(filepath, overwrite):
        return
    optimizer = model.optimizer
    if not include_optimizer:
        model.__dict__["optimizer"] = None
    try:
        if executing_eagerly():
            save_object(model, filepath, signatures)
        else:
            # A function of the file has no phase of a graph to ask for.
            with K.get_session().as_default(), K.learning_phase_scope(0):
                save_object(model, filepath, signatures)
    finally:
        model.__dict__["optimizer"] = optimizer


def identity(layer):
    """(identifier, metadata) of a layer in the file."""
    about = {
        "class_name": type(layer).__name__,
        "name": layer.name,
        "trainable": layer.trainable,
        "expects_training_arg": layer._call_takes("training"),
        "dtype": layer.dtype,
        "batch_input_shape": getattr(layer, "_batch_input_shape", None),
    }
    with contextlib.suppress(NotImplementedError):
        about["config"] = layer.get_config()
    spec = layer.input_spec
    about["input_spec"] = nest.map_structure(
        lambda s: s and {"class_name": "InputSpec", "config": s.get_config()}, spec
    )
    about["activity_regularizer"] = layer._activity_regularizer and named_config(layer._activity_regularizer)
    if _is_network(layer):
        about.update(keras_version=__version__, backend=K.backend(), model_config={"class_name": type(layer).__name__})
        if "config" in about:
            about["model_config"]["config"] = about["config"]
        if isinstance(getattr(layer, "optimizer", None), Optimizer):  # those of tf.train have no configuration
            about["training_config"] = hdf5.training_config(layer)
    return layer._object_identifier, json.dumps(about, default=default)


def branches(layer):
    """What hangs on a layer in the file besides what checkpoints follow."""
    lists = {"variables": list(layer.variables), "trainable_variables": list(layer.trainable_variables)}
    lists["regularization_losses"] = [_loss_function(make) for make in _regularizers(layer)]
    inner = {
        "metrics": list(getattr(layer, "metrics", None) or []) if _is_network(layer) else [],
        "non_trainable_variables": list(layer.non_trainable_variables),
        "layer_regularization_losses": [_loss_function(make) for make in layer._callable_losses],
        "layers": list(layer.layers) if _is_network(layer) else [],
    }
    functions = {}
    if not isinstance(layer, Metric):
        functions = {
            "__call__": _call_function(layer, False),
            "call_and_return_all_conditional_losses": _call_function(layer, True),
        }
    if _is_network(layer):
        functions["_default_save_signature"] = serving_function(layer)
    api = AutoTrackable()
    with_losses = functions.get("call_and_return_all_conditional_losses")
    aliases = {"call_and_return_conditional_losses": with_losses} if functions else {}
    for name, value in {**inner, **lists, **functions, **aliases}.items():
        setattr(api, name, value)
    return [*lists.items(), (KERAS_ATTR, api), *functions.items()]


register_forms(identity, branches)


def _is_network(layer) -> bool:
    return hasattr(layer, "_is_graph_network")


def _regularizers(layer):
    return [*layer._callable_losses, *(make for inner in layer._nested_layers() for make in _regularizers(inner))]


def _loss_function(make):
    """A regularizer as a traced function: one, whoever asks."""

    def loss_fn():
        return make()

    if not hasattr(make, "traced"):
        make.traced = Function(loss_fn, input_signature=[], autograph=False)
    return make.traced


def _input_specs(layer):
    """The structure of TensorSpecs that a layer was first called with; None where it never was."""
    if getattr(layer, "inputs", None):
        specs = [
            TensorSpec(x.shape, x.dtype.base_dtype, name)
            for x, name in zip(layer.inputs, layer.input_names, strict=True)
        ]
        return specs[0] if len(specs) == 1 else specs
    return layer.__dict__.get("_first_inputs")


def _call_function(layer, with_losses):
    """A traced function of a layer's `call`, for training and for use."""

    def called(*args, **kwargs):
        with as_before(layer), call_context.enter(layer, args[0], None):
            outputs = layer.call(*args, **kwargs)
            if not with_losses:
                return outputs
            layer._regularize_activity(args[0], outputs)
            held = [inner for inner in [layer, *layer.submodules] if hasattr(inner, "_losses")]
            return outputs, [loss for inner in held for loss in inner._eager_losses or inner._losses]

    called.__name__ = f"{layer.name}_layer_call_" + ("and_return_conditional_losses" if with_losses else "fn")
    called.__signature__ = _signature_of_use(layer.call)
    called.is_method = True
    made = Function(called, autograph=False)
    specs = _input_specs(layer)
    if specs is not None:
        for phase in [{"training": True}, {"training": False}] if layer._call_takes("training") else [{}]:
            made.get_concrete_function(specs, **phase)
    return made


def _signature_of_use(call):
    """The signature of a layer's `call`, in which who doesn't speak of training means use."""
    signature = inspect.signature(call)
    parameters = [
        p.replace(default=False) if p.name == "training" and p.default is None else p
        for p in signature.parameters.values()
    ]
    return signature.replace(parameters=parameters)


def serving_function(model, specs=None):
    """The function of a model that servers call: named inputs, named outputs."""
    specs = specs or [
        TensorSpec(x.shape, x.dtype.base_dtype, name) for x, name in zip(model.inputs, model.input_names, strict=True)
    ]

    def _wrapped_model(*args):
        given = nest.flatten(args)
        if getattr(model, "_inputs_are_named", False):
            given = dict(zip(model.input_names, given, strict=True))
        elif len(given) == 1:
            given = given[0]
        with as_before(model), call_context.enter(model, given, None):
            outputs = model.call(given, training=False) if model._call_takes("training") else model.call(given)
        return dict(zip(model.output_names, nest.flatten(outputs), strict=True))

    # Several inputs are one argument, as in the model's own call.
    specs = [list(specs)] if len(specs) > 1 else specs
    return Function(_wrapped_model, input_signature=specs, autograph=False)
