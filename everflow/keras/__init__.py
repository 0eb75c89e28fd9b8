"""tf.keras: models of layers, and what belongs to them. Loaded piece by piece, when touched."""

from __future__ import annotations

import importlib

_NAMESPACES = frozenset(
    """
    activations applications backend callbacks constraints datasets estimator experimental initializers layers losses metrics
    mixed_precision models optimizers preprocessing regularizers utils wrappers
    """.split()
)
_NAMES = {"Input": "everflow.keras.engine.input_layer", "Model": "everflow.keras.models", "Sequential": "everflow.keras.models"}

# The version of Keras that TensorFlow 1.15 comes with.
__version__ = "2.2.4-tf"


def __getattr__(name: str):
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    if name in _NAMESPACES:
        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != f"{__name__}.{name}":
                raise
            message = f"module 'tensorflow.keras' has no attribute {name!r} (Everflow doesn't have it yet)"
            raise AttributeError(message, name=name) from missing
    raise AttributeError(f"module 'tensorflow.keras' has no attribute {name!r}", name=name)


def __dir__():
    return sorted({*globals(), *_NAMESPACES, *_NAMES})
