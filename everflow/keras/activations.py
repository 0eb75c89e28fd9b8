"""tf.keras.activations: what layers do to their outputs."""

from __future__ import annotations

from everflow.keras import backend as K
from everflow.keras.backend.nn import elu, hard_sigmoid, relu, sigmoid, softplus, softsign, tanh  # noqa: F401  public
from everflow.keras.generic import deserialize_keras_object
from everflow.ops import math
from everflow.ops.nn import activations as nn

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def softmax(x, axis=-1):
    """Probabilities from scores, along an axis."""
    rank = K.ndim(x)
    if rank == 2:
        return nn.softmax(x)
    if rank > 2:
        exponentials = math.exp(x - math.reduce_max(x, axis=axis, keepdims=True))
        return exponentials / math.reduce_sum(exponentials, axis=axis, keepdims=True)
    raise ValueError(f"softmax needs a tensor of at least two dimensions; {x} has {rank}.")


def selu(x):
    """An elu, scaled so that layers keep mean 0 and variance 1."""
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


def exponential(x):
    """exp(x)."""
    return math.exp(x)


def linear(x):
    """x itself."""
    return x


def serialize(activation):
    """An activation's name."""
    return activation.__name__


def deserialize(name, custom_objects=None):
    """The activation of this name."""
    return deserialize_keras_object(
        name, module_objects=globals(), custom_objects=custom_objects, printable_module_name="activation function"
    )


def get(identifier):
    """An activation from its name, a written layer, a function or None, which stands for `linear`."""
    if identifier is None:
        return linear
    if isinstance(identifier, str):
        return deserialize(identifier)
    if isinstance(identifier, dict):
        return deserialize_keras_object(identifier, printable_module_name="activation")
    if callable(identifier):
        return identifier
    raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")
