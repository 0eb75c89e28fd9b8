"""tf.keras: models of layers, and what belongs to them. Loaded piece by piece, when touched."""

# ruff: noqa: F401  The names are the purpose of this file.

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from everflow.framework.lazy_names import lazy_names as _lazy_names

# tf.keras.estimator is on a floor above: see everflow/__init__.py.
if _TYPE_CHECKING:
    from everflow.keras import (
        activations,
        applications,
        backend,
        callbacks,
        constraints,
        datasets,
        experimental,
        initializers,
        layers,
        losses,
        metrics,
        mixed_precision,
        models,
        optimizers,
        preprocessing,
        regularizers,
        utils,
        wrappers,
    )
    from everflow.keras.engine.input_layer import Input
    from everflow.keras.models import Model, Sequential

# The version of Keras that TensorFlow 1.15 comes with.
__version__ = "2.2.4-tf"

__getattr__, __dir__ = _lazy_names(__name__, __file__)
