"""tensorflow.python.keras.distribute.multi_worker_testing_utils: digits by chance, and a small model of them, for tests of workers."""

from __future__ import annotations

from typing import Any

from everflow.data import Dataset
from everflow.framework import dtypes
from everflow.keras import losses, optimizers
from everflow.keras.layers import BatchNormalization, Conv2D, Dense, Flatten
from everflow.keras.models import Sequential
from everflow.ops.array import ones
from everflow.ops.random.distributions import random_uniform

_SIZE = (28, 28, 1)
_CLASSES = 10
_EVALUATED = 10_000


def _images_and_labels(count: int) -> tuple[Any, Any]:
    """Images by chance, all of one class: what can be learned of them is which."""
    return random_uniform([count, *_SIZE]), ones([count, 1], dtypes.int32)


def mnist_synthetic_dataset(batch_size: int, steps_per_epoch: int) -> tuple[Dataset, Dataset]:
    """(data to train on, data to evaluate with), both without an end, in batches of 64."""
    counts = batch_size * steps_per_epoch, _EVALUATED
    rows = [Dataset.from_tensor_slices(_images_and_labels(count)) for count in counts]
    trained, evaluated = (dataset.repeat().batch(64, drop_remainder=True) for dataset in rows)
    return trained, evaluated


def get_mnist_model(input_shape: tuple) -> Sequential:
    """A compiled model of images."""
    model = Sequential(
        [
            Conv2D(32, kernel_size=(3, 3), activation="relu", input_shape=input_shape),
            BatchNormalization(),
            Flatten(),
            Dense(_CLASSES, activation="softmax"),
        ]
    )
    compiled = {"loss": losses.sparse_categorical_crossentropy, "metrics": ["accuracy"]}
    model.compile(optimizer=optimizers.SGD(learning_rate=0.001), **compiled)
    return model
