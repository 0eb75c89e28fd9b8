"""tf.contrib.tensorboard: what programs hand to TensorBoard's plugins."""

from everflow.contrib.tensorboard import plugins
