"""Weights and models in HDF5 files, as Keras lays them out."""

from __future__ import annotations

import json
import os
import sys

import numpy as np

from everflow.framework.scopes import executing_eagerly
from everflow.keras import __version__, losses, metrics, optimizers
from everflow.keras import backend as K
from everflow.keras.generic import get_custom_objects
from everflow.keras.saving.json_data import default
from everflow.keras.saving.model_config import model_from_config
from everflow.platform import logging

# HDF5 takes attributes of up to 64 KB, less a header; longer lists go into several.
_ATTRIBUTE_LIMIT = 64512


def require_h5py():
    """The h5py module; an ImportError that says what to install."""
    try:
        import h5py
    except ImportError as e:
        raise ImportError(
            "Saving and loading HDF5 files needs the package h5py: pip install 'everflow[keras]', or pip install h5py."
        ) from e
    return h5py


def may_write(filepath, overwrite):
    """Whether a file may be written; asks on the terminal where it is there already."""
    return overwrite or not os.path.isfile(filepath) or ask_to_proceed_with_overwrite(filepath)


def ask_to_proceed_with_overwrite(filepath):
    """Ask whether a file that is there may be written anew; say how to make that sure."""
    # Programs that answer for the user put something else in the place of six's name for `input`.
    ask = getattr(getattr(sys.modules.get("six"), "moves", None), "input", input)
    answer = ask(f"[WARNING] {filepath} already exists - overwrite? [y/n]").strip().lower()
    while answer not in ("y", "n"):
        answer = ask('Enter "y" (overwrite) or "n" (cancel).').strip().lower()
    if answer == "y":
        print("[TIP] Next time specify overwrite=True!")
    return answer == "y"


# --- lists of names ---------------------------------------------------------------------------


def save_names(group, name, data):
    """Write names as an attribute, or as several where one can't hold them."""
    too_long = [n for n in data if len(n) > _ATTRIBUTE_LIMIT]
    if too_long:
        raise RuntimeError(f"An HDF5 file takes names of up to {_ATTRIBUTE_LIMIT} bytes; these are longer: {too_long}")
    array = np.asarray(data)
    count = 1
    parts = np.array_split(array, count)
    while any(part.nbytes > _ATTRIBUTE_LIMIT for part in parts):
        count += 1
        parts = np.array_split(array, count)
    if count == 1:
        group.attrs[name] = array if len(data) else np.asarray([], dtype="S1")
        return
    for i, part in enumerate(parts):
        group.attrs[f"{name}{i}"] = part


def load_names(group, name):
    """The names that `save_names` wrote; none where it didn't."""
    if name in group.attrs:
        found = list(group.attrs[name])
    else:
        found, i = [], 0
        while f"{name}{i}" in group.attrs:
            found += list(group.attrs[f"{name}{i}"])
            i += 1
    return [n.decode("utf8") if isinstance(n, bytes) else n for n in found]


def _text(value):
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


# --- weights ----------------------------------------------------------------------------------


def _weights_in_file_order(layer):
    """Files have trained weights first, also those of nested models."""
    return layer.trainable_weights + layer.non_trainable_weights


def save_weights(f, layers):
    """Write the weights of layers, a group for each."""
    save_names(f, "layer_names", [layer.name.encode("utf8") for layer in layers])
    f.attrs["backend"] = K.backend().encode("utf8")
    f.attrs["keras_version"] = str(__version__).encode("utf8")
    for layer in layers:
        of_layer = f.create_group(layer.name)
        weights = _weights_in_file_order(layer)
        _save_arrays(of_layer, weights, [w.name.encode("utf8") for w in weights])


def _save_arrays(group, weights, names):
    values = K.batch_get_value(weights)
    save_names(group, "weight_names", names)
    for name, value in zip(names, values):
        dataset = group.create_dataset(name.decode(), value.shape, dtype=value.dtype)
        if value.shape:
            dataset[:] = value
        else:
            dataset[()] = value


def _load_arrays(group, name):
    names = load_names(group[name], "weight_names")
    return [np.asarray(group[name][weight]) for weight in names]


def _pairs(group, name, layer, number):
    """(weight, value) for the weights of a layer, from those of this name in a file."""
    version = _text(group.attrs["keras_version"]) if "keras_version" in group.attrs else "1"
    values, weights = converted(layer, _load_arrays(group, name), version), _weights_in_file_order(layer)
    if len(values) != len(weights):
        raise ValueError(
            f"Layer #{number}, {layer.name}, has {len(weights)} weights; {name} in the file has {len(values)}."
        )
    return zip(weights, values)


