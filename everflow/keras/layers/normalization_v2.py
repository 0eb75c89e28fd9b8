"""Batch normalization as TensorFlow 2 has it: one that isn't trainable infers; `tf.compat.v2.keras.layers` gives it."""

from __future__ import annotations

from everflow.keras.layers import normalization
from everflow.ops import math


class BatchNormalization(normalization.BatchNormalization):
    """Batch normalization that uses its moving averages, and leaves them, where it isn't trainable.

    >>> y = tf.compat.v2.keras.layers.BatchNormalization()(x, training=True)
    """

    _USE_V2_BEHAVIOR = True

    def _wanted_form(self, fused):
        if self._fused_can_be_used():
            return fused
        if fused is True:
            raise ValueError(
                "fused=True goes with one axis, which is 1 or 3, and without renorm, virtual_batch_size and adjustment; "
                f"{self.name} has axis={self.axis}, renorm={self.renorm}, "
                f"virtual_batch_size={self.virtual_batch_size}, adjustment={self.adjustment}."
            )
        return False if fused is None else fused

    def _can_be_fused(self, rank):
        if self.fused and rank != 4:
            raise ValueError(f"fused=True needs inputs of four dimensions; {self.name} gets {rank}.")
        return super()._can_be_fused(rank)

    def _get_training_value(self, training=None):
        training = super()._get_training_value(training)
        return math.logical_and(bool(training) if isinstance(training, int) else training, self.trainable)
