"""Layers whose arguments are their configuration: kept as attributes, and written down by `get_config`."""

from __future__ import annotations

import numpy as np

from everflow.keras import activations, constraints, initializers, regularizers
from everflow.keras.engine.arguments import shape_tuples
from everflow.keras.engine.base_layer import Layer
from everflow.platform.signatures import REQUIRED, constructor, parameters


def module_for(argument):
    """The module that reads and writes an argument of this name: its ending tells the kind."""
    for ending, module in (
        ("activation", activations),
        ("initializer", initializers),
        ("regularizer", regularizers),
        ("constraint", constraints),
    ):
        if argument == ending or argument.endswith("_" + ending):
            return module
    return None


def looked_up(argument, value):
    """An argument's value; an activation, initializer, regularizer or constraint may be given by name."""
    module = module_for(argument)
    return module.get(value) if module else value


def written(layer, arguments):
    """{argument: value} of a layer's attributes, as a configuration holds them."""
    config = {}
    for name in arguments:
        value = getattr(layer, name)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        module = module_for(name)
        config[name] = module.serialize(value) if module else value
    return config


def weight_of(layer, kind, shape, name=None, **more):
    """A new weight of a layer, with the initializer, regularizer and constraint that the arguments of this kind say."""
    settings = {what: getattr(layer, f"{kind}_{what}") for what in ("initializer", "regularizer", "constraint")}
    return layer.add_weight(name or kind, shape=shape, **{**settings, **more})


# What a constructor may list though a layer doesn't keep it: the arguments of every layer.
_OF_ALL_LAYERS = ("trainable", "name")


def takes(listed):
    """Decorator of a constructor: it takes these parameters, as text or {name: default}, and those of every layer.

    It is called with a dictionary of what it takes, and with the arguments of every layer by name.
    """
    taken = parameters(listed) if isinstance(listed, str) else dict(listed)

    def decorate(body):
        def start(self, **given):
            own = {name: given.pop(name) for name in taken if name not in _OF_ALL_LAYERS}
            body(self, own, **given)

        return constructor({**taken, "**kwargs": REQUIRED}, start)

    return decorate


def keeps(listed, **conversions):
    """Class decorator: the layer takes these parameters and keeps them, some of them converted by a function."""

    def decorate(cls):
        @takes(listed)
        def start(self, given, **kwargs):
            super(cls, self).__init__(**kwargs)
            self._keep_given(given, **{name: convert(given[name]) for name, convert in conversions.items()})

        cls.__init__ = start
        return cls

    return decorate


class ConfiguredLayer(Layer):
    """A layer that keeps its arguments with `_keep`."""

    def _keep_given(self, given, leaving_out=(), **changed):
        """Keep a constructor's arguments, but for those kept before; what was converted comes by name."""
        passed_over = {*leaving_out, *self.__dict__.get("_kept_arguments", ())}
        self._keep(**{name: changed.get(name, value) for name, value in given.items() if name not in passed_over})

    def _keep(self, **arguments):
        """Set arguments as attributes: activations, initializers, regularizers and constraints are looked up by name."""
        kept = list(self.__dict__.get("_kept_arguments", ()))
        for name, value in arguments.items():
            setattr(self, name, looked_up(name, value))
            if name not in kept:
                kept.append(name)
        self.__dict__["_kept_arguments"] = kept

    def get_config(self):
        return {**super().get_config(), **written(self, self._kept_arguments)}


class SameShape(ConfiguredLayer):
    """A layer whose outputs have the shape and the mask of its inputs."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape):
        return input_shape


class Elementwise(SameShape):
    """Such a layer that always gives a TensorShape."""

    @shape_tuples
    def compute_output_shape(self, input_shape):
        return input_shape
