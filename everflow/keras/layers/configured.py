"""Layers whose arguments are their configuration: what the constructor is given is kept as attributes, and written down by `get_config`."""

from __future__ import annotations

import numpy as np

from everflow.keras.engine.base_layer import Layer


def _module_for(argument):
    """The module that reads and writes an argument of this name: its ending tells the kind."""
    from everflow.keras import activations, constraints, initializers, regularizers

    for ending, module in (
        ("activation", activations),
        ("initializer", initializers),
        ("regularizer", regularizers),
        ("constraint", constraints),
    ):
        if argument == ending or argument.endswith("_" + ending):
            return module
    return None


class ConfiguredLayer(Layer):
    """A layer that keeps its arguments with `_keep`."""

    def _keep(self, **arguments):
        """Set arguments as attributes: activations, initializers, regularizers and constraints are looked up by name."""
        kept = list(self.__dict__.get("_kept_arguments", ()))
        for name, value in arguments.items():
            module = _module_for(name)
            setattr(self, name, module.get(value) if module else value)
            if name not in kept:
                kept.append(name)
        self.__dict__["_kept_arguments"] = kept

    def get_config(self):
        config = super().get_config()
        for name in self._kept_arguments:
            module = _module_for(name)
            value = getattr(self, name)
            if isinstance(value, np.ndarray) and value.ndim == 0:
                value = value.item()
            config[name] = module.serialize(value) if module else value
        return config
