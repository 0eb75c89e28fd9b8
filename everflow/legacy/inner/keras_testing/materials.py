"""What tests of Keras programs need besides models: labelled numbers, optimizers by name, types as in TensorFlow 2."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from everflow.keras import optimizers
from everflow.keras.engine import autocasting

_OPTIMIZERS = {name.lower(): name for name in ("Adadelta", "Adagrad", "Adam", "Adamax", "Nadam", "RMSprop", "SGD")}


def get_test_data(
    train_samples: int,
    test_samples: int,
    input_shape: Sequence[int],
    num_classes: int,
    random_seed: int | None = None,
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """((x, labels) to train with, (x, labels) to test with): each x lies around one point for its class."""
    if random_seed is not None:
        np.random.seed(random_seed)
    samples = train_samples + test_samples
    centres = 2 * num_classes * np.random.random((num_classes, *input_shape))
    labels = np.random.randint(0, num_classes, size=(samples,))
    x = np.stack([centres[label] + np.random.normal(size=input_shape) for label in labels]).astype(np.float32)
    return (x[:train_samples], labels[:train_samples]), (x[train_samples:], labels[train_samples:])


def get_v2_optimizer(name: str, **kwargs: Any) -> optimizers.Optimizer:
    """An optimizer of `tf.keras.optimizers` by its name in small letters."""
    if name not in _OPTIMIZERS:
        raise ValueError(f"There is no optimizer {name!r}; there are {', '.join(_OPTIMIZERS)}")
    return getattr(optimizers, _OPTIMIZERS[name])(**kwargs)


def get_expected_metric_variable_names(var_names: Sequence[str], name_suffix: str = "") -> list[str]:
    """The names that a metric's variables have in a graph, given those in the metric."""
    return [f"{name}{name_suffix}:0" for name in var_names]


def _with_v2_dtypes(enabled: bool, fn: Callable) -> Callable:
    @functools.wraps(fn)
    def switched(*args: Any, **kwargs: Any) -> Any:
        before = autocasting._enabled
        autocasting.switch(enabled)
        try:
            return fn(*args, **kwargs)
        finally:
            autocasting.switch(before)

    return switched


# Decorators: a function in which layers have types as in TensorFlow 2, or as in TensorFlow 1.
enable_v2_dtype_behavior = functools.partial(_with_v2_dtypes, True)
disable_v2_dtype_behavior = functools.partial(_with_v2_dtypes, False)
