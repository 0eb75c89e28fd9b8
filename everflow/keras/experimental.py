"""tf.keras.experimental: what later versions of Keras have elsewhere."""

from __future__ import annotations

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.framework.lazy_names import lazy_names as _lazy_names
from everflow.keras.layers.recurrent_cells import PeepholeLSTMCell
from everflow.keras.optimizers.schedules import (
    CosineDecay,
    CosineDecayRestarts,
    LinearCosineDecay,
    NoisyLinearCosineDecay,
)
from everflow.keras.premade import LinearModel, WideDeepModel
from everflow.keras.saving.export import export_saved_model, load_from_saved_model
from everflow.keras.utils.enqueuers import terminate_keras_multiprocessing_pools

# SequenceFeatures is one of them, too: see everflow/__init__.py.
__getattr__, __dir__ = _lazy_names(__name__, __file__)
