"""tf.contrib.mixed_precision: losses scaled so that gradients of half precision don't vanish."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.mixed_precision.managers import (
    ExponentialUpdateLossScaleManager,
    FixedLossScaleManager,
    LossScaleManager,
)
from everflow.contrib.mixed_precision.optimizer import LossScaleOptimizer
