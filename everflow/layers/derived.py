"""Layers made from Keras's: constructors, which have other defaults, and functions that make a layer and call it."""

from __future__ import annotations

from everflow.ops.variables import initializers
from everflow.platform.signatures import REQUIRED, constructor, parameters_of, taking

# Kernels start as the variable scope says, and channels come last whatever Keras's settings are.
_DEFAULTS = {
    "data_format": "channels_last",
    "kernel_initializer": None,
    "depthwise_initializer": None,
    "pointwise_initializer": None,
    "bias_initializer": initializers.zeros_initializer(),
}


def start(base, without=()):
    """The constructor of a layer, from that of Keras's."""
    parameters = parameters_of(base.__init__, ("**kwargs", *without), **_DEFAULTS)
    return constructor({**parameters, "trainable": True, "name": None, "**kwargs": REQUIRED}, base.__init__)


def functional(layer, name, doc):
    """A function of inputs and of a layer's arguments, whose variables are in the scope of the layer's name."""

    def apply(inputs, reuse, **arguments):
        return layer(**arguments, _scope=arguments["name"], _reuse=reuse).apply(inputs)

    function = taking({"inputs": REQUIRED, **parameters_of(layer.__init__, ("**kwargs",)), "reuse": None}, apply)
    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = doc, layer.__module__
    return function
