"""Optimizers by name, as the ready-made estimators take them."""

from __future__ import annotations

from everflow import train
from everflow.keras import optimizers as keras_optimizers
from everflow.train.optimizer import Optimizer

_KERAS_CLASSES = {
    "Adagrad": keras_optimizers.Adagrad,
    "Adam": keras_optimizers.Adam,
    "Ftrl": keras_optimizers.Ftrl,
    "RMSProp": keras_optimizers.RMSprop,
    "SGD": keras_optimizers.SGD,
}


def _classes():
    return {
        "Adagrad": train.AdagradOptimizer,
        "Adam": train.AdamOptimizer,
        "Ftrl": train.FtrlOptimizer,
        "RMSProp": train.RMSPropOptimizer,
        "SGD": train.GradientDescentOptimizer,
    }


def get_optimizer_instance(optimizer, learning_rate=None):
    """An optimizer from its name (with `learning_rate`), from a function that makes one, or as it is."""
    if isinstance(optimizer, str):
        known = _classes()
        if optimizer not in known:
            raise ValueError(f"Unsupported optimizer name: {optimizer}. Supported names are: {tuple(sorted(known))}")
        if learning_rate is None:
            raise ValueError("learning_rate must be specified when opt is string.")
        return known[optimizer](learning_rate=learning_rate)
    if callable(optimizer):
        optimizer = optimizer()
    if not isinstance(optimizer, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {optimizer}")
    return optimizer


def get_optimizer_instance_v2(optimizer, learning_rate=None):
    """A Keras optimizer from its name (with `learning_rate`, or Keras's own), from a function that makes one, or as it is."""
    if isinstance(optimizer, str):
        if optimizer not in _KERAS_CLASSES:
            raise ValueError(
                f"Unsupported optimizer name: {optimizer}. Supported names are: {tuple(sorted(_KERAS_CLASSES))}"
            )
        chosen = _KERAS_CLASSES[optimizer]
        return chosen() if learning_rate is None else chosen(learning_rate=learning_rate)
    if callable(optimizer):
        optimizer = optimizer()
    if not isinstance(optimizer, keras_optimizers.Optimizer):
        raise ValueError(f"The given object is not a tf.keras.optimizers.Optimizer instance. Given: {optimizer}")
    return optimizer
