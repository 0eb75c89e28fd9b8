"""tf.keras: layers, models and training loops in few lines. Its namespaces are loaded when they are touched."""

from __future__ import annotations

import importlib as _importlib

_NAMESPACES = frozenset(
    """
    activations applications backend callbacks constraints datasets estimator experimental initializers layers losses metrics mixed_precision
    models optimizers preprocessing regularizers utils wrappers
    """.split()
)
# Names on tf.keras itself, and the modules they come from.
_NAMES = {
    "Input": "everflow.keras.engine.input_layer",
    "Model": "everflow.keras.engine.training",
    "Sequential": "everflow.keras.engine.sequential",
}


def __getattr__(name):
    if name in _NAMESPACES:
        try:
            return _importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != f"{__name__}.{name}":
                raise
    elif name in _NAMES:
        return getattr(_importlib.import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'tensorflow.keras' has no attribute {name!r}", name=name)


def __dir__():
    return sorted({*globals(), *_NAMESPACES, *_NAMES})
