"""tf.keras.activations: what layers do to their outputs."""

from __future__ import annotations

from everflow.keras import backend as K
from everflow.keras.generic import deserialize_keras_object
from everflow.ops import math, nn

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


def elu(x, alpha=1.0):
    """x above zero, alpha * (exp(x) - 1) below."""
    return K.elu(x, alpha)


def selu(x):
    """An elu, scaled so that layers keep mean 0 and variance 1."""
    return _SELU_SCALE * K.elu(x, _SELU_ALPHA)


def softplus(x):
    """log(exp(x) + 1)."""
    return nn.softplus(x)


def softsign(x):
    """x / (1 + |x|)."""
    return nn.softsign(x)


def relu(x, alpha=0.0, max_value=None, threshold=0):
    """Zero, or alpha times the distance to it, below the threshold; the value itself above it; never more than `max_value`."""
    return K.relu(x, alpha=alpha, max_value=max_value, threshold=threshold)


def tanh(x):
    """The hyperbolic tangent."""
    return math.tanh(x)


def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return math.sigmoid(x)


def exponential(x):
    """exp(x)."""
    return math.exp(x)


def hard_sigmoid(x):
    """A sigmoid of three straight lines: 0.2 * x + 0.5 within [0, 1]."""
    return K.hard_sigmoid(x)


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
