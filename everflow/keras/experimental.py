"""tf.keras.experimental: what later versions of Keras have elsewhere."""

from __future__ import annotations

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.feature_column.features_layers import SequenceFeatures
from everflow.keras.layers.recurrent_cells import PeepholeLSTMCell
from everflow.keras.optimizers.schedules import CosineDecay, CosineDecayRestarts, LinearCosineDecay, NoisyLinearCosineDecay
from everflow.keras.premade import LinearModel, WideDeepModel
from everflow.keras.saving.export import export_saved_model, load_from_saved_model
from everflow.keras.utils.enqueuers import terminate_keras_multiprocessing_pools
