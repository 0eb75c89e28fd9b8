"""tf.keras.activations: what layers do to their outputs."""

from __future__ import annotations

from everflow.keras import backend as K
from everflow.keras.backend.nn import elu, hard_sigmoid, relu, sigmoid, softplus, softsign, tanh  # noqa: F401  public
from everflow.keras.generic import deserialize_keras_object, serialize_keras_object
from everflow.ops import math
from everflow.ops.nn import activations as nn

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def softmax(x, axis=-1):
    """Probabilities from scores, along an axis.

    Args:
        x: A tensor, or what can be made one.
        axis: The axis to work along; negative ones count from the last.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: If the tensor has fewer than two axes.

    Example:
        >>> sess.run(tf.keras.activations.softmax(tf.constant([[1.0, 3.0]])))
        array([[0.11920291, 0.880797  ]], dtype=float32)
    """
    rank = K.ndim(x)
    if rank == 2:
        return nn.softmax(x)
    if rank > 2:
        exponentials = math.exp(x - math.reduce_max(x, axis=axis, keepdims=True))
        return exponentials / math.reduce_sum(exponentials, axis=axis, keepdims=True)
    raise ValueError(f"softmax needs a tensor of at least two dimensions; {x} has {rank}.")


def selu(x):
    """An elu, scaled so that layers keep mean 0 and variance 1.

    Args:
        x: A tensor, or what can be made one.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.keras.activations.selu(tf.constant([-1.0, 2.0])))
        array([-1.1113307,  2.101402 ], dtype=float32)
    """
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


def exponential(x):
    """exp(x).

    Args:
        x: A tensor, or what can be made one.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.keras.activations.exponential(tf.constant([-1.0, 2.0])))
        array([0.36787945, 7.389056  ], dtype=float32)
    """
    return math.exp(x)


def linear(x):
    """x itself.

    Args:
        x: A tensor, or what can be made one.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.keras.activations.linear(tf.constant([-1.0, 2.0])))
        array([-1.,  2.], dtype=float32)
    """
    return x


# Functions of TensorFlow 2, and what they are called in files.
_TF_ACTIVATIONS_V2 = {"softmax_v2": "softmax"}


def serialize(activation):
    """An activation's name, or the written form of a layer that is one.

    Args:
        activation: The function, or a layer.

    Returns:
        Its name, or a dictionary.

    Example:
        >>> tf.keras.activations.serialize(tf.keras.activations.relu)
        'relu'
    """
    written = serialize_keras_object(activation)
    return _TF_ACTIVATIONS_V2.get(written, written) if isinstance(written, str) else written


def deserialize(name, custom_objects=None):
    """The activation of this name.

    Args:
        name: The name.
        custom_objects: Classes and functions by the names that the configuration has for them.

    Returns:
        A function.

    Raises:
        ValueError: If the name isn't known.

    Example:
        >>> tf.keras.activations.deserialize("relu") is tf.keras.activations.relu
        True
    """
    return deserialize_keras_object(
        name, module_objects=globals(), custom_objects=custom_objects, printable_module_name="activation function"
    )


def get(identifier):
    """An activation from its name, a written layer, a function or None, which stands for `linear`.

    Args:
        identifier: A name, a dictionary, an object or function, or None.

    Returns:
        A function.

    Raises:
        TypeError: If it stands for none.

    Example:
        >>> tf.keras.activations.get("relu") is tf.keras.activations.relu
        True
    """
    if identifier is None:
        return linear
    if isinstance(identifier, str):
        return deserialize(identifier)
    if isinstance(identifier, dict):
        return deserialize_keras_object(identifier, printable_module_name="activation")
    if callable(identifier):
        return identifier
    raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")
