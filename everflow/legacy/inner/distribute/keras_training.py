"""`keras.distribute.distributed_training_utils`: how data is spread over the replicas of a Keras model."""

from __future__ import annotations

from typing import Any

from everflow.framework.scopes import executing_eagerly
from everflow.keras import backend as K
from everflow.keras.engine.strategy_batches import cut


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
    return cut(num_samples, steps, batch_size, may_end_short)


def set_weights(distribution_strategy: Any, dist_model: Any, weights: list) -> None:
    """Give a model's variables values, on all replicas."""
    with distribution_strategy.scope():
        K.batch_set_value(list(zip(dist_model.weights, weights, strict=True)))