def load_weights(f, layers):
    """Give layers the weights of a file, in order."""
    layers = [layer for layer in layers if _weights_in_file_order(layer)]
    names = [name for name in load_names(f, "layer_names") if load_names(f[name], "weight_names")]
    if len(names) != len(layers):
        raise ValueError(
            f"The weight file has {len(names)} layers with weights, the model {len(layers)}: by_name=True loads those of the same name."
        )
    pairs = []
    for k, (name, layer) in enumerate(zip(names, layers)):
        pairs += _pairs(f, name, layer, k)
    _set(pairs)


def load_weights_by_name(f, layers):
    """Give layers the weights of the layers of the same name in a file, where there are."""
    index = {}
    for layer in layers:
        if layer.name:
            index.setdefault(layer.name, []).append(layer)
    pairs = []
    for k, name in enumerate(load_names(f, "layer_names")):
        for layer in index.get(name, []):
            pairs += _pairs(f, name, layer, k)
    _set(pairs)


def _set(pairs):
    for weight, value in pairs:
        if tuple(weight.shape.as_list()) != np.shape(value):
            raise ValueError(
                f"Shapes {tuple(weight.shape.as_list())} and {np.shape(value)} are incompatible: the file has other weights for {weight.name}."
            )
    K.batch_set_value(pairs)


def converted(layer, values, version):
    """Weights of other versions of Keras, and of the cuDNN forms of recurrent layers, as this layer has them."""
    kind = type(layer).__name__
    if version == "1":
        values = _from_keras_1(layer, kind, values)
    if kind in ("Bidirectional", "TimeDistributed") or hasattr(layer, "layers"):
        return values
    shapes = [tuple(w.shape.as_list()) for w in _weights_in_file_order(layer)]
    differs = len(values) == len(shapes) == 3 and values[2].shape != shapes[2]
    if differs and kind in ("LSTM", "CuDNNLSTM", "GRU", "CuDNNGRU"):
        return _between_cudnn(kind, values, shapes[2])
    return values


def _from_keras_1(layer, kind, values):
    if kind in ("Conv1D", "Conv2D", "Conv3D") and layer.data_format == "channels_first" and values[0].ndim > 2:
        axes = (*range(2, values[0].ndim), 1, 0)
        return [np.transpose(values[0], axes), *values[1:]]
    if kind == "Conv2DTranspose":
        return [np.transpose(values[0], (0, 1, 3, 2)), *values[1:]]
    if kind == "Conv1D" and values[0].ndim == 4:
        return [values[0][:, 0, :, :], *values[1:]]
    if kind == "LSTM" and len(values) == 12:
        # One matrix for each gate in the order i, c, f, o; Keras 2 has i, f, c, o side by side.
        order = (0, 6, 3, 9)
        return [np.concatenate([values[i + part] for i in order], axis=-1) for part in range(3)]
    if kind == "GRU" and len(values) == 9:
        return [np.concatenate([values[i + part] for i in (0, 3, 6)], axis=-1) for part in range(3)]
    return values


def _between_cudnn(kind, values, shape):
    """cuDNN keeps two biases, one for the inputs and one for the states, and its kernels transposed gate by gate."""
    kernel, recurrent, bias = values
    units = recurrent.shape[0]
    gates = 4 if kind.endswith("LSTM") else 3
    from_cudnn = bias.shape == (2 * gates * units,)

    def turned(matrix, inputs):
        parts = np.hsplit(matrix, gates)
        if from_cudnn:
            return np.hstack([part.reshape((units, -1)).T for part in parts])
        return np.hstack([part.T.reshape((inputs, units)) for part in parts])

    kernel, recurrent = turned(kernel, kernel.shape[0]), turned(recurrent, units)
    if gates == 4:
        return [kernel, recurrent, np.sum(np.split(bias, 2), axis=0) if from_cudnn else np.tile(0.5 * bias, 2)]
    if from_cudnn and len(shape) == 2:
        return [kernel, recurrent, bias.reshape((2, -1))]
    if not from_cudnn and bias.ndim == 2:
        return [kernel, recurrent, bias.flatten()]
    raise ValueError(
        f"The bias in the file has shape {bias.shape}, that of the layer {shape}: `reset_after` must be the same."
    )


# --- models -----------------------------------------------------------------------------------


