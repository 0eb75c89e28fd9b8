"""tf.contrib.keras: where Keras was before it became tf.keras."""

from __future__ import annotations

import importlib as _importlib

_NAMESPACES = frozenset(
    """
    activations applications backend callbacks constraints datasets initializers layers losses metrics models optimizers preprocessing
    regularizers utils wrappers
    """.split()
)


def __getattr__(name):
    if name in _NAMESPACES:
        return _importlib.import_module(f"everflow.keras.{name}")
    raise AttributeError(f"module 'tensorflow.contrib.keras' has no attribute {name!r}", name=name)


def __dir__():
    return sorted({*globals(), *_NAMESPACES})
