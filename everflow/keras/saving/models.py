"""`save_model` and `load_model`."""

from __future__ import annotations

import os

from everflow.keras.saving import hdf5, saved_model


def save_model(model, filepath, overwrite=True, include_optimizer=True, save_format=None, signatures=None):
    """Save a model with its weights and, if it is compiled, what training needs to go on.

    >>> tf.keras.models.save_model(model, "model.h5")
    """
    save_format = save_format or "h5"
    if save_format not in ("h5", "hdf5", "keras", "tf", "tensorflow"):
        raise ValueError(f"Unknown save_format {save_format!r}: it is 'h5' or 'tf'.")
    if save_format in ("tf", "tensorflow"):
        saved_model.save_model(model, filepath, overwrite, include_optimizer, signatures)
        return
    if (
        not model._is_graph_network
        and type(model).__name__ != "Sequential"
        or (type(model).__name__ == "Sequential" and not model.built)
    ):
        raise NotImplementedError(
            f"An HDF5 file holds a model as a graph of layers, and {model.name} has none: either a `call` of its own, or no "
            'input shape yet. `save_weights` saves its weights, save_format="tf" a model with its traced functions.'
        )
    hdf5.save_model(model, filepath, overwrite, include_optimizer)


def load_model(filepath, custom_objects=None, compile=True):
    """The model in a file that `save_model` wrote; `custom_objects` are the program's classes and functions by name.

    >>> model = tf.keras.models.load_model("model.h5")
    """
    if isinstance(filepath, (str, os.PathLike)):
        filepath = os.fspath(filepath)
        if os.path.isdir(filepath):
            return saved_model.load_model(filepath, custom_objects, compile)
    elif isinstance(filepath, hdf5.require_h5py().File):
        return hdf5.load_model(filepath, custom_objects, compile)
    if not os.path.exists(filepath):
        raise OSError(f"SavedModel file does not exist at: {filepath}")
    return hdf5.load_model(filepath, custom_objects, compile)