def save_model(model, filepath, overwrite=True, include_optimizer=True):
    """Write a model: its configuration, weights, and what training needs to go on."""
    h5py = require_h5py()
    if not isinstance(filepath, h5py.File):
        filepath = os.fspath(filepath)
        if not may_write(filepath, overwrite):
            return
    file = filepath if isinstance(filepath, h5py.File) else h5py.File(filepath, mode="w")
    try:
        config = model.get_config()
        file.attrs["keras_version"] = str(__version__).encode("utf8")
        file.attrs["backend"] = K.backend().encode("utf8")
        written = {"class_name": type(model).__name__, "config": config}
        file.attrs["model_config"] = json.dumps(written, default=default).encode("utf8")
        save_weights(file.create_group("model_weights"), model.layers)
        if include_optimizer and model.optimizer:
            if isinstance(model.optimizer, optimizers.TFOptimizer):
                logging.warning(
                    "Optimizers of tf.train can't be written to an HDF5 file, as they don't tell their settings: the model is "
                    "saved without it and has to be compiled again after loading."
                )
            else:
                file.attrs["training_config"] = json.dumps(training_config(model), default=default).encode("utf8")
                weights = model.optimizer.weights
                if weights:
                    save_optimizer_weights(file, weights)
        file.flush()
    finally:
        if file is not filepath:
            file.close()


def save_optimizer_weights(file, weights):
    """Write the state of an optimizer."""
    _save_arrays(file.create_group("optimizer_weights"), weights, [w.name.encode("utf8") for w in weights])


def training_config(model):
    """What `compile` was told, and the optimizer, as plain data."""
    metrics = _names_of(model._compile_metrics)
    return {
        "loss": model.loss,
        "metrics": metrics,
        "weighted_metrics": _names_of(model._compile_weighted_metrics),
        "sample_weight_mode": model.sample_weight_mode,
        "loss_weights": model.loss_weights,
        "optimizer_config": {"class_name": type(model.optimizer).__name__, "config": model.optimizer.get_config()},
    }


def _names_of(metrics):
    if metrics is None:
        return None
    if isinstance(metrics, dict):
        return {key: _names_of(value) if isinstance(value, (list, tuple)) else value for key, value in metrics.items()}
    return list(metrics)


def load_model(filepath, custom_objects=None, compile=True):
    """Read what `save_model` wrote."""
    h5py = require_h5py()
    file = filepath if isinstance(filepath, h5py.File) else h5py.File(os.fspath(filepath), mode="r")
    try:
        config = file.attrs.get("model_config")
        if config is None:
            raise ValueError("No model found in config file.")
        model = model_from_config(json.loads(_text(config)), custom_objects=custom_objects)
        load_weights(file["model_weights"], model.layers)
        if not compile:
            return model
        training = file.attrs.get("training_config")
        if training is None:
            warn_of_missing_training(model)
            return model
        training = json.loads(_text(training))
        optimizer = optimizers.deserialize(training["optimizer_config"], custom_objects=custom_objects)
        model.compile(optimizer=optimizer, **compile_arguments(training, custom_objects or {}))
        if "optimizer_weights" in file and model.inputs:
            _make_optimizer_weights(model)
            names = load_names(file["optimizer_weights"], "weight_names")
            values = [np.asarray(file["optimizer_weights"][name]) for name in names]
            try:
                model.optimizer.set_weights(values)
            except ValueError as error:
                logging.warning(
                    f"The state of the optimizer in the file doesn't fit ({error}): the optimizer begins anew."
                )
        return model
    finally:
        if file is not filepath:
            file.close()


def warn_of_missing_training(model):
    """Say that a file has nothing for `compile`."""
    logging.warning(
        f"The file has no training configuration: call `compile` before {model.name} is trained or evaluated."
    )


def _make_optimizer_weights(model):
    """The variables of an optimizer come with its first step; here they are needed before."""
    if not executing_eagerly():
        model._make_train_function()
        return
    model.optimizer.iterations  # noqa: B018  made when first asked for
    model.optimizer._create_hypers()
    model.optimizer._create_slots(model.trainable_weights)


def compile_arguments(training, custom_objects):
    """The arguments of `compile` from what `training_config` gave."""
    custom = {**get_custom_objects(), **custom_objects}

    def read(value, module):
        """Names of the program's own functions as these, written objects as objects."""
        if isinstance(value, list):
            return [read(v, module) for v in value]
        if isinstance(value, dict):
            if "class_name" in value and "config" in value:
                return module.deserialize(value, custom_objects=custom)
            return {k: read(v, module) for k, v in value.items()}
        return custom.get(value, value) if isinstance(value, str) else value

    wanted = ("loss", "metrics", "weighted_metrics", "sample_weight_mode", "loss_weights")
    arguments = {key: training.get(key) for key in wanted}
    modules = {"loss": losses, "metrics": metrics, "weighted_metrics": metrics}
    return {**arguments, **{key: read(arguments[key], module) for key, module in modules.items()}}
