"""Names that programs take from inside TensorFlow's `keras.saving.hdf5_format` and `saving_utils`: parts of HDF5 files,
and a model's call as a function.
"""

from __future__ import annotations

from typing import Any

from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec
from everflow.keras import __version__ as VERSION
from everflow.keras import backend, optimizers
from everflow.keras.saving import hdf5
from everflow.keras.saving.saved_model import serving_function
from everflow.ops.functions.traced import Function

HDF5_OBJECT_HEADER_LIMIT = 64512
save_model_to_hdf5, load_model_from_hdf5 = hdf5.save_model, hdf5.load_model
save_weights_to_hdf5_group, load_weights_from_hdf5_group = hdf5.save_weights, hdf5.load_weights
load_weights_from_hdf5_group_by_name = hdf5.load_weights_by_name
save_attributes_to_hdf5_group, load_attributes_from_hdf5_group = hdf5.save_names, hdf5.load_names
should_overwrite = hdf5.may_write


# --- HDF5 files -----------------------------------------------------------------------------------


def save_optimizer_weights_to_hdf5_group(hdf5_group: Any, optimizer: Any) -> None:
    """Write the state of an optimizer, where it has one."""
    if optimizer.weights:
        hdf5.save_optimizer_weights(hdf5_group, optimizer.weights)


def load_optimizer_weights_from_hdf5_group(hdf5_group: Any) -> list[Any]:
    """The state of an optimizer in a file, as datasets in the order of its weights."""
    group = hdf5_group["optimizer_weights"]
    return [group[name] for name in hdf5.load_names(group, "weight_names")]


def preprocess_weights_for_loading(
    layer: Any, weights: list[Any], original_keras_version: str | None = None, original_backend: str | None = None
) -> list[Any]:
    """Values as a layer takes them, from those that an older version of Keras or another kind of it wrote."""
    return hdf5.converted(layer, weights, original_keras_version or VERSION)


def _convert_rnn_weights(layer: Any, weights: list[Any]) -> list[Any]:
    """Values of an LSTM or GRU, or of its form for cuDNN, as the layer has them."""
    kind, units = type(layer).__name__, weights[1].shape[0]
    biases = {"LSTM": (4 * units,), "CuDNNLSTM": (8 * units,), "GRU": (3 * units,), "CuDNNGRU": (6 * units,)}
    if getattr(layer, "reset_after", False) and kind == "GRU":
        biases["GRU"] = (2, 3 * units)
    if kind not in biases or weights[2].shape == biases[kind]:
        return weights
    if weights[2].shape not in {*biases.values(), (2, 3 * units)} or biases[kind] == (3 * units,):
        raise ValueError(f"The weights have a bias of shape {weights[2].shape}, which no {kind} of {units} units has.")
    return hdf5._between_cudnn(kind, weights, biases[kind])


def _legacy_weights(model: Any) -> list[Any]:
    """Weights in the order of files."""
    return model.trainable_weights + model.non_trainable_weights


# --- models ---------------------------------------------------------------------------------------


def model_input_signature(model: Any) -> list[TensorSpec] | None:
    """What a model takes, by the names of its inputs; None where it was not called yet."""
    if not model.inputs:
        return None
    shapes = [x.shape for x in model.inputs]
    if not model._is_graph_network:  # its first batch tells nothing of the size of others
        shapes = [TensorShape([None, *shape[1:]]) if shape.rank else shape for shape in shapes]
    known = zip(shapes, model.inputs, model.input_names, strict=True)
    return [TensorSpec(shape, x.dtype.base_dtype, name) for shape, x, name in known]


def raise_model_input_error(model: Any) -> None:
    """Say that a model has to know its inputs before it is saved."""
    raise ValueError(
        f"{model} doesn't know the shapes of its inputs, and so can't be saved: call it on a batch, or fit it, before"
    )


def trace_model_call(model: Any, input_signature: list[TensorSpec] | None = None) -> Function:
    """A model's call as a function from its inputs to its outputs by name."""
    if input_signature is None and not model.inputs:
        raise_model_input_error(model)
    return serving_function(model, input_signature)


def model_metadata(model: Any, include_optimizer: bool = True, require_config: bool = True) -> dict[str, Any]:
    """What a file says of a model besides its weights."""
    try:
        config = {"class_name": type(model).__name__, "config": model.get_config()}
    except NotImplementedError:
        if require_config:
            raise
        config = None
    found: dict[str, Any] = {"keras_version": VERSION, "backend": backend.backend()}
    if config is not None:
        found["model_config"] = config
    if include_optimizer and model.optimizer and not isinstance(model.optimizer, optimizers.TFOptimizer):
        found["training_config"] = hdf5.training_config(model)
    return found


def compile_args_from_training_config(training_config: dict, custom_objects: dict | None = None) -> dict[str, Any]:
    """The arguments of `compile` that a file tells."""
    optimizer = optimizers.deserialize(training_config["optimizer_config"], custom_objects=custom_objects)
    return {"optimizer": optimizer, **hdf5.compile_arguments(training_config, custom_objects or {})}


def extract_model_metrics(model: Any) -> dict[str, Any] | None:
    """{name: metric} of what a model was compiled with; None where it has none."""
    if not getattr(model, "_compile_metrics", None):
        return None
    return {metric.name: metric for metric in model.metrics}
