"""The weights of a model in files: HDF5, or TensorFlow's checkpoints by objects."""

from __future__ import annotations

import os

from everflow.framework.errors import DataLossError
from everflow.framework.scopes import executing_eagerly
from everflow.keras import backend as K
from everflow.keras.saving import hdf5

_HDF5_EXTENSIONS = [".h5", ".hdf5", ".keras"]


def _is_hdf5_path(path):
    return path.endswith(tuple(_HDF5_EXTENSIONS))


def _session():
    """Keras's session; there is none when executing eagerly."""
    return None if executing_eagerly() else K.get_session()


def save(model, filepath, overwrite=True, save_format=None):
    """Write the weights of a model."""
    filepath = os.fspath(filepath)
    if save_format is None:
        save_format = "h5" if _is_hdf5_path(filepath) else "tf"
    else:
        wanted = save_format.lower().strip()
        if wanted in ("tensorflow", "tf"):
            save_format = "tf"
        elif wanted in ("hdf5", "h5", "keras"):
            save_format = "h5"
        else:
            raise ValueError(f'Unknown format "{save_format}". Was expecting one of {{"tf", "h5"}}.')
    if save_format == "tf" and _is_hdf5_path(filepath):
        raise ValueError(
            f'A checkpoint (save_format="tf") can\'t be called {filepath!r}, by which it would be read as an HDF5 file: '
            "leave the ending out."
        )
    model._assert_weights_created()
    if save_format == "h5":
        h5py = hdf5.require_h5py()
        if not model.built and not model.layers:
            raise ValueError("Unable to save weights of a model that has not been built.")
        if hdf5.may_write(filepath, overwrite):
            with h5py.File(filepath, "w") as file:
                hdf5.save_weights(file, model.layers)
        return
    if hdf5.may_write(filepath + ".index", overwrite):
        _save_checkpoint(model, filepath)


def _save_checkpoint(model, filepath):
    from everflow.train.checkpoint_state import write_state  # loads google_crc32c

    _object_saver(model).write(filepath, session=_session())
    write_state(os.path.dirname(filepath) or ".", filepath, [filepath], save_relative_paths=True)


def _object_saver(model):
    from everflow.train.object_checkpoint import ObjectSaver  # loads google_crc32c

    if "_object_saver" not in model.__dict__:
        model.__dict__["_object_saver"] = ObjectSaver(model)
    return model.__dict__["_object_saver"]


def load(model, filepath, by_name=False):
    """Read the weights of a model."""
    filepath = os.fspath(filepath)
    if _is_hdf5_path(filepath) or not _is_checkpoint(filepath):
        _load_hdf5(model, filepath, by_name)
        return None
    if by_name:
        raise NotImplementedError(
            "by_name=True is for HDF5 files: a checkpoint of TensorFlow is always loaded by the place of layers in the model."
        )
    status = _object_saver(model).read(filepath)
    if model.built or model._is_graph_network:
        status.run_restore_ops(session=_session())
        if not executing_eagerly() and hasattr(status, "restore_what_came"):
            # An optimizer makes its slots when the model is trained; then they are restored.
            model.__dict__["_waiting_slots"] = status
    else:
        # Variables come when the model is built; then they are restored.
        model.__dict__["_waiting_restore"] = status
    return status


def _is_checkpoint(filepath):
    from everflow.formats.checkpoint import open_checkpoint  # loads google_crc32c

    try:
        open_checkpoint(filepath)
    except DataLossError:
        return False
    return True


def _load_hdf5(model, filepath, by_name):
    h5py = hdf5.require_h5py()
    if not model._is_graph_network and not model.built:
        raise ValueError(
            f"{model.name} has no variables yet for the weights of an HDF5 file to go to: call it on data first, then load them."
        )
    model._assert_weights_created()
    if not os.path.exists(filepath):
        raise OSError(f"Unable to open file: there is no {filepath}")
    with h5py.File(filepath, "r") as file:
        group = file["model_weights"] if "layer_names" not in file.attrs and "model_weights" in file else file
        (hdf5.load_weights_by_name if by_name else hdf5.load_weights)(group, model.layers)
