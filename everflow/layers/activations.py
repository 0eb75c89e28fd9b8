"""Activation functions by name, as layers take them."""

from __future__ import annotations

from everflow.ops import math, nn


def linear(x):
    """x itself."""
    return x


_BY_NAME = {
    "relu": nn.relu,
    "relu6": nn.relu6,
    "elu": nn.elu,
    "selu": nn.selu,
    "softplus": nn.softplus,
    "softsign": nn.softsign,
    "softmax": nn.softmax,
    "sigmoid": math.sigmoid,
    "tanh": math.tanh,
    "exponential": math.exp,
    "linear": linear,
}


def get(identifier):
    """The function of a name, or the callable itself; None is `linear`."""
    if identifier is None:
        return linear
    if isinstance(identifier, str):
        if identifier not in _BY_NAME:
            raise ValueError(f"Unknown activation function:{identifier}")
        return _BY_NAME[identifier]
    if callable(identifier):
        return identifier
    raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")


def serialize(activation):
    """The name of an activation function."""
    return next((name for name, function in _BY_NAME.items() if function is activation), getattr(activation, "__name__", str(activation)))
