"""tf.tpu.experimental: where replicas are, embeddings, and starting a TPU system."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from typing import TYPE_CHECKING

from everflow.framework.lazy_names import lazy_names

if TYPE_CHECKING:
    from everflow.tpu.device_assignment import DeviceAssignment
    from everflow.tpu.embedding_optimizers import (
        AdagradParameters,
        AdamParameters,
        StochasticGradientDescentParameters,
    )
    from everflow.tpu.feature_column import embedding_column, shared_embedding_columns
    from everflow.tpu.strategy import initialize_tpu_system

__getattr__, __dir__ = lazy_names(__name__, __file__)
