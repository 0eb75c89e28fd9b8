"""What Keras takes for granted: the float type, the fuzz factor, and where the channels of images are.

They start from `~/.keras/keras.json` where it exists, as Keras has always done.
"""

from __future__ import annotations

import json
import os

import numpy as np

from everflow.framework.operation import Tensor
from everflow.ops.math import cast
from everflow.ops.variables.variable import Variable

_FLOAT_TYPES = ("float16", "float32", "float64")
_IMAGE_FORMATS = ("channels_last", "channels_first")
_settings = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"}


def keras_home() -> str:
    """The folder of settings, downloaded datasets and weights: KERAS_HOME, or ~/.keras."""
    return os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")


def _read_settings():
    try:
        with open(os.path.join(keras_home(), "keras.json")) as file:
            found = json.load(file)
    except (OSError, ValueError):
        return
    for name, setter in (
        ("floatx", set_floatx),
        ("epsilon", set_epsilon),
        ("image_data_format", set_image_data_format),
    ):
        if name in found:
            setter(found[name])


def backend():
    """The name of what Keras runs on.

    Returns:
        A string.

    Example:
        >>> tf.keras.backend.backend()
        'tensorflow'
    """
    return "tensorflow"


def floatx():
    """The name of the float type that layers and variables have by default.

    Returns:
        A string.

    Example:
        >>> tf.keras.backend.floatx()
        'float32'
    """
    return _settings["floatx"]


def set_floatx(value):
    """Set the default float type: "float16", "float32" or "float64".

    Args:
        value: The name of the type.

    Returns:
        None.

    Raises:
        ValueError: If it is another one.

    Example:
        >>> tf.keras.backend.set_floatx("float32")
    """
    if value not in _FLOAT_TYPES:
        raise ValueError("Unknown floatx type: " + str(value))
    _settings["floatx"] = str(value)


def epsilon():
    """The small number that keeps divisions and logarithms away from zero.

    Returns:
        A number.

    Example:
        >>> tf.keras.backend.epsilon()
        1e-07
    """
    return _settings["epsilon"]


def set_epsilon(value):
    """Set the small number that keeps divisions and logarithms away from zero.

    Args:
        value: The number.

    Returns:
        None.

    Example:
        >>> tf.keras.backend.set_epsilon(1e-7)
    """
    _settings["epsilon"] = value


def image_data_format():
    """Where the channels of images are by default: "channels_last" or "channels_first".

    Returns:
        A string.

    Example:
        >>> tf.keras.backend.image_data_format()
        'channels_last'
    """
    return _settings["image_data_format"]


def set_image_data_format(data_format):
    """Set where the channels of images are by default.

    Args:
        data_format: `channels_last` or `channels_first`.

    Returns:
        None.

    Raises:
        ValueError: If it is something else.

    Example:
        >>> tf.keras.backend.set_image_data_format("channels_last")
    """
    if data_format not in _IMAGE_FORMATS:
        raise ValueError("Unknown data_format: " + str(data_format))
    _settings["image_data_format"] = str(data_format)


def normalize_data_format(value):
    """A data format in lower case, the default one for None; ValueError for anything else."""
    if value is None:
        value = image_data_format()
    data_format = value.lower()
    if data_format not in _IMAGE_FORMATS:
        raise ValueError(f'`data_format` is "channels_first" or "channels_last", not {value!r}')
    return data_format


def cast_to_floatx(x):
    """A numpy array or tensor in the default float type.

    Args:
        x: An array or tensor.

    Returns:
        An array or tensor of the same shape.

    Example:
        >>> tf.keras.backend.cast_to_floatx(np.array([1.0, 2.0]))
        array([1., 2.], dtype=float32)
    """
    if isinstance(x, (Tensor, Variable)) or hasattr(x, "dense_shape"):
        return cast(x, floatx())
    return np.asarray(x, dtype=floatx())


_read_settings()
