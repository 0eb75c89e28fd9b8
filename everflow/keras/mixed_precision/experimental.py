"""tf.keras.mixed_precision.experimental: in which types layers compute, and optimizers that scale the loss."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.keras.mixed_precision.loss_scale_optimizer import LossScaleOptimizer
from everflow.keras.mixed_precision.policy import Policy, global_policy, set_policy
