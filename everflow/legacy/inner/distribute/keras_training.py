"""`keras.distribute.distributed_training_utils`: how data is spread over the replicas of a Keras model."""

from __future__ import annotations

from typing import Any

from everflow.framework.scopes import executing_eagerly
from everflow.keras import backend as K

_DEFAULT_BATCH = 32


def global_batch_size_supported(distribution_strategy: Any) -> bool:
    """Whether the size of batches is that of all replicas together: for every strategy that runs here."""
    return True


def is_tpu_strategy(strategy: Any) -> bool:
    """Whether a strategy is for TPUs."""
    return type(strategy).__name__.startswith("TPUStrategy")


def get_input_params(
    distribution_strategy: Any, num_samples: int, steps: int | None, batch_size: int | None, mode: str | None = None
) -> tuple[int, int]:
    """(steps, size of batches) for so many samples; ValueError where they can't be cut so."""
    may_end_short = mode == "train" or mode in ("test", "predict") and executing_eagerly()
    if steps is None:
        size = batch_size or _DEFAULT_BATCH
        if num_samples % size and not may_end_short:
            raise ValueError(f"The number of samples {num_samples} is not divisible by batch size {size}.")
        return -(-num_samples // size), size
    if batch_size is None:
        if num_samples % steps:
            raise ValueError(f"The number of samples {num_samples} is not divisible by steps {steps}.")
        return steps, num_samples // steps
    if num_samples < steps * batch_size:
        raise ValueError(f"{steps} steps of {batch_size} need more samples than there are: {num_samples}.")
    return steps, batch_size


def set_weights(distribution_strategy: Any, dist_model: Any, weights: list) -> None:
    """Give a model's variables values, on all replicas."""
    with distribution_strategy.scope():
        K.batch_set_value(list(zip(dist_model.weights, weights, strict=True)))
