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
    """A reader of the checkpoint of this name.

    Args:
        filepattern: The checkpoint's name.

    Returns:
        A reader with `get_tensor(name)` and `get_variable_to_shape_map()`.

    Example:
        >>> v = tf.Variable([1.0, 2.0], name="v")
        >>> sess.run(v.initializer)
        >>> path = tf.train.Saver().save(sess, "./model")
        >>> tf.train.NewCheckpointReader(path).get_tensor("v")
        array([1., 2.], dtype=float32)
    """
    return CheckpointReader(filepattern)


def checkpoint_path(ckpt_dir_or_file):
    """A checkpoint from its own name or that of its folder."""
    if file_io.is_directory(ckpt_dir_or_file):
        return latest_checkpoint(ckpt_dir_or_file)
    return ckpt_dir_or_file


def load_checkpoint(ckpt_dir_or_file):
    """A reader of a checkpoint, or of the newest one in a folder.

    Args:
        ckpt_dir_or_file: A checkpoint, or a folder, whose newest one is meant.

    Returns:
        A reader with `get_tensor(name)` and `get_variable_to_shape_map()`.

    Raises:
        ValueError: If there is no checkpoint.

    Example:
        >>> v = tf.get_variable("v", [2])
        >>> sess.run(v.initializer)
        >>> reader = tf.train.load_checkpoint(tf.train.Saver().save(sess, "./model"))
        >>> reader.get_variable_to_shape_map()
        {'v': [2]}
    """
    path = checkpoint_path(ckpt_dir_or_file)
    if path is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints: {ckpt_dir_or_file}")
    return NewCheckpointReader(path)


def load_variable(ckpt_dir_or_file, name):
    """The value of one variable in a checkpoint.

    Args:
        ckpt_dir_or_file: A checkpoint, or a folder, whose newest one is meant.
        name: The variable's name.

    Returns:
        An array.

    Example:
        >>> v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
        >>> sess.run(v.initializer)
        >>> tf.train.load_variable(tf.train.Saver().save(sess, "./model"), "v")
        array([1., 1.], dtype=float32)
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file):
    """[(name, shape)] of a checkpoint, sorted.

    Args:
        ckpt_dir_or_file: A checkpoint, or a folder, whose newest one is meant.

    Returns:
        A list of pairs.

    Example:
        >>> v = tf.get_variable("v", [2])
        >>> sess.run(v.initializer)
        >>> tf.train.list_variables(tf.train.Saver().save(sess, "./model"))
        [('v', [2])]
    """
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return [(name, shapes[name]) for name in sorted(shapes)]
