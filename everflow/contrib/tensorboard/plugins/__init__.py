"""tf.contrib.tensorboard.plugins."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.tensorboard.plugins import projector
