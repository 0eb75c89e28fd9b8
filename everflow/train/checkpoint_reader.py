"""Looking into checkpoints without a graph: names, shapes, types and values."""

from __future__ import annotations

from everflow.formats.checkpoint import open_checkpoint
from everflow.platform import compat, file_io
from everflow.train.checkpoint_state import latest_checkpoint


class CheckpointReader:
    """The tensors of a checkpoint, by name.

    >>> reader = tf.train.NewCheckpointReader("model-1000")
    >>> reader.get_variable_to_shape_map()
    """

    def __init__(self, filename):
        self._path = compat.as_text(filename)
        self._reader = open_checkpoint(self._path)

    def has_tensor(self, tensor_str):
        return self._reader.has(compat.as_text(tensor_str))

    def get_variable_to_shape_map(self):
        """Name → shape, as a list of ints."""
        return {name: self._reader.shape(name) for name in self._reader.names()}

    def get_variable_to_dtype_map(self):
        """Name → DType."""
        return {name: self._reader.dtype(name) for name in self._reader.names()}

    def get_tensor(self, tensor_str):
        """The value of a tensor as a numpy array; a scalar string as bytes."""
        name = compat.as_text(tensor_str)
        array = self._reader.read(name)
        return array.item() if array.ndim == 0 and array.dtype == object else array[()] if array.ndim == 0 else array

    def debug_string(self):
        """A line for each tensor: name, type and shape."""
        lines = []
        for name in sorted(self._reader.names()):
            sizes = ",".join(str(n) for n in self._reader.shape(name))
            lines.append(f"{name} ({self._reader.dtype(name).enum_name}) [{sizes}]\n")
        return "".join(lines).encode()


def NewCheckpointReader(filepattern):
    """A reader of the checkpoint of this name."""
    return CheckpointReader(filepattern)


def checkpoint_path(ckpt_dir_or_file):
    """A checkpoint from its own name or that of its folder."""
    if file_io.is_directory(ckpt_dir_or_file):
        return latest_checkpoint(ckpt_dir_or_file)
    return ckpt_dir_or_file


def load_checkpoint(ckpt_dir_or_file):
    """A reader of a checkpoint, or of the newest one in a folder."""
    path = checkpoint_path(ckpt_dir_or_file)
    if path is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints: {ckpt_dir_or_file}")
    return NewCheckpointReader(path)


def load_variable(ckpt_dir_or_file, name):
    """The value of one variable in a checkpoint."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file):
    """[(name, shape)] of a checkpoint, sorted."""
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return [(name, shapes[name]) for name in sorted(shapes)]
