"""tf.contrib.tensorboard.plugins."""

from everflow.contrib.tensorboard.plugins import projector
