"""tf.contrib.tensorboard: what programs hand to TensorBoard's plugins."""

from __future__ import absolute_import, annotations, division, print_function  # noqa: F401, UP010  Names of this module as well.

from everflow.contrib.tensorboard import plugins
