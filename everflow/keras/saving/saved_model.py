"""Keras models as SavedModels: what a layer adds to the file to be made again, and models from such files.

Each layer takes along its configuration and its `call`, traced for training and for use. A model whose layers' classes
are known is made from the configuration; any other is revived from its traced functions.
"""

from __future__ import annotations

import contextlib
import inspect
import json

from everflow.framework import nest
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly
from everflow.framework.type_specs import TensorSpec
from everflow.keras import __version__, optimizers
from everflow.keras import backend as K
from everflow.keras.engine.known_classes import known_class
from everflow.keras.engine.layer_losses import as_before
from everflow.keras.engine.saved_form import register_forms
from everflow.keras.generic import named_config
from everflow.keras.metrics.metric import Metric
from everflow.keras.optimizers import Optimizer
from everflow.keras.saving import hdf5
from everflow.keras.saving.json_data import default
from everflow.keras.saving.model_config import model_from_config
from everflow.ops.functions.traced import Function
from everflow.saved_model.object_loading import ObjectLoader
from everflow.saved_model.object_saving import save as save_object
from everflow.train.tracking import AutoTrackable

# --- saving ------------------------------------------------------------------------------------


def save_model(model, filepath, overwrite=True, include_optimizer=True, signatures=None):
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
        with contextlib.nullcontext() if executing_eagerly() else K.get_session().as_default():
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
    return layer._saved_kind, json.dumps(about, default=default)


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
    return [*lists.items(), ("keras_api", api), *functions.items()]


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
        with as_before(layer):
            outputs = layer.call(*args, **kwargs)
            if not with_losses:
                return outputs
            layer._regularize_activity(args[0], outputs)
            return outputs, [loss for inner in [layer, *layer.submodules] for loss in getattr(inner, "_losses", ())]

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
        given = list(args)
        if getattr(model, "_inputs_are_named", False):
            given = dict(zip(model.input_names, args, strict=True))
        elif len(given) == 1:
            given = given[0]
        with as_before(model):
            outputs = model.call(given, training=False) if model._call_takes("training") else model.call(given)
        return dict(zip(model.output_names, nest.flatten(outputs), strict=True))

    return Function(_wrapped_model, input_signature=specs, autograph=False)


# --- loading -----------------------------------------------------------------------------------


def load_model(folder, custom_objects=None, compile=True):
    """The model of a SavedModel that `model.save` or `tf.saved_model.save` wrote."""
    loader = ObjectLoader(folder)
    root = loader.nodes[0].user_object
    if not root.identifier.startswith("_tf_keras"):
        raise ValueError(f"{folder} has no Keras model; load it with `tf.saved_model.load_v2`.")
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
