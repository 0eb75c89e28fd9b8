"""tf.contrib.tensorboard.plugins: the one that programs talk to is the projector of embeddings."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.tensorboard.plugins import projector
