"""tf.contrib.optimizer_v2: optimizers whose hyperparameters and slots are in a state, which their methods are given."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.optimizer_v2 import optimizer_v2
from everflow.contrib.optimizer_v2.optimizer_v2 import OptimizerV2
from everflow.contrib.optimizer_v2.rules import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    RMSPropOptimizer,
)
