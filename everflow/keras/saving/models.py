"""`save_model` and `load_model`."""

from __future__ import annotations

import os


def save_model(model, filepath, overwrite=True, include_optimizer=True, save_format=None, signatures=None):
    """Save a model with its weights and, if it is compiled, what training needs to go on.

    >>> tf.keras.models.save_model(model, "model.h5")
    """
    from everflow.framework.scopes import executing_eagerly
    from everflow.keras.saving import hdf5

    save_format = save_format or "h5"
    if save_format not in ("h5", "hdf5", "keras", "tf", "tensorflow"):
        raise ValueError(f"Unknown save_format {save_format!r}: it is 'h5' or 'tf'.")
    if save_format in ("tf", "tensorflow"):
        if not executing_eagerly():
            raise NotImplementedError(
                'Saving the model as SavedModel is not supported in TensorFlow 1.X graph mode. Please enable eager execution or use the "h5" save format.'
            )
        raise NotImplementedError('Everflow doesn\'t save Keras models as SavedModels yet; use the "h5" save format.')
    if not model._is_graph_network and type(model).__name__ != "Sequential" or (type(model).__name__ == "Sequential" and not model.built):
        raise NotImplementedError(
            "Saving the model to HDF5 format requires the model to be a Functional model or a Sequential model. It does not work for subclassed "
            "models, because such models are defined via the body of a Python method, which isn't safely serializable. Consider saving only the weights with `save_weights`."
        )
    hdf5.save_model(model, filepath, overwrite, include_optimizer)


def load_model(filepath, custom_objects=None, compile=True):  # noqa: A002  Keras's name
    """The model in a file that `save_model` wrote; `custom_objects` are the program's own classes and functions by name.

    >>> model = tf.keras.models.load_model("model.h5")
    """
    from everflow.keras.saving import hdf5

    h5py = hdf5.require_h5py()
    if isinstance(filepath, h5py.File):
        return hdf5.load_model(filepath, custom_objects, compile)
    filepath = os.fspath(filepath)
    if os.path.isdir(filepath):
        raise NotImplementedError(f"{filepath} is a folder: Everflow loads Keras models from HDF5 files only, yet.")
    if not os.path.exists(filepath):
        raise OSError(f"SavedModel file does not exist at: {filepath}")
    return hdf5.load_model(filepath, custom_objects, compile)
