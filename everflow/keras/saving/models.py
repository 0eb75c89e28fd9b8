"""`save_model` and `load_model`."""

from __future__ import annotations

import os

from everflow.eager import version_mark
from everflow.keras.saving import hdf5, saved_model


def save_model(model, filepath, overwrite=True, include_optimizer=True, save_format=None, signatures=None):
    """Save a model with its weights and, if it is compiled, what training needs to go on.

    Args:
        model: The model.
        filepath: The file, or folder.
        overwrite: Whether a file that is there is replaced; else the user is asked.
        include_optimizer: Whether the optimizer's state is saved.
        save_format: `h5` or `tf`; by the file's name if None.
        signatures: Signatures of a SavedModel.

    Returns:
        None.

    Raises:
        NotImplementedError: If the model can't be written in this format.
        ValueError: If the format isn't known.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=[2])])
        >>> tf.keras.models.save_model(model, "model.h5")
        >>> tf.gfile.Exists("model.h5")
        True
    """
    if save_format not in (None, "h5", "hdf5", "keras", "tf", "tensorflow"):
        raise ValueError(f"Unknown save_format {save_format!r}: it is 'h5' or 'tf'.")
    # A path's ending counts more than the format; "h5" is the only one that stands for a file where there is none.
    is_file = not isinstance(filepath, (str, os.PathLike)) or os.fspath(filepath).endswith((".h5", ".keras", ".hdf5"))
    if not is_file and (save_format or ("tf" if version_mark.enabled() else "h5")) != "h5":
        saved_model.save_model(model, filepath, overwrite, include_optimizer, signatures)
        return
    if not model._is_graph_network and type(model).__name__ != "Sequential":
        raise NotImplementedError(
            f"An HDF5 file holds a model as a graph of layers, and {model.name} has none, but a `call` of its own. "
            '`save_weights` saves its weights, save_format="tf" a model with its traced functions.'
        )
    hdf5.save_model(model, filepath, overwrite, include_optimizer)


def load_model(filepath, custom_objects=None, compile=True):
    """The model in a file that `save_model` wrote; `custom_objects` are the program's classes and functions by name.

    Args:
        filepath: The file, or folder.
        custom_objects: Classes and functions by the names that the configuration has for them.
        compile: Whether it is compiled as it was.

    Returns:
        A model.

    Raises:
        OSError: If there is no such file.

    Example:
        >>> tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=[2])]).save("model.h5")
        >>> tf.keras.models.load_model("model.h5").output_shape
        (None, 3)
    """
    if isinstance(filepath, (str, os.PathLike)):
        filepath = os.fspath(filepath)
        if os.path.isdir(filepath):
            return saved_model.load_model(filepath, compile, custom_objects)
    elif isinstance(filepath, hdf5.require_h5py().File):
        return hdf5.load_model(filepath, custom_objects, compile)
    if not os.path.exists(filepath):
        raise OSError(f"SavedModel file does not exist at: {filepath}")
    return hdf5.load_model(filepath, custom_objects, compile)
